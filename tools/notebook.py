"""A page of docs/ as a notebook, with what its code printed: `python -m tools.notebook`.

The page is the source: its text and its Python blocks become cells, in order, and are run in
one namespace, so that the notebook shows answers to people who only read it.
"""

import contextlib
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "tutorials" / "ten-questions.md"
NOTEBOOK = ROOT / "examples" / "ten_questions.ipynb"
_FENCE = "```"


def cells(page: str) -> list[tuple[str, str]]:
    """The page's parts in order: ("markdown" or "code", text).

    >>> cells("# Title\\n\\n```python\\nx = 1\\n```\\nend\\n")
    [('markdown', '# Title'), ('code', 'x = 1'), ('markdown', 'end')]
    """
    parts: list[tuple[str, str]] = []
    kind, lines = "markdown", list[str]()

    def keep() -> None:
        text = "\n".join(lines).strip("\n")
        if text:
            parts.append((kind, text))
        lines.clear()

    for line in page.splitlines():
        if kind == "markdown" and line == f"{_FENCE}python":
            keep()
            kind = "code"
        elif kind == "code" and line == _FENCE:
            keep()
            kind = "markdown"
        else:
            lines.append(line)
    keep()
    return parts


def printed(code: list[str]) -> list[str]:
    """What each piece of code prints when all are run in order, in an empty folder."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    told: list[str] = []
    back = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for place, piece in enumerate(code, start=1):
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    exec(compile(piece, f"cell {place}", "exec"), namespace)
                told.append(out.getvalue())
        finally:
            os.chdir(back)
    return told


def notebook(parts: list[tuple[str, str]], told: list[str]) -> dict[str, Any]:
    """The notebook, in version 4.5 of its format."""
    outputs = iter(told)
    cells_of_page: list[dict[str, Any]] = []
    count = 0
    for place, (kind, text) in enumerate(parts):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{place}", "metadata": {}}
        cell["source"] = text.splitlines(keepends=True)
        if kind == "code":
            count += 1
            shown = next(outputs).splitlines(keepends=True)
            stream = {"name": "stdout", "output_type": "stream", "text": shown}
            cell |= {"execution_count": count, "outputs": [stream] if shown else []}
        cells_of_page.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": cells_of_page,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def main() -> None:
    """Writes the notebook again."""
    parts = cells(PAGE.read_text(encoding="utf-8"))
    made = notebook(parts, printed([text for kind, text in parts if kind == "code"]))
    NOTEBOOK.parent.mkdir(exist_ok=True)
    text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
    NOTEBOOK.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
