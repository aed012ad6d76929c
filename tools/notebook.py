"""A page of docs/ as a notebook, with what its code printed: `python -m tools.notebook`.

The page is the source: its text and its Python blocks become cells, in order, and are run in
one namespace, so that the notebook shows answers to people who only read it.
"""

import ast
import contextlib
import doctest
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
    >>> cells("```python\\n>>> x = 1\\n>>> x\\n1\\n>>> x + 1\\n2\\n```\\n")
    [('code', 'x = 1\\nx'), ('code', 'x + 1')]
    """
    parts: list[tuple[str, str]] = []
    kind, lines = "markdown", list[str]()

    def keep() -> None:
        text = "\n".join(lines).strip("\n")
        if kind == "code" and ">>>" in text:
            parts.extend(("code", cell) for cell in split_examples(text))
        elif text:
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


def split_examples(text: str) -> list[str]:
    """Examples of a doctest as cells, each of which ends with what it shows."""
    made, waiting = list[str](), ""
    for example in doctest.DocTestParser().get_examples(text):
        waiting += example.source
        if example.want:
            made.append(waiting.rstrip("\n"))
            waiting = ""
    return [*made, waiting.rstrip("\n")] if waiting else made


def show(piece: str, name: str, namespace: dict[str, Any]) -> None:
    """Runs a cell; prints the value of its last line, as a notebook shows it."""
    tree = ast.parse(piece, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), namespace)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
        if value is not None:
            print(repr(value))


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
                    show(piece, f"cell {place}", namespace)
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
