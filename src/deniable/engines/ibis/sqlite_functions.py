"""DuckDB's functions of rows for SQLite, in Python: each is total, and NULL if one argument is.

SQLite has no NaN, no date and no integer of 128 bits. So NaN is the text 'NaN', which SQLite
sorts after every number and which equals itself; a day or a moment is its number of
microseconds since 1970; a wide integer is 16 bytes whose order is that of the numbers.
"""

import math
import operator
import re
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from typing import Any

from deniable.engines.dialect import text_patterns
from deniable.engines.dialect.duckdb_letters import case_pairs
from deniable.engines.handover.long_texts import LONGEST_TEXT
from deniable.engines.ibis import sqlite_moments

NAN = "NaN"
_OFFSET = 1 << 127
_NUMBER, _INFINITE, _NOT_A_NUMBER, _NOISE = (
    re.compile(getattr(text_patterns, name))
    for name in ("NUMBER", "INFINITE", "NOT_A_NUMBER", "NOISE")
)
_STRIP = {"BOTH": str.strip, "LEADING": str.lstrip, "TRAILING": str.rstrip}
Function = Callable[..., Any]


def from_wide(value: int | bytes) -> int:
    """The integer of 16 bytes, or an integer as it is."""
    return value if isinstance(value, int) else int.from_bytes(value, "big") - _OFFSET


def to_wide(number: int) -> bytes:
    """An integer of 128 bits as bytes that are sorted as the numbers are.

    >>> from_wide(to_wide(-5)), to_wide(-5) < to_wide(3)
    (-5, True)
    """
    return (number + _OFFSET).to_bytes(16, "big")


def _read_text(stored: bytes) -> str | None:
    """Text that a row holds; NULL if it is not UTF-8, or too long."""
    try:
        return stored.decode() if len(stored) <= LONGEST_TEXT else None
    except UnicodeDecodeError:
        return None


def _read_moment(stored: bytes) -> int | None:
    text = _read_text(stored)
    return None if text is None else sqlite_moments.text_to_moment(text)


def _text_to_double(text: str) -> float | str | None:
    if _NUMBER.fullmatch(text) or _INFINITE.fullmatch(text):
        return float(_NOISE.sub("", text))
    return NAN if _NOT_A_NUMBER.fullmatch(text) else None


def _text_to_boolean(text: str) -> bool | None:
    word = text.lower()
    return word in text_patterns.TRUE or (False if word in text_patterns.FALSE else None)


def _double_to_integer(number: float, bits: int) -> int | None:
    """Rounded half to even; NULL if it does not fit."""
    return _narrow(round(number), bits) if math.isfinite(number) else None


def _narrow(number: int | bytes, bits: int) -> int | None:
    value, end = from_wide(number), 1 << (bits - 1)
    return value if -end <= value < end else None


def _wide_to_double(number: bytes) -> float:
    """In DuckDB's two steps, each of which rounds."""
    upper, lower = divmod(from_wide(number), 1 << 64)
    if upper == -1:
        return -float((1 << 64) - 1 - lower) - 1.0
    return float(lower) + float(upper) * 2.0**64


def _of_wide(function: Callable[[int, int], int]) -> Function:
    return lambda left, right: to_wide(function(from_wide(left), from_wide(right)))


def _wide_divide(left: int | bytes, right: int | bytes) -> bytes | None:
    """Rounded towards zero."""
    over, by = from_wide(left), from_wide(right)
    if by == 0:
        return None
    size = abs(over) // abs(by)
    return to_wide(size if (over < 0) == (by < 0) else -size)


def _wide_of_parts(*parts: int) -> bytes:
    """The sum of integers from the sums of their parts of 16 bits."""
    return to_wide(sum(part << 16 * place for place, part in enumerate(reversed(parts))))


