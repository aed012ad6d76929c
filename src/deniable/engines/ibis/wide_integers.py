"""Wide integers where an engine has 64 bits only: sums of whole multiples of narrow ones.

A `Wide` is w1 * e1 + w2 * e2 + ... with Python's integers w and 64-bit columns e >= 0. Adding
and multiplying by a constant only touch the weights; a sum over rows is taken of the upper
and the lower 16 bits apart, so that it cannot overflow. What an engine returns is the e, and
Python adds them up, exactly.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import ibis

Value: TypeAlias = Any  # an expression of Ibis

_HALF = 1 << 16
BASE = 1 << 20  # of digits: products with a number below 2^32 stay below 2^53
_NEAR = 2.0**59  # of a part: some of them still fit in 64 bits


@dataclass(frozen=True, slots=True)
class WideInteger:
    """A sum of whole multiples of 64-bit integers, none of them negative."""

    parts: tuple[tuple[int, Value], ...]

    def __add__(self, other: "WideInteger") -> "WideInteger":
        return WideInteger((*self.parts, *other.parts))

    def times(self, factor: int) -> "WideInteger":
        """A multiple."""
        return WideInteger(tuple((weight * factor, one) for weight, one in self.parts))

    def each(self, change: Callable[[Value], Value]) -> "WideInteger":
        """The same sum of changed parts."""
        return WideInteger(tuple((weight, change(one)) for weight, one in self.parts))

    def total(self) -> "WideInteger":
        """The sum over rows; 16 bits at a time."""
        added = []
        for weight, one in self.parts:
            low = one % _HALF
            added += [
                (weight * _HALF, quotient(one, _HALF).sum()),
                (weight, low.sum()),
            ]
        return WideInteger(tuple(added))

    def narrow(self) -> Value:
        """As one integer of 64 bits, where it fits."""
        weight, first = self.parts[0]
        made = first * weight
        for weight, one in self.parts[1:]:
            made = made + one * weight
        return made

    def real(self) -> Value:
        """As a double: the nearest one, unless it is beyond 2^59."""
        sizes = [one.cast("float64") * float(abs(weight)) for weight, one in self.parts]
        near, far = sizes[0] < _NEAR, sizes[0] * _sign(self.parts[0][0])
        for (weight, _), size in zip(self.parts[1:], sizes[1:], strict=True):
            near, far = near & (size < _NEAR), far + size * _sign(weight)
        small = self.each(lambda one: ibis.cases((near, one), else_=0)).narrow()
        return ibis.cases((near, small.cast("float64")), else_=far)


def split_by_sign(value: Value) -> WideInteger:
    """An integer; what is below zero is counted apart, because no part may be negative."""
    above = ibis.cases((value > 0, value), (value <= 0, 0))
    below = ibis.cases((value < 0, -value), (value >= 0, 0))
    return WideInteger(((1, above), (-1, below)))


def square(value: Value) -> WideInteger:
    """The square of an integer of at most 40 bits, as that of a number with two digits."""
    size = value.abs()
    low = size % BASE
    high = quotient(size, BASE)
    return WideInteger(((BASE * BASE, high * high), (2 * BASE, high * low), (1, low * low)))


def _sign(weight: int) -> float:
    return 1.0 if weight > 0 else -1.0


def quotient(value: Value, by: Value) -> Value:
    """value // by of integers from 0 to 2^53, where engines divide doubles."""
    return ((value - value % by) / by).cast("int64")
