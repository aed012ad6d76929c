"""Text functions that Polars lacks, in Python; and DuckDB's own text functions, by name.

Each accepts any text or NULL, and never fails.
"""

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import ibis
from sqlglot import exp

from deniable.engines.dialect.duckdb_letters import case_pairs


@cache
def _translation(which: Any) -> dict[int, str]:
    before, after = case_pairs(which)
    return {ord(letter): other for letter, other in zip(before, after, strict=True)}


def lower(text: str) -> str:
    """A text in lower case, letter by letter.

    >>> lower("ÀΣß")
    'àσß'
    """
    return text.translate(_translation("lower"))


def upper(text: str) -> str:
    """A text in upper case, letter by letter.

    >>> upper("straße")
    'STRAẞE'
    """
    return text.translate(_translation("upper"))


@lru_cache(1000)
def like_to_regex(like: str) -> str:
    """The regular expression for a LIKE pattern.

    >>> like_to_regex("a_.%")
    '(?s)^a.\\\\..*$'
    """
    wildcards = {"%": ".*", "_": "."}
    return f"(?s)^{''.join(wildcards.get(letter) or re.escape(letter) for letter in like)}$"


def _matches_like(text: str, like: str) -> bool:
    """LIKE, in bounded time: if the rest does not match, the last `%` takes one more letter."""
    position = like_position = 0
    last_percent, taken = -1, 0
    while position < len(text):
        wanted = like[like_position] if like_position < len(like) else None
        if wanted == "%":
            last_percent, taken, like_position = like_position, position, like_position + 1
        elif wanted is not None and wanted in ("_", text[position]):
            position, like_position = position + 1, like_position + 1
        elif last_percent >= 0:
            taken += 1
            position, like_position = taken, last_percent + 1
        else:
            return False
    return set(like[like_position:]) <= {"%"}


def _trim(text: str, letters: str) -> str:
    return text.strip(letters) if letters else text


def _trim_leading(text: str, letters: str) -> str:
    return text.lstrip(letters) if letters else text


def _trim_trailing(text: str, letters: str) -> str:
    return text.rstrip(letters) if letters else text


_TEXT, _FLAG, _NUMBER = "string", "boolean", "int64"
_OF_TWO_TEXTS: dict[Any, tuple[Callable[[str, str], Any], str]] = {
    "trim": (_trim, _TEXT),
    "trim leading": (_trim_leading, _TEXT),
    "trim trailing": (_trim_trailing, _TEXT),
    "strpos": (lambda text, word: text.find(word) + 1, _NUMBER),
    "startswith": (str.startswith, _FLAG),
    "endswith": (str.endswith, _FLAG),
    "contains": (lambda text, word: word in text, _FLAG),
    "like": (_matches_like, _FLAG),
    "ilike": (lambda text, like: _matches_like(lower(text), lower(like)), _FLAG),
}


def _python_udf(function: Callable[..., Any], takes: int, to: str) -> Any:
    """The function with NULL for NULL; with named arguments, as Ibis requires."""

    def of_one(a: str | None) -> Any:
        return None if a is None else function(a)

    def of_two(a: str | None, b: str | None) -> Any:
        return None if a is None or b is None else function(a, b)

    signature = ((_TEXT,) * takes, to)
    return ibis.udf.scalar.python(of_one if takes == 1 else of_two, signature=signature)


def _builtin_udf(name: str, to: str) -> Any:
    def word(a, b):  # type: ignore[no-untyped-def]
        """Never called: the backend has a function of this name."""

    return ibis.udf.scalar.builtin(word, name=name, signature=((_TEXT, _TEXT), to))


PYTHON_FUNCTIONS: dict[Any, Any] = {
    exp.Lower: _python_udf(lower, 1, _TEXT),
    exp.Upper: _python_udf(upper, 1, _TEXT),
    **{name: _python_udf(function, 2, to) for name, (function, to) in _OF_TWO_TEXTS.items()},
}
# DuckDB's own functions, by their names.
DUCKDB_FUNCTIONS: dict[Any, Any] = {
    "trim": _builtin_udf("trim", _TEXT),
    "trim leading": _builtin_udf("ltrim", _TEXT),
    "trim trailing": _builtin_udf("rtrim", _TEXT),
    "like": lambda text, like: text.like(like),
    "ilike": lambda text, like: text.ilike(like),
}