class WideSum:
    """The sum of wide integers; NULL of none."""

    def __init__(self) -> None:
        self._sum: int | None = None

    def step(self, value: bytes | None) -> None:
        if value is not None:
            self._sum = (self._sum or 0) + from_wide(value)

    def finalize(self) -> bytes | None:
        return None if self._sum is None else to_wide(self._sum)


def _divide(left: float, right: float) -> float | None:
    return left / right if right else None


def _remainder(left: float, right: float) -> float | None:
    """As C's fmod."""
    if right == 0:
        return None
    return math.nan if math.isinf(left) else math.fmod(left, right)


def _power(base: float, exponent: float) -> float | None:
    whole = not math.isfinite(exponent) or exponent % 1 == 0
    if base < 0 and not whole:
        return None
    odd = math.isfinite(exponent) and exponent % 2 == 1
    infinite = math.copysign(math.inf, base) if odd else math.inf
    try:
        return infinite if base == 0 and exponent < 0 else math.pow(base, exponent)
    except OverflowError:
        return infinite


def _exp(number: float) -> float:
    try:
        return math.exp(number)
    except OverflowError:
        return math.inf


def _if_finite(function: Callable[[float], float], infinite: float | None = None) -> Function:
    """A function of finite doubles; another double becomes `infinite`, or stays as it is."""
    return lambda number: (
        float(function(number)) if math.isfinite(number) else infinite or number
    )


def _if_positive(function: Callable[[float], float]) -> Function:
    return lambda number: None if number <= 0 else function(number)


def _round_away(number: float) -> float:
    """The nearest integer, half away from zero."""
    whole = float(math.trunc(number))
    return whole + math.copysign(1.0, number) if abs(number - whole) >= 0.5 else whole


def _round_digits(number: float, power_of_ten: float, places: int) -> float:
    """Scales, rounds, scales back; unchanged if that leaves the range."""
    scaled = number * power_of_ten if places >= 0 else number / power_of_ten
    if not math.isfinite(scaled):
        return number
    rounded = _round_away(scaled)
    result = rounded / power_of_ten if places >= 0 else rounded * power_of_ten
    return result if math.isfinite(result) else number


def _place(value: Any) -> tuple[bool, Any]:
    """Where a value is sorted: text by its bytes, and NaN after the numbers."""
    return (True, value.encode()) if isinstance(value, str) else (False, value)


def _least(*values: Any) -> Any:
    """The least value that is not NULL; all are of one kind."""
    return min((value for value in values if value is not None), key=_place, default=None)


def _greatest(*values: Any) -> Any:
    return max((value for value in values if value is not None), key=_place, default=None)


@cache
def _letters(which: Any) -> dict[int, str]:
    return {ord(before): after for before, after in zip(*case_pairs(which), strict=True)}


def _lower(text: str) -> str:
    return text.translate(_letters("lower"))


def _substring(text: str, first: int, *size: int) -> str:
    """A negative `first` counts from the end; a negative `size` takes letters to the left."""

    def before(offset: int) -> int:
        if first >= 0:
            return max(first - 1 + offset, 0)
        return max(len(text) - max(-first - offset, 0), 0)

    if not size:
        return text[before(0) :]
    start, end = sorted((0, size[0]))
    return text[before(start) : before(end)]


def _like(text: str, pattern: str) -> bool:
    """LIKE without an escape character. Each part between two % is found as early as it can
    be, so the time is at most the product of both lengths."""
    first, *parts = pattern.split("%")
    if not parts:
        return len(text) == len(first) and _fits(text, first, 0)
    *middle, last = parts
    start, end = len(first), len(text) - len(last)
    if start > end or not _fits(text, first, 0) or not _fits(text, last, end):
        return False
    for part in middle:
        start = _find(text, part, start, end)
        if start < 0:
            return False
        start += len(part)
    return True


def _fits(text: str, part: str, start: int) -> bool:
    if "_" not in part:
        return text.startswith(part, start)
    pairs = zip(part, text[start : start + len(part)], strict=True)
    return all(own in ("_", other) for own, other in pairs)


