"""Lists of questions: files of SQL, notebooks and scripts, or a list in Python."""

import ast
import json
import re
from collections.abc import Iterable
from pathlib import Path

from deniable.errors import InvalidParameter

_TOKENS = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/|[^'"/;-]+|.""", re.DOTALL
)
_ASKING = ("sql", "explain", "plan")  # methods whose first argument is a question


def list_questions(questions: str | Path | Iterable[str]) -> tuple[str, ...]:
    """The questions of a file (.sql, .txt, .ipynb, .py), or those that are given, once each.

    >>> list_questions(["SELECT COUNT(*) FROM t", "SELECT COUNT(*) FROM t"])
    ('SELECT COUNT(*) FROM t',)
    """
    if isinstance(questions, str | Path):
        found = _read_file(Path(questions))
    else:
        found = list(questions)
    if not found or not all(isinstance(one, str) for one in found):
        raise InvalidParameter(
            "There is no question in it. Give a list of SQL texts, a file of them with a "
            "semicolon after each, or a notebook or script that calls `session.sql(...)`."
        )
    return tuple(dict.fromkeys(one.strip() for one in found))


def _read_file(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InvalidParameter(f"{str(path)!r} cannot be read as text.") from None
    if path.suffix == ".py":
        return find_in_code(text)
    if path.suffix == ".ipynb":
        try:
            cells = json.loads(text)["cells"]
            sources = ["".join(one["source"]) for one in cells if one["cell_type"] == "code"]
        except (ValueError, KeyError, TypeError):
            raise InvalidParameter(f"{str(path)!r} is not a notebook.") from None
        return [question for source in sources for question in find_in_code(source)]
    return split_statements(text)


def split_statements(text: str) -> list[str]:
    """SQL texts with a semicolon between them. Quotes and comments are minded.

    >>> split_statements("SELECT ';' FROM t; -- a; comment")
    ["SELECT ';' FROM t"]
    """
    parts, current = list[str](), ""
    for token in _TOKENS.findall(text):
        if token == ";":
            parts.append(current)
            current = ""
        elif not token.startswith(("--", "/*")):
            current += token
    return [part.strip() for part in [*parts, current] if part.strip()]


def find_in_code(source: str) -> list[str]:
    """The questions that Python code asks: literal first arguments of `.sql(...)`.

    >>> find_in_code('answer = visits.sql("SELECT COUNT(*) FROM visits", epsilon=1)')
    ['SELECT COUNT(*) FROM visits']
    """
    lines = [line for line in source.splitlines() if not line.lstrip().startswith(("%", "!"))]
    try:
        tree = ast.parse("\n".join(lines))
    except SyntaxError:
        return []
    names = {
        node.targets[0].id: node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }
    found = []
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if node.func.attr in _ASKING and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                found.append(first.value)
            elif isinstance(first, ast.Name) and first.id in names:
                found.append(names[first.id])
    return found
