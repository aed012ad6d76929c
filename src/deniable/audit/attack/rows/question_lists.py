"""Lists of questions: SQL, notebooks, scripts, logs with a column `sql`, the database of a
server, folders of all these, or a list in Python."""

import ast
import csv
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deniable.errors import InvalidParameter

_TOKENS = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/|[^'"/;-]+|.""", re.DOTALL
)
_ASKING = ("sql", "explain", "plan")  # methods whose first argument is a question


@dataclass(frozen=True, slots=True)
class QuestionList:
    """Questions, once each; and the files of folders that hold none, with the reason."""

    texts: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...] = ()


def list_questions(questions: str | Path | Iterable[str | Path]) -> tuple[str, ...]:
    """The questions of a file or folder, or those that are given, once each.

    A file holds SQL with semicolons (.sql, .txt), a notebook (.ipynb), a script (.py), a log
    with a column or field `sql` (.csv, .jsonl, .json), or the database of a server (.sqlite).
    In a list, a text is a question, and a `Path` is a file or folder.

    >>> list_questions(["SELECT COUNT(*) FROM t", "SELECT COUNT(*) FROM t"])
    ('SELECT COUNT(*) FROM t',)
    """
    return read_questions(questions).texts


def read_questions(questions: str | Path | Iterable[str | Path]) -> QuestionList:
    """The same, with the files of folders that were left out, and why: a folder may also hold
    releases, data and databases. A file that is named itself must hold questions.

    >>> read_questions(["SELECT COUNT(*) FROM t"]).left_out
    ()
    """
    sources = [Path(questions)] if isinstance(questions, str | Path) else list(questions)
    entries: list[Any] = []
    left_out: list[tuple[str, str]] = []
    for entry in sources:
        if not isinstance(entry, Path):
            entries.append(entry)
        elif entry.is_dir():
            for file in sorted(file for file in entry.iterdir() if file.is_file()):
                try:
                    entries += _read(file, _find_suffix(file))
                except _NoQuestions as problem:
                    left_out.append((file.name, str(problem)))
        else:
            entries += _read_named(entry)
    if not entries or not all(isinstance(entry, str) for entry in entries):
        raise InvalidParameter(
            "There is no question in it. Give a list of SQL texts, a file of them with a "
            "semicolon after each, a log with a column `sql`, or a notebook or script that "
            "calls `session.sql(...)`."
            + "".join(f" {name} was left out: {why}." for name, why in left_out[:3])
        )
    texts = tuple(dict.fromkeys(entry.strip() for entry in entries))
    return QuestionList(texts, tuple(left_out))


class _NoQuestions(Exception):
    """A file that is not a list of questions; the message says why."""


def _find_suffix(path: Path) -> str:
    """The kind of a file in a folder, by its name."""
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise _NoQuestions("files of this kind hold no questions")
    return suffix


def _read_named(path: Path) -> list[str]:
    """The questions of a file that somebody named: it must hold some."""
    try:
        return _read(path, path.suffix.lower())
    except _NoQuestions as problem:
        raise InvalidParameter(
            f"{str(path)!r} is not a list of questions: {problem}. Give SQL with semicolons, "
            "the analysts' notebooks or scripts, a log with a field `sql`, or the database of "
            "the server."
        ) from None


def _read(path: Path, suffix: str) -> list[str]:
    """The questions of a file."""
    if suffix in (".sqlite", ".db"):
        return _read_server(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise _NoQuestions("it cannot be read as text") from None
    try:
        return _READERS.get(suffix, split_statements)(text)
    except (ValueError, KeyError, TypeError, RecursionError, csv.Error):
        what = _KINDS.get(suffix, "a list of questions")
        raise _NoQuestions(f"it is not {what}") from None


def _read_notebook(text: str) -> list[str]:
    cells = json.loads(text)["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return [question for source in sources for question in _read_cell(source)]


def _read_cell(source: str) -> list[str]:
    """A cell of SQL (its first line begins with %%sql), or of Python."""
    first, _, rest = source.lstrip().partition("\n")
    return split_statements(rest) if first.startswith("%%sql") else find_in_code(source)


def _read_csv(text: str) -> list[str]:
    lines = csv.DictReader(text.splitlines(keepends=True))
    name = next(heading for heading in [*(lines.fieldnames or []), None] if _is_sql(heading))
    if name is None:
        raise ValueError
    return [line[name] for line in lines if line[name]]


def _is_sql(name: str | None) -> bool:
    return name is None or name.strip().lower() == "sql"


def _read_lines(text: str) -> list[str]:
    return [sql for line in text.splitlines() if line.strip() for sql in _walk_json(line)]


def _walk_json(text: str) -> list[str]:
    """Every text that is called `sql` in a JSON document."""
    texts, waiting = list[str](), [json.loads(text)]
    if isinstance(waiting[0], dict) and {"certificate", "plan"} & set(waiting[0]):
        raise _NoQuestions(
            "it is a release or a certificate, which hold the engine's statement, not the "
            "question's text"
        )
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            texts += [part["sql"]] if isinstance(part.get("sql"), str) else []
        inner = part.values() if isinstance(part, dict) else part
        waiting += reversed(list(inner)) if isinstance(part, dict | list) else []
    return texts


def _read_server(path: Path) -> list[str]:
    """The questions that a server was asked, as its own database keeps them."""
    import sqlite3
    from contextlib import closing

    try:
        address = f"{path.resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as database:
            rows = database.execute("SELECT request FROM jobs ORDER BY start").fetchall()
        return [sql for (request,) in rows for sql in _walk_json(request)]
    except (sqlite3.Error, ValueError, TypeError):
        raise _NoQuestions("it is not the database of a server") from None


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
    questions = []
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if node.func.attr in _ASKING and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                questions.append(first.value)
            elif isinstance(first, ast.Name) and first.id in names:
                questions.append(names[first.id])
    return questions


_READERS = {
    ".py": find_in_code,
    ".ipynb": _read_notebook,
    ".csv": _read_csv,
    ".jsonl": _read_lines,
    ".json": _walk_json,
}
_KINDS = {
    ".ipynb": "a notebook",
    ".csv": "a log: a CSV file with a column `sql`",
    ".jsonl": "a log: a file with one JSON object in each line, with a field `sql`",
    ".json": "a JSON file",
}
_SUFFIXES = (*_READERS, ".sql", ".txt", ".sqlite", ".db")
