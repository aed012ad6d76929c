"""Functions of released texts and dates, value by value: post-processing, so nothing is secret.

Whatever the values are, there is a result: NULL (None) where DuckDB has NULL or an error.
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ONE_LETTER = {"ß": "ẞ", "İ": "i"}  # where Python has two
_MOMENT = re.compile(
    r"(\d{1,4})([-/])(\d{1,2})\2(\d{1,2})"
    r"(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?Z?)?",
    re.ASCII,
)
_FARTHEST = 2.0**31  # place in a text
_MOST_DIGITS = 2.0**53  # below, a whole double is written without a power of ten


def is_missing(value: Any) -> bool:
    """Whether a value is NULL: None, or NaN among numbers.

    >>> is_missing(float("nan")), is_missing("")
    (True, False)
    """
    return value is None or value != value


def apply(
    function: Callable[..., Any], arguments: Sequence[Any], *, nulls: bool = False
) -> Any:
    """The function of each row of values. NULL in, NULL out, unless it handles `nulls`."""
    shape = np.broadcast_shapes(*map(np.shape, arguments))
    columns = [np.broadcast_to(argument, shape).ravel() for argument in arguments]
    results: NDArray[Any] = np.empty(columns[0].size, dtype=object)
    for place, values in enumerate(zip(*columns, strict=True)):
        missing = not nulls and any(map(is_missing, values))
        results[place] = None if missing else function(*values)
    return results.reshape(shape)


def compare(test: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A comparison: 1 or 0, and NaN (NULL) where one side is NULL. A date that is too far away
    to be read as one is text, and cannot be compared with dates."""

    def run(a: Any, b: Any) -> Any:
        if object not in (np.asarray(a).dtype, np.asarray(b).dtype):
            result = np.asarray(test(a, b), dtype=np.float64)
            return np.where(np.isnan(a) | np.isnan(b), np.nan, result)

        def compare_pair(x: Any, y: Any) -> Any:
            return float(test(x, y)) if isinstance(x, str) == isinstance(y, str) else None

        return apply(compare_pair, (a, b)).astype(np.float64)

    return run


def _change_case(change: Callable[[str], str]) -> Callable[[str], str]:
    """Letter by letter, so that no text becomes longer."""

    def of_letter(letter: str) -> str:
        other = change(letter)
        return other if len(other) == 1 else _ONE_LETTER.get(letter, letter)

    return lambda text: "".join(map(of_letter, text))


_lower = _change_case(str.lower)


def _number_text(value: float) -> str:
    if float(value).is_integer() and abs(value) < _MOST_DIGITS:
        return f"{value:.1f}"
    return repr(float(value))


def _integer_text(value: float) -> str:
    return str(int(value)) if np.isfinite(value) else repr(float(value))


def _place(number: float) -> int:
    """A place or a length as an integer, also if it is infinite. No text is that long."""
    return int(max(-_FARTHEST, min(number, _FARTHEST)))


def _left(text: str, number: float) -> str:
    count = _place(number)
    return text[: count if count >= 0 else max(len(text) + count, 0)]


def _right(text: str, number: float) -> str:
    count = _place(number)
    return text[max(len(text) - count, 0) if count >= 0 else -count :]


def _cut(text: str, start: float, length: float | None = None) -> str:
    """SUBSTRING of DuckDB: a start below 0 counts from the end, a length below 0 goes back."""
    first = _place(start)
    first += len(text) if first < 0 else -1
    if length is None:
        return text[max(first, 0) :]
    low, high = sorted((first, first + _place(length)))
    return text[max(low, 0) : max(high, 0)]


def _matches(flags: int) -> Callable[[str, str], float]:
    def like(text: str, pattern: str) -> float:
        """LIKE, by two pointers: a regular expression could take very long."""
        if flags:
            text, pattern = _lower(text), _lower(pattern)
        parts = [re.split("(_)", part) for part in pattern.split("%")]
        return float(_find_parts(text, parts))

    return like


def _find_parts(text: str, parts: list[list[str]]) -> bool:
    """Whether the text consists of these parts, with anything between them."""
    literal = ["".join(part) for part in parts]
    if len(literal) == 1:
        return len(text) == len(literal[0]) and _fits(text, literal[0], 0)
    first, *middle, last = literal
    end = len(text) - len(last)
    if not _fits(text, first, 0) or end < len(first) or not _fits(text, last, end):
        return False
    at = len(first)
    for part in middle:
        while at + len(part) <= end and not _fits(text, part, at):
            at += 1
        if at + len(part) > end:
            return False
        at += len(part)
    return True


def _fits(text: str, part: str, at: int) -> bool:
    here = text[at : at + len(part)]
    return len(here) == len(part) and all(
        sign in ("_", letter) for sign, letter in zip(part, here, strict=True)
    )


def read_moment(text: Any) -> datetime | None:
    """A text as a moment, as DuckDB reads it; None if it is not one of the years 1 to 9999.

    >>> read_moment("2026-1-31"), read_moment("31.1.2026")
    (datetime.datetime(2026, 1, 31, 0, 0), None)
    """
    if isinstance(text, datetime):
        return text
    match = _MOMENT.fullmatch(str(text))
    if match is None:
        return None
    year, _, month, day, hour, minute, second, part = match.groups(default="0")
    clock = int(hour), int(minute), int(second), int(part.ljust(6, "0")[:6])
    try:
        return datetime(int(year), int(month), int(day), *clock)
    except ValueError:
        return None


def _concat(*parts: Any) -> str:
    return "".join(str(part) for part in parts if not is_missing(part))


_ONE_BY_ONE: dict[str, Callable[..., Any]] = {
    "lower": _lower,
    "upper": _change_case(str.upper),
    "left": _left,
    "right": _right,
    "substring": _cut,
    "joined": lambda a, b: a + b,
    "integer text": _integer_text,
    "number text": _number_text,
    "cast date": read_moment,
}
_TO_NUMBERS: dict[str, Callable[..., Any]] = {
    "length": len,
    "like": _matches(0),
    "ilike": _matches(1),
    "starts with": lambda text, start: text.startswith(start),
    "ends with": lambda text, end: text.endswith(end),
    "contains": lambda text, part: part in text,
}


def _as_texts(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments: apply(function, arguments)


def _as_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments: apply(function, arguments).astype(np.float64)


TEXT_OPERATIONS: dict[str, Callable[..., Any]] = {
    **{name: _as_texts(function) for name, function in _ONE_BY_ONE.items()},
    **{name: _as_numbers(function) for name, function in _TO_NUMBERS.items()},
    "cast text": lambda a: a,
    "concat": lambda *all_: apply(_concat, all_, nulls=True),
}