def _find(text: str, part: str, start: int, end: int) -> int:
    """Where a part fits first; -1 if nowhere."""
    if "_" not in part:
        return text.find(part, start, end)
    places = range(start, end - len(part) + 1)
    return next((place for place in places if _fits(text, part, place)), -1)


def _keyed_hash(salt: int, *values: Any) -> int:
    """63 bits that depend on the salt and the values; both zeros are one value."""
    plain = repr([value + 0.0 if isinstance(value, float) else value for value in values])
    code = blake2b(plain.encode(), key=salt.to_bytes(8, "big"), digest_size=8)
    return int.from_bytes(code.digest(), "big") >> 1


def _skip_null(function: Function) -> Function:
    return lambda *values: None if None in values else function(*values)


def _with_nan(function: Function) -> Function:
    """A function of doubles, which may be NaN."""

    def call(*values: Any) -> Any:
        result = function(*(math.nan if value == NAN else value for value in values))
        return NAN if result != result else result

    return _skip_null(call)


_OF_DOUBLES: dict[str, Function] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": _divide,
    "remainder": _remainder,
    "power": _power,
    "negative": operator.neg,
    "absolute": abs,
    "sqrt": lambda number: None if number < 0 else math.sqrt(number),
    "exp": _exp,
    "ln": _if_positive(math.log),
    "log10": _if_positive(math.log10),
    "log2": _if_positive(lambda number: math.log10(number) / math.log10(2.0)),  # as DuckDB
    "sin": _if_finite(math.sin, math.nan),
    "cos": _if_finite(math.cos, math.nan),
    "sign": lambda number: (number > 0) - (number < 0),
    "trunc": _if_finite(math.trunc),
    "floor": _if_finite(math.floor),
    "ceil": _if_finite(math.ceil),
    "round": _if_finite(_round_away),
    "round_digits": _round_digits,
    "integer": _double_to_integer,
}
_OF_OTHERS: dict[str, Function] = {
    "read_text": _read_text,
    "read_moment": _read_moment,
    "moment": sqlite_moments.text_to_moment,
    "double": _text_to_double,
    "boolean": _text_to_boolean,
    "narrow": _narrow,
    "wide": to_wide,
    "wide_double": _wide_to_double,
    "wide_text": lambda number: str(from_wide(number)),
    "wide_parts": _wide_of_parts,
    "wide_add": _of_wide(operator.add),
    "wide_subtract": _of_wide(operator.sub),
    "wide_multiply": _of_wide(operator.mul),
    "wide_divide": _wide_divide,
    "day": lambda moment: moment - moment % sqlite_moments.DAY,
    "day_text": lambda moment: sqlite_moments.to_datetime(moment).date().isoformat(),
    "part": lambda name, moment: sqlite_moments.PARTS[name](sqlite_moments.to_datetime(moment)),
    "difference": sqlite_moments.difference,
    "truncate": sqlite_moments.truncate,
    "move": sqlite_moments.move,
    "length": len,
    "lower": _lower,
    "upper": lambda text: text.translate(_letters("upper")),
    "trim": lambda text, letters, side: _STRIP[side](text, letters),
    "position": lambda text, part: text.find(part) + 1,
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "left": lambda text, size: text[: size if size >= 0 else max(len(text) + size, 0)],
    "right": lambda text, size: text[max(len(text) - size, 0) if size >= 0 else -size :],
    "substring": _substring,
    "like": _like,
    "ilike": lambda text, pattern: _like(_lower(text), _lower(pattern)),
}
FUNCTIONS: dict[str, Function] = {
    **{f"deniable_{name}": _with_nan(function) for name, function in _OF_DOUBLES.items()},
    **{f"deniable_{name}": _skip_null(function) for name, function in _OF_OTHERS.items()},
    "deniable_least": _least,
    "deniable_greatest": _greatest,
    "deniable_hash": _keyed_hash,
}
