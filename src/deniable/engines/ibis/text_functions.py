"""Functions of text through Ibis: positions count letters, spaces are those of Unicode.

Through Ibis, Polars counts bytes and accepts only constants, and its upper case differs ("ß"
becomes "SS"). There Python computes the function, in this process, with DuckDB's own letters.
"""

import re
from collections.abc import Callable
from typing import Any

import ibis
from sqlglot import exp

from deniable.engines.dialect.constants import constant_of
from deniable.engines.dialect.duckdb_letters import spaces
from deniable.engines.ibis.casts import unsupported
from deniable.engines.ibis.python_text_functions import (
    DUCKDB_FUNCTIONS,
    PYTHON_FUNCTIONS,
    like_to_regex,
    lower,
)
from deniable.engines.ibis.wide_integers import Value

ReadPlain = Callable[[exp.Expr], Value]
_MAX_REPEAT = 1000  # the largest count in a regular expression
# Backends whose upper and lower case were compared with DuckDB's, letter by letter.
_SAME_LETTERS = ("duckdb", "polars")


def _change_case(node: exp.Expr, translate: ReadPlain, backend: str) -> Value:
    if backend not in _SAME_LETTERS:
        raise unsupported(node)
    text = translate(node.this)
    if backend == "polars":
        return PYTHON_FUNCTIONS[type(node)](text)
    return text.lower() if isinstance(node, exp.Lower) else text.upper()


def _reverse(node: exp.Expr, translate: ReadPlain, backend: str) -> Value:
    if backend not in _SAME_LETTERS:
        raise unsupported(node)
    return translate(node.this).reverse()


def _trim(node: exp.Expr, translate: ReadPlain, backend: str) -> Value:
    text, position = translate(node.this), node.text("position")
    letters = "".join(map(_escape, spaces()))
    if node.args.get("expression") is not None:
        constant = _constant_text(node.args["expression"])
        if constant is None:
            return _of_two_texts(node, translate, backend, f"trim {position}".strip().lower())
        letters = "".join(map(_escape, constant))
    if letters and position != "TRAILING":
        text = text.re_replace(f"^[{letters}]+", "")
    if letters and position != "LEADING":
        text = text.re_replace(f"[{letters}]+$", "")
    return text


def _escape(letter: str) -> str:
    return f"\\{letter}" if letter in "\\]^-[&~" else letter


def _of_two_texts(node: exp.Expr, translate: ReadPlain, backend: str, name: str) -> Value:
    """A function of two texts that are not constant."""
    if backend not in _SAME_LETTERS:
        raise unsupported(node)
    functions = PYTHON_FUNCTIONS if backend == "polars" else DUCKDB_FUNCTIONS
    other = node.args["substr"] if isinstance(node, exp.StrPosition) else node.expression
    return functions[name](translate(node.this), translate(other))


def _length(node: exp.Expr, translate: ReadPlain, backend: str) -> Value:
    return _count_letters(translate(node.this), backend)


def _count_letters(text: Value, backend: str) -> Value:
    """The number of letters in a text; for Polars each letter becomes one byte first."""
    if backend == "polars":
        text = text.re_replace("(?s).", "a")
    return text.length().cast("int64")


def _substring(node: exp.Expr, translate: ReadPlain, backend: str) -> Value:
    """LEFT, RIGHT and SUBSTRING with constant positions, which may count from the end."""
    text = translate(node.this)
    if isinstance(node, exp.Left | exp.Right):
        (place,) = _constant_places(node, node.expression)
        if isinstance(node, exp.Left):
            return _first(text, place) if place >= 0 else _without_last(text, -place, node)
        return _last(text, place) if place >= 0 else text.substr(-place)
    start, length = node.args["start"], node.args.get("length")
    begin, *sizes = _constant_places(node, start, *([] if length is None else [length]))
    if not sizes:
        return text.substr(max(0, begin - 1)) if begin >= 0 else _last(text, -begin)
    size = sizes[0]
    if begin < 0 and size < 0:  # backwards from there
        return _last(_without_last(text, -begin, node), -size)
    if begin < 0:
        return _without_last(_last(text, -begin), max(0, -begin - size), node)
    first, last = (begin, begin + size - 1) if size >= 0 else (begin + size, begin - 1)
    return _first(text, max(0, last)).substr(max(0, first - 1))


def _first(text: Value, letters: int) -> Value:
    return text.substr(0, letters)


def _last(text: Value, letters: int) -> Value:
    return text.right(letters) if letters else text.substr(0, 0)


def _without_last(text: Value, letters: int, node: exp.Expr) -> Value:
    if letters > _MAX_REPEAT:
        raise unsupported(node)
    if letters == 0:
        return text
    return text.re_replace(f"(?s).{{1,{letters}}}$", "")


def _position(node: exp.Expr, translate: ReadPlain, backend: str) -> Value:
    """STRPOS: the position of the first match, from 1, or 0."""
    text, word = translate(node.this), _constant_text(node.args["substr"])
    if backend != "polars":
        return text.find(translate(node.args["substr"])) + 1
    if word is None:
        return _of_two_texts(node, translate, backend, "strpos")
    before = text.re_extract(f"(?s)^(.*?){re.escape(word)}", 1)
    return ibis.cases(
        (text.contains(word), _count_letters(before, backend) + 1), (text.notnull(), 0)
    )


def _contains(node: exp.Expr, translate: ReadPlain, backend: str) -> Value:
    text, word = translate(node.this), _constant_text(node.expression)
    if word is None and backend == "polars":
        return _of_two_texts(node, translate, backend, type(node).__name__.lower())
    other = translate(node.expression) if word is None else word
    if isinstance(node, exp.StartsWith):
        return text.startswith(other)
    return text.endswith(other) if isinstance(node, exp.EndsWith) else text.contains(other)


def _like(node: exp.Expr, translate: ReadPlain, backend: str) -> Value:
    constant = _constant_text(node.expression)
    if constant is None:
        return _of_two_texts(node, translate, backend, type(node).__name__.lower())
    if isinstance(node, exp.ILike):
        text = _change_case(exp.Lower(this=node.this), translate, backend)
        return text.re_search(like_to_regex(lower(constant)))
    return translate(node.this).re_search(like_to_regex(constant))


def _constant_places(node: exp.Expr, *places: exp.Expr) -> list[int]:
    constants = [constant_of(place) for place in places]
    if not all(place is not None and place == int(place) for place in constants):
        raise unsupported(node)
    return [int(place) for place in constants if place is not None]


def _constant_text(node: exp.Expr) -> str | None:
    return node.name if isinstance(node, exp.Literal) and node.is_string else None


TEXT_FUNCTIONS: dict[type[exp.Expr], Callable[[Any, ReadPlain, str], Value]] = {
    exp.Lower: _change_case,
    exp.Upper: _change_case,
    exp.Reverse: _reverse,
    exp.Trim: _trim,
    exp.Length: _length,
    exp.Left: _substring,
    exp.Right: _substring,
    exp.Substring: _substring,
    exp.StrPosition: _position,
    exp.StartsWith: _contains,
    exp.EndsWith: _contains,
    exp.Contains: _contains,
    exp.Like: _like,
    exp.ILike: _like,
}
