"""Wide integers for backends with only 64 bits: sums of multiples of 64-bit columns.

A `WideInteger` is w1 * e1 + w2 * e2 + ... with Python integers w and 64-bit columns e >= 0.
Adding, and multiplying by a constant, change only the weights. A sum over rows adds the upper
bits and the lower 16 bits separately, so that it cannot overflow. The backend returns the e,
and Python adds them up, exactly.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import ibis

Value: TypeAlias = Any  # an Ibis expression

_HALF = 1 << 16
BASE = 1 << 20  # of digits: products with a number below 2^32 stay below 2^53
_NEAR = 2.0**59  # a sum of a few parts below this fits in 64 bits


@dataclass(frozen=True, slots=True)
class WideInteger:
    """A sum of multiples of 64-bit integers, none of which is negative."""

    parts: tuple[tuple[int, Value], ...]

    def __add__(self, other: "WideInteger") -> "WideInteger":
        return WideInteger((*self.parts, *other.parts))

    def multiply(self, factor: int) -> "WideInteger":
        """A multiple."""
        return WideInteger(tuple((weight * factor, part) for weight, part in self.parts))

    def map_parts(self, change: Callable[[Value], Value]) -> "WideInteger":
        """The same sum with changed parts."""
        return WideInteger(tuple((weight, change(part)) for weight, part in self.parts))

    def total(self) -> "WideInteger":
        """The sum over rows; the lower 16 bits are added separately."""
        sums = []
        for weight, part in self.parts:
            low = part % _HALF
            sums += [
                (weight * _HALF, quotient(part, _HALF).sum()),
                (weight, low.sum()),
            ]
        return WideInteger(tuple(sums))

    def to_int64(self) -> Value:
        """As one 64-bit integer; the caller ensures that it fits."""
        weight, first = self.parts[0]
        sum_ = first * weight
        for weight, part in self.parts[1:]:
            sum_ = sum_ + part * weight
        return sum_

    def to_double(self) -> Value:
        """As a double: the nearest one if every part is below 2^59."""
        sizes = [part.cast("float64") * float(abs(weight)) for weight, part in self.parts]
        near, far = sizes[0] < _NEAR, sizes[0] * _sign(self.parts[0][0])
        for (weight, _), size in zip(self.parts[1:], sizes[1:], strict=True):
            near, far = near & (size < _NEAR), far + size * _sign(weight)
        small = self.map_parts(lambda part: ibis.cases((near, part), else_=0)).to_int64()
        return ibis.cases((near, small.cast("float64")), else_=far)


def split_by_sign(value: Value) -> WideInteger:
    """An integer, with its negative values in a separate part: no part may be negative."""
    above = ibis.cases((value > 0, value), (value <= 0, 0))
    below = ibis.cases((value < 0, -value), (value >= 0, 0))
    return WideInteger(((1, above), (-1, below)))


def square(value: Value) -> WideInteger:
    """The square of an integer of at most 40 bits, as a number with two digits."""
    size = value.abs()
    low = size % BASE
    high = quotient(size, BASE)
    return WideInteger(((BASE * BASE, high * high), (2 * BASE, high * low), (1, low * low)))


def _sign(weight: int) -> float:
    return 1.0 if weight > 0 else -1.0


def quotient(value: Value, by: Value) -> Value:
    """value // by, for integers from 0 to 2^53: backends divide doubles."""
    return ((value - value % by) / by).cast("int64")
