"""Questions from files, notebooks and scripts."""

import json

import pytest

import deniable as dp
from deniable.audit.attack.rows.question_lists import list_questions

CODE = """%matplotlib inline
text = "SELECT 2"
a = visits.sql("SELECT 1", epsilon=1)
print(visits.explain(text, epsilon=1))
visits.sql(f"SELECT {x}", epsilon=1)
open("file")
"""


def test_files_of_sql(tmp_path):
    file = tmp_path / "log.sql"
    file.write_text(
        "-- one; two\nSELECT ';' AS a; /* x; */ SELECT 1 WITHIN 5;\n;SELECT 1 WITHIN 5"
    )
    assert list_questions(file) == ("SELECT ';' AS a", "SELECT 1 WITHIN 5")


def test_scripts_and_notebooks(tmp_path):
    (tmp_path / "a.py").write_text(CODE.replace("%matplotlib inline", ""))
    cells = [
        {"cell_type": "markdown", "source": ["x.sql('no')"]},
        {"cell_type": "code", "source": CODE.splitlines(keepends=True)},
        {"cell_type": "code", "source": "this is not Python"},
    ]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}))
    for name in ("a.py", "a.ipynb"):
        assert set(list_questions(tmp_path / name)) == {"SELECT 1", "SELECT 2"}


@pytest.mark.parametrize("text", ["", "   ;; -- nothing"])
def test_an_empty_list_is_refused(tmp_path, text):
    (tmp_path / "log.sql").write_text(text)
    with pytest.raises(dp.InvalidParameter, match="no question"):
        list_questions(tmp_path / "log.sql")


def test_what_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(dp.InvalidParameter, match="cannot be read"):
        list_questions(tmp_path / "missing.sql")
    (tmp_path / "a.ipynb").write_text("[]")
    with pytest.raises(dp.InvalidParameter, match="not a notebook"):
        list_questions(tmp_path / "a.ipynb")
