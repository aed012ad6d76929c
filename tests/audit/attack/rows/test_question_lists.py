"""Questions from files, notebooks and scripts."""

import json
import sqlite3
from contextlib import closing

import pyarrow as pa
import pytest

import deniable as dp
from deniable.audit.attack.rows.question_lists import list_questions, read_questions

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


def test_cells_of_sql_in_a_notebook(tmp_path):
    cells = [{"cell_type": "code", "source": ["%%sql visits\n", "SELECT 1;\n", "SELECT 2"]}]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}))
    assert list_questions(tmp_path / "a.ipynb") == ("SELECT 1", "SELECT 2")


def test_logs(tmp_path):
    (tmp_path / "a.csv").write_text('who,sql\nEve,"SELECT a,\nb"\nBob,SELECT 2\n')
    assert list_questions(tmp_path / "a.csv") == ("SELECT a,\nb", "SELECT 2")
    (tmp_path / "a.jsonl").write_text('{"sql": "SELECT 1"}\n\n{"asked": [{"sql": "SELECT 2"}]}')
    assert list_questions(tmp_path / "a.jsonl") == ("SELECT 1", "SELECT 2")


def test_the_database_of_a_server(tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as database, database:
        database.execute("CREATE TABLE jobs (request TEXT, start REAL)")
        jobs = [('{"sql": "SELECT 2"}', 2.0), ('{"questions": [{"sql": "SELECT 1"}]}', 1.0)]
        database.executemany("INSERT INTO jobs VALUES (?, ?)", jobs)
    assert list_questions(tmp_path / "a.sqlite") == ("SELECT 1", "SELECT 2")


def test_folders_and_several_files(tmp_path):
    (tmp_path / "b.sql").write_text("SELECT 2")
    (tmp_path / "a.txt").write_text("SELECT 1")
    (tmp_path / "c.md").write_text("nothing")
    assert list_questions(tmp_path) == ("SELECT 1", "SELECT 2")
    assert list_questions([tmp_path / "b.sql", "SELECT 3"]) == ("SELECT 2", "SELECT 3")


def test_a_release_holds_no_question_and_is_left_out_of_a_folder(tmp_path):
    rows = dp.protect(pa.table({"a": [1, 2]}), epsilon=1)
    rows.sql("SELECT COUNT(*) AS n FROM data", epsilon=1).save(tmp_path / "a.json")
    with pytest.raises(dp.InvalidParameter, match="not the question's text"):
        list_questions(tmp_path / "a.json")
    with pytest.raises(dp.InvalidParameter, match=r"a\.json was left out: it is a release"):
        list_questions(tmp_path)
    (tmp_path / "b.sql").write_text("SELECT 1")
    (tmp_path / "c.json").write_text('[{"sql": "SELECT 2"}]')
    questions = read_questions(tmp_path)
    assert questions.texts == ("SELECT 1", "SELECT 2")
    assert [name for name, _ in questions.left_out] == ["a.json"]


def test_what_else_is_in_a_folder_is_named_with_the_reason(tmp_path):
    (tmp_path / "a.sql").write_text("SELECT 1")
    (tmp_path / "b.csv").write_text("age,zip\n30,1")
    (tmp_path / "c.sqlite").write_text("no database")
    (tmp_path / "d.parquet").write_bytes(b"\xff")
    (tmp_path / "e.txt").write_bytes(b"\xff\xff")
    questions = read_questions([tmp_path])
    assert questions.texts == ("SELECT 1",)
    assert dict(questions.left_out) == {
        "b.csv": "it is not a log: a CSV file with a column `sql`",
        "c.sqlite": "it is not the database of a server",
        "d.parquet": "files of this kind hold no questions",
        "e.txt": "it cannot be read as text",
    }


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json", "a.sqlite"])
def test_other_files_are_refused(tmp_path, name):
    (tmp_path / name).write_text("who,what\nEve,x")
    with pytest.raises(dp.InvalidParameter, match="is not a list of questions: it is not"):
        list_questions(tmp_path / name)
