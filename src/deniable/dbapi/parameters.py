"""Values for the question marks of a statement, written into its text.

A question is parsed into a tree of our own before anything is done with it, and no text of it
reaches an engine. So writing a value as a literal is as safe as the literal in the question.
"""

import datetime
from collections.abc import Sequence
from decimal import Decimal

import sqlglot
from sqlglot.errors import SqlglotError

from deniable.errors import InvalidQuery


def fill_placeholders(text: str, values: Sequence[object]) -> str:
    """The statement with a literal in place of each question mark.

    >>> fill_placeholders("SELECT COUNT(*) FROM t WHERE a = ? AND b = '?'", ["it's"])
    "SELECT COUNT(*) FROM t WHERE a = 'it''s' AND b = '?'"
    """
    if not values:
        return text
    try:
        tokens = sqlglot.tokenize(text, dialect="duckdb")
    except SqlglotError:
        raise InvalidQuery("The statement cannot be read.") from None
    marks = [token for token in tokens if token.text == "?" and text[token.start] == "?"]
    if len(marks) != len(values):
        raise InvalidQuery(
            f"The statement has {len(marks)} question marks for {len(values)} values."
        )
    for token, value in reversed([*zip(marks, values, strict=True)]):
        before, after = text[: token.start], text[token.end + 1 :]
        text = f"{before}{_space(before[-1:])}{literal(value)}{_space(after[:1])}{after}"
    return text


def _space(beside: str) -> str:
    """What keeps a value apart from the character beside it: `1 -?` with -3 would begin a
    comment, and `E?` with a text another kind of text."""
    return "" if not beside or beside in " \t\r\n(),;" else " "


def literal(value: object) -> str:
    """A value as SQL.

    >>> [literal(value) for value in (None, True, -3, "a'b", datetime.date(2026, 1, 2))]
    ['NULL', 'TRUE', '-3', "'a''b'", "DATE '2026-01-02'"]
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float | Decimal):
        return format(Decimal(repr(value)) if isinstance(value, float) else value, "f")
    if isinstance(value, str):
        doubled = value.replace("'", "''")
        return f"'{doubled}'"
    if isinstance(value, datetime.datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, datetime.date):
        return f"DATE '{value.isoformat()}'"
    raise InvalidQuery(f"A value of type {type(value).__name__} cannot be part of a question.")
