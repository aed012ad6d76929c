"""A page of docs/ as a notebook, with what its code shows: `python -m tools.notebook`.

The page is the source: its text and its Python blocks become cells, in order, and are run in
one namespace, so that the notebook shows answers to people who only read it. Shell blocks are
cells too, unless the page has a file that is edited by hand between them.
"""

import ast
import base64
import contextlib
import doctest
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

from tools.notebook_shell import BACKGROUND, MAGIC, Shell

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "tutorials" / "ten-questions.md"
NOTEBOOK = ROOT / "examples" / "ten_questions.ipynb"
_FENCE = "```"
_SHOWN = re.compile(
    r"^(```python\n(?:(?!```).*\n)*```\n)\s*```text\n(?:(?!```).*\n)*```\n", re.M
)
_CSS = """
body { font: 15px/1.5 sans-serif; max-width: 900px; margin: 20px auto; padding: 0 12px; }
pre { overflow-x: auto; } img { max-width: 100%; }
.text { white-space: pre-wrap; margin: 18px 0 8px; }
.code { background: #f3f4f6; padding: 8px; }
table { border-collapse: collapse; margin: 8px 0; } td, th { padding: 3px 10px; }
th { text-align: left; border-bottom: 1px solid #999; }
"""

Output: TypeAlias = dict[str, Any]


def cells(page: str) -> list[tuple[str, str]]:
    """The page's parts in order: ("markdown" or "code", text). What the page shows of a cell's
    output is left out, because the notebook has the output.

    >>> cells("# Title\\n\\n```python\\nx = 1\\n```\\nend\\n")
    [('markdown', '# Title'), ('code', 'x = 1'), ('markdown', 'end')]
    >>> cells("```python\\n>>> x = 1\\n>>> x\\n1\\n>>> x + 1\\n2\\n```\\n")
    [('code', 'x = 1\\nx'), ('code', 'x + 1')]
    >>> cells("```python\\nprint(1)\\n```\\n\\n```text\\n1\\n```\\n")
    [('code', 'print(1)')]
    >>> cells("```sh\\nls\\n```\\n")
    [('code', '%%bash\\nls')]
    """
    page = _SHOWN.sub(r"\1", page)
    parts: list[tuple[str, str]] = []
    kind, lines = "markdown", list[str]()
    fences = {f"{_FENCE}python": "", f"{_FENCE}python server": ""}
    if f"{_FENCE}toml" not in page:
        fences |= {f"{_FENCE}sh": MAGIC, f"{_FENCE}sh background": BACKGROUND}

    def keep() -> None:
        text = "\n".join(lines).strip("\n")
        if kind == "code" and ">>>" in text:
            parts.extend(("code", cell) for cell in split_examples(text))
        elif text:
            parts.append((kind, text))
        lines.clear()

    for line in page.splitlines():
        if kind == "markdown" and line in fences:
            keep()
            kind = "code"
            lines += fences[line].splitlines()
        elif kind == "code" and line == _FENCE:
            keep()
            kind = "markdown"
        else:
            lines.append(line)
    keep()
    return parts


def split_examples(text: str) -> list[str]:
    """Examples of a doctest as cells, each of which ends with what it shows."""
    examples, waiting = list[str](), ""
    for example in doctest.DocTestParser().get_examples(text):
        waiting += example.source
        if example.want:
            examples.append(waiting.rstrip("\n"))
            waiting = ""
    return [*examples, waiting.rstrip("\n")] if waiting else examples


def run_cells(code: list[str]) -> list[list[Output]]:
    """What each piece of code prints and shows when all are run in order, in an empty folder.

    As in a notebook, the value of a last line that is an expression is shown: as HTML or as a
    picture, if it has one, and as text.

    >>> run_cells(["x = 1", "print(x)"])[1]
    [{'name': 'stdout', 'output_type': 'stream', 'text': ['1\\n']}]
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    shown: list[list[Output]] = []
    with tempfile.TemporaryDirectory() as folder, _at_home(folder), Shell.opened() as shell:
        for place, piece in enumerate(code, start=1):
            if piece.startswith((MAGIC, BACKGROUND)):
                shown.append(_stream(shell.run(piece)))
            else:
                shown.append(_run(shell.localize(piece), f"cell {place}", namespace))
    return shown


@contextlib.contextmanager
def _at_home(folder: str) -> Iterator[None]:
    """In a folder that is also the home, where keys of servers are remembered."""
    back, home = Path.cwd(), os.environ.get("HOME")
    os.chdir(folder)
    os.environ["HOME"] = folder
    try:
        yield
    finally:
        os.chdir(back)
        os.environ.pop("HOME")
        if home is not None:
            os.environ["HOME"] = home


def _stream(text: str) -> list[Output]:
    lines = text.splitlines(keepends=True)
    return [{"name": "stdout", "output_type": "stream", "text": lines}] if lines else []


def _run(piece: str, name: str, namespace: dict[str, Any]) -> list[Output]:
    tree, value = ast.parse(piece), None
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(tree, name, "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
    outputs = _stream(out.getvalue())
    return outputs if value is None else [*outputs, _show(value)]


def _show(value: Any) -> Output:
    """A value as a notebook shows it."""
    data: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
    page = value._repr_html_() if hasattr(value, "_repr_html_") else None
    if page is not None:
        data["text/html"] = page.splitlines(keepends=True)
    if hasattr(value, "_repr_png_"):
        data["image/png"] = base64.b64encode(value._repr_png_()).decode("ascii")
    return {"output_type": "display_data", "data": data, "metadata": {}}


def page_of(document: dict[str, Any]) -> str:
    """A notebook as one HTML page: what people see of it."""
    parts = []
    for cell in document["cells"]:
        source = escape("".join(cell["source"]))
        if cell["cell_type"] == "markdown":
            parts.append(f'<div class="text">{source}</div>')
            continue
        parts.append(f'<pre class="code">{source}</pre>')
        parts += map(_visible, cell["outputs"])
    return f'<!doctype html><meta charset="utf-8"><style>{_CSS}</style>{"".join(parts)}'


def _visible(output: Output) -> str:
    """The richest form of an output."""
    if output["output_type"] == "stream":
        return f"<pre>{escape(''.join(output['text']))}</pre>"
    data = output["data"]
    if "text/html" in data:
        return "".join(data["text/html"])
    if "image/png" in data:
        return f'<img src="data:image/png;base64,{data["image/png"]}">'
    return f"<pre>{escape(''.join(data['text/plain']))}</pre>"


def notebook(parts: list[tuple[str, str]], shown: list[list[Output]]) -> dict[str, Any]:
    """The notebook, in version 4.5 of its format."""
    outputs = iter(shown)
    cells_of_page: list[dict[str, Any]] = []
    count = 0
    for place, (kind, text) in enumerate(parts):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{place}", "metadata": {}}
        cell["source"] = text.splitlines(keepends=True)
        if kind == "code":
            count += 1
            cell |= {"execution_count": count, "outputs": next(outputs)}
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
    document = notebook(parts, run_cells([text for kind, text in parts if kind == "code"]))
    NOTEBOOK.parent.mkdir(exist_ok=True)
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    NOTEBOOK.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
