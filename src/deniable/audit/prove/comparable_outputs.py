"""Outputs in a form that can be compared and counted.

In Python 1, 1.0 and True are equal, and so are 0.0 and -0.0. A reader of an output still sees
which of them it is. A program that answers 1 to one input and True to another gives the input
away, so a proof must count them as two outputs. `TypedNumber` equals only numbers of its own
type. It has the hash of its value, so a table can be looked up with plain numbers. If a table
also holds the plain 1, look up `TypedNumber(True)` or `TypedNumber(1.0)`.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import total_ordering
from typing import Any

import numpy as np

Number = bool | float | complex | Fraction | Decimal


@total_ordering
class TypedNumber:
    """An output that is a number, but not a plain integer.

    >>> table = {TypedNumber(True): "yes", 1: "one", TypedNumber(1.0): "a float"}
    >>> len(table), table[True], table[1], table[TypedNumber(1.0)]
    (3, 'yes', 'one', 'a float')
    >>> TypedNumber(0.0) == -0.0, TypedNumber(float("nan")) == TypedNumber(float("nan"))
    (False, True)
    """

    __slots__ = ("value",)

    def __init__(self, value: Number) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        plain = _plain(other)
        return type(plain) is type(self.value) and repr(plain) == repr(self.value)

    def __hash__(self) -> int:
        return hash("nan") if self.value != self.value else hash(self.value)

    def __lt__(self, other: object) -> Any:
        plain = _plain(other)
        try:
            if self.value == plain:
                return type(self.value).__name__ < type(plain).__name__
            return self.value < plain  # type: ignore[operator]
        except TypeError:
            return NotImplemented

    def __repr__(self) -> str:
        return repr(self.value)

    def __str__(self) -> str:
        return str(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)


@dataclass(frozen=True, slots=True)
class Raised:
    """The output of a program that fails: the error and its message.

    >>> print(Raised("ValueError", "no such ward"))
    raises ValueError: no such ward
    """

    error: str
    message: str = ""

    def __str__(self) -> str:
        return f"raises {self.error}" + (f": {self.message}" if self.message else "")


def keep_type(value: Any) -> Any:
    """Wraps a number in `TypedNumber`. Plain integers and all other values stay as they are.

    >>> keep_type(3), keep_type(True) == 1, keep_type("a")
    (3, False, 'a')
    """
    return TypedNumber(value) if isinstance(value, Number) else value


def freeze(value: Any) -> Hashable:
    """An output or an input as a hashable value. 1, 1.0 and True stay three different values.

    >>> freeze([1, {"a": [2]}])
    (1, (('a', (2,)),))
    """
    match value:
        case np.ndarray():
            return freeze(value.tolist())
        case np.generic():
            return freeze(value.item())
        case list() | tuple():
            return tuple(freeze(element) for element in value)
        case set() | frozenset():
            return frozenset(freeze(element) for element in value)
        case Mapping():
            return tuple(sorted(((freeze(k), freeze(v)) for k, v in value.items()), key=repr))
        case Hashable():
            typed: Hashable = keep_type(value)
            return typed
    return repr(value)


def _plain(value: object) -> object:
    if isinstance(value, TypedNumber):
        return value.value
    return value.item() if isinstance(value, np.generic) else value
