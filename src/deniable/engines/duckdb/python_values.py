"""Python objects as numbers and texts. What cannot be read is missing; nothing fails.

An object's own methods (`__str__`, `__float__`) may raise, so every call of them is guarded.
What one object becomes depends on no other object. Equal numbers have equal texts: pandas turns
1 into 1.0 if another row is missing, and both are written as "1".
"""

import datetime
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import wraps
from typing import Any, TypeVar

import numpy as np

Read = TypeVar("Read")

LARGEST_DOUBLE_INTEGER = 2.0**63 - 1024  # the greatest double among the integers of 64 bits

_NEVER_NUMBERS = (
    *(bytes, bytearray, datetime.date, datetime.time, datetime.timedelta),
    *(np.datetime64, np.timedelta64),
)


def _or_missing(read: Callable[[Any], Read | None]) -> Callable[[object], Read | None]:
    """The function, with None for objects whose own methods raise."""

    @wraps(read)
    def guarded(value: object) -> Read | None:
        try:
            return read(value)
        except KeyboardInterrupt:
            raise
        except BaseException:
            return None

    return guarded


@_or_missing
def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or NA; an object that fails to say is not missing.

    >>> is_missing(None), is_missing(float("nan")), is_missing(0)
    (True, True, False)
    """
    kind = type(value)
    if value is None or kind.__name__ in ("NAType", "NaTType"):
        return True
    if issubclass(kind, float | np.floating):
        return math.isnan(value)
    if issubclass(kind, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return issubclass(kind, Decimal) and bool(value.is_nan())


@_or_missing
def to_double(value: Any) -> float | None:
    """A number as a double; beyond all doubles it is infinite. Texts are parsed elsewhere.

    >>> to_double(Decimal("0.5")), to_double(-(10**400)), to_double(True), to_double("1")
    (0.5, -inf, 1.0, None)
    """
    kind = type(value)
    if is_missing(value) or issubclass(kind, (str, *_NEVER_NUMBERS)):
        return None
    if issubclass(kind, complex | np.complexfloating):
        return to_double(float(value.real)) if value.imag == 0 else None
    try:
        number = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return None if math.isnan(number) else number


@_or_missing
def to_integer(value: Any) -> int | None:
    """A number as the nearest integer of 64 bits.

    >>> to_integer(2.5), to_integer(10**400), to_integer("1")
    (2, 9223372036854775807, None)
    """
    if issubclass(type(value), int):
        return min(max(int(value), -(2**63)), 2**63 - 1)
    number = to_double(value)
    if number is None:
        return None
    return round(min(max(number, -(2.0**63)), LARGEST_DOUBLE_INTEGER))


@_or_missing
def to_text(value: Any) -> str | None:
    """A value as text that UTF-8 can encode.

    >>> to_text("Ä"), to_text(1), to_text(1.0), to_text(Decimal("1.50")), to_text("\\ud800")
    ('Ä', '1', '1', '1.5', '?')
    """
    kind = type(value)
    if issubclass(kind, str):
        return _encodable(value)
    if is_missing(value) or issubclass(kind, datetime.timedelta | np.timedelta64):
        return None
    if issubclass(kind, bool | np.bool_):
        return str(bool(value))
    if issubclass(kind, datetime.date | np.datetime64):
        return _write_moment(value)
    if issubclass(kind, bytes):
        return bytes.decode(value, "utf-8", "replace")
    if issubclass(kind, int | float | complex | np.number | Decimal | Fraction):
        return _write_number(value)
    return _encodable(str(value))


def _encodable(text: str) -> str:
    return str.encode(text, "utf-8", "replace").decode("utf-8")


def _write_number(value: Any) -> str | None:
    if issubclass(type(value), complex | np.complexfloating):
        if value.imag != 0:
            return None
        value = value.real
    if issubclass(type(value), float | np.floating | Decimal) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == int(value):
        return int.__repr__(int(value))
    if issubclass(type(value), Decimal):
        return format(value.normalize(), "f")
    return str(value) if issubclass(type(value), Fraction) else float.__repr__(float(value))


def _write_moment(value: Any) -> str | None:
    """A day or a moment as DuckDB writes them, in UTC."""
    if issubclass(type(value), np.datetime64):
        value = value.astype("M8[us]").item()
        if not isinstance(value, datetime.datetime):  # too far away for Python
            return None
    if not issubclass(type(value), datetime.datetime):
        return datetime.date.isoformat(value)
    if value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    whole = f"{datetime.date.isoformat(value)} {value:%H:%M:%S}"
    return f"{whole}.{value.microsecond:06}".rstrip("0") if value.microsecond else whole
