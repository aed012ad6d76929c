"""What Polars lacks of functions of text, made by Python; and what DuckDB has under a name.

Each takes any text or NULL, and fails on none.
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
    return {ord(one): other for one, other in zip(before, after, strict=True)}


def lower(text: str) -> str:
    """A text in small letters, letter by letter.

    >>> lower("ÀΣß")
    'àσß'
    """
    return text.translate(_translation("lower"))


def upper(text: str) -> str:
    """A text in capitals, letter by letter.

    >>> upper("straße")
    'STRAẞE'
    """
    return text.translate(_translation("upper"))


@lru_cache(1000)
def like_to_regex(like: str) -> str:
    """A regular expression for a pattern of LIKE.

    >>> like_to_regex("a_.%")
    '(?s)^a.\\\\..*$'
    """
    words = {"%": ".*", "_": "."}
    return f"(?s)^{''.join(words.get(one) or re.escape(one) for one in like)}$"


def _matches_like(text: str, like: str) -> bool:
    """LIKE, in time that the lengths bound: a `%` takes another letter where the rest fails."""
    here = there = 0
    back, taken = -1, 0
    while here < len(text):
        one = like[there] if there < len(like) else None
        if one == "%":
            back, taken, there = there, here, there + 1
        elif one is not None and one in ("_", text[here]):
            here, there = here + 1, there + 1
        elif back >= 0:
            taken += 1
            here, there = taken, back + 1
        else:
            return False
    return set(like[there:]) <= {"%"}


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
    """The function where no text is NULL; with named arguments, as Ibis wants them."""

    def one(a: str | None) -> Any:
        return None if a is None else function(a)

    def two(a: str | None, b: str | None) -> Any:
        return None if a is None or b is None else function(a, b)

    signature = ((_TEXT,) * takes, to)
    return ibis.udf.scalar.python(one if takes == 1 else two, signature=signature)


def _builtin_udf(name: str, to: str) -> Any:
    def word(a, b):  # type: ignore[no-untyped-def]
        """Never run: the backend has a function of that name."""

    return ibis.udf.scalar.builtin(word, name=name, signature=((_TEXT, _TEXT), to))


PYTHON_FUNCTIONS: dict[Any, Any] = {
    exp.Lower: _python_udf(lower, 1, _TEXT),
    exp.Upper: _python_udf(upper, 1, _TEXT),
    **{name: _python_udf(function, 2, to) for name, (function, to) in _OF_TWO_TEXTS.items()},
}
# DuckDB's own, by the names that it has for them.
DUCKDB_FUNCTIONS: dict[Any, Any] = {
    "trim": _builtin_udf("trim", _TEXT),
    "trim leading": _builtin_udf("ltrim", _TEXT),
    "trim trailing": _builtin_udf("rtrim", _TEXT),
    "like": lambda text, like: text.like(like),
    "ilike": lambda text, like: text.ilike(like),
}
