"""The lesson about a first server: its notebook is run as it is written."""

from pathlib import Path

from tools.notebook import cells, run_cells

PAGE = Path(__file__).parents[4] / "docs" / "tutorials" / "first-server.md"


def test_every_cell_of_the_lesson_works():
    code = [text for kind, text in cells(PAGE.read_text(encoding="utf-8")) if kind == "code"]
    # A longer slot, so that an engine on a busy machine is never late for it.
    shown = run_cells([cell.replace("--port 8000", "--port 8000 --slot 15") for cell in code])
    told = [
        "".join(line for output in cell for line in output.get("text", [])) for cell in shown
    ]
    assert len(told) == 6
    assert told[2].startswith("clinic: http://127.0.0.1:8000/")
    assert "north" in told[3]
    assert "Left: epsilon 0.25" in told[4]  # of Ann's
    assert "ann" in told[5]
