import json
from pathlib import Path

import pytest

from tools.notebook import NOTEBOOK, PAGE, ROOT, cells, notebook, page_of, run_cells
from tools.page_screens import SHOWN


def kept():
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))


def test_the_notebook_is_the_page():
    """The page's snippets are run by tests/test_docs.py, so these cells are too."""
    contents = [(cell["cell_type"], "".join(cell["source"])) for cell in kept()["cells"]]
    assert contents == cells(PAGE.read_text(encoding="utf-8")), "run python -m tools.notebook"


def test_every_cell_that_prints_shows_what_it_printed():
    for cell in kept()["cells"]:
        if cell["cell_type"] == "code" and "print(" in "".join(cell["source"]):
            assert "".join(cell["outputs"][0]["text"]).strip()


def test_everything_that_is_shown_in_a_notebook_shows_itself():
    """No `<Figure size ...>`, no `Branch(...)`: no object by the name of its class."""
    shown = run_cells([code for _, code in SHOWN])
    page = page_of(notebook([("code", code) for _, code in SHOWN], shown))
    for code, outputs in zip(SHOWN, shown, strict=True):
        last = outputs[-1]["data"] if outputs else {}
        assert not outputs or {"text/html", "image/png"} & last.keys(), code
    for name in ("Figure", "Branch", "Plan", "Release", "Estimate", "SurveyReport", "Profile"):
        assert f"{name}(" not in page
        assert f"&lt;{name}" not in page
    assert page.count("<img") >= 8


def test_the_notebook_shows_no_object_by_its_class():
    page = page_of(kept())
    assert "&lt;Figure" not in page
    assert "Branch(" not in page
    assert "data:image/png" in page


def test_an_object_without_a_picture_is_shown_by_its_text():
    """Power: a figure of pyplot would be seen."""
    (outputs,) = run_cells(["from matplotlib.figure import Figure\nFigure()"])
    assert "&lt;Figure" in page_of(notebook([("code", "x")], [outputs]))


def test_the_format():
    book = kept()
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in book["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(cell["cell_type"] in ("markdown", "code") for cell in book["cells"])


def test_cells_are_run_in_order_in_one_namespace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, second = "x = 2\nopen('left', 'w').close()", "print(x + 1)"
    page = f"text\n```python\n{first}\n```\nmore\n```python\n{second}\n```\n"
    parts = cells(page)
    book = notebook(parts, run_cells([text for kind, text in parts if kind == "code"]))
    assert [cell.get("outputs") for cell in book["cells"]][1::2] == [
        [],
        [{"name": "stdout", "output_type": "stream", "text": ["3\n"]}],
    ]
    assert list(tmp_path.iterdir()) == []
    assert Path.cwd() == tmp_path


def test_a_cell_that_fails_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        run_cells(["1 / 0"])


def test_no_path_of_a_machine_is_in_it():
    assert str(ROOT) not in NOTEBOOK.read_text(encoding="utf-8")
