"""Interval arithmetic on long decimals: every operation encloses the true number.

The exponent of a decimal has some fifteen digits more than any loss needs, so e**700 and
1e-300 are ordinary numbers here and nothing overflows. `certify` repeats a computation with
more digits until its enclosure is narrow. Its result always encloses the true number.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
)
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from deniable.exact import enclosures

ZERO = Decimal(0)
ONE = Decimal(1)
INFINITY = Decimal("Infinity")
NEGLIGIBLE = Decimal("1e-400")  # far below the least positive float
_NARROW = Decimal("1e-22")  # the relative width at which `certify` stops
_DIGITS = (40, 80, 160, 320, 640)

Exact: TypeAlias = int | Decimal | Fraction


def _context(digits: int, rounding: str) -> Context:
    traps = [InvalidOperation, DivisionByZero]
    return Context(digits, rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=traps)


@dataclass(frozen=True, eq=False)
class Precision:
    """A number of digits, with three ways to round; `p(x)` encloses an exact number.

    >>> Precision(5)(Fraction(1, 3))
    Interval(0.33333, 0.33334)
    """

    digits: int
    down: Context = field(init=False, repr=False)
    up: Context = field(init=False, repr=False)
    near: Context = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "down", _context(self.digits, ROUND_FLOOR))
        object.__setattr__(self, "up", _context(self.digits, ROUND_CEILING))
        object.__setattr__(self, "near", _context(self.digits, ROUND_HALF_EVEN))

    def __call__(self, value: Exact) -> "Interval":
        if isinstance(value, Fraction):
            top, bottom = Decimal(value.numerator), Decimal(value.denominator)
            return Interval(self.down.divide(top, bottom), self.up.divide(top, bottom), self)
        value = Decimal(value)
        return Interval(value, value, self)


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """All numbers from `lo` to `hi`. One of them is the true number."""

    lo: Decimal
    hi: Decimal
    precision: Precision

    def __repr__(self) -> str:
        return f"Interval({self.lo}, {self.hi})"

    def _to_interval(self, other: "Interval | Exact") -> "Interval":
        return other if isinstance(other, Interval) else self.precision(other)

    def __neg__(self) -> "Interval":
        return Interval(self.hi.copy_negate(), self.lo.copy_negate(), self.precision)

    def __add__(self, other: "Interval | Exact") -> "Interval":
        o, p = self._to_interval(other), self.precision
        return Interval(p.down.add(self.lo, o.lo), p.up.add(self.hi, o.hi), p)

    def __sub__(self, other: "Interval | Exact") -> "Interval":
        return self + -self._to_interval(other)

    def __rsub__(self, other: Exact) -> "Interval":
        return -self + other

    def __mul__(self, other: "Interval | Exact") -> "Interval":
        o, p = self._to_interval(other), self.precision
        corners = [(x, y) for x in (self.lo, self.hi) for y in (o.lo, o.hi)]
        lo = min(p.down.multiply(x, y) for x, y in corners)
        return Interval(lo, max(p.up.multiply(x, y) for x, y in corners), p)

    def __truediv__(self, other: "Interval | Exact") -> "Interval":
        """Gives all numbers, unless every number of the divisor is above zero."""
        o, p = self._to_interval(other), self.precision
        if o.lo <= 0:
            return Interval(INFINITY.copy_negate(), INFINITY, p)
        lo = p.down.divide(self.lo, o.hi if self.lo >= 0 else o.lo)
        return Interval(lo, p.up.divide(self.hi, o.lo if self.hi >= 0 else o.hi), p)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rtruediv__(self, other: Exact) -> "Interval":
        return self._to_interval(other) / self

    # `decimal` rounds exp and ln correctly to nearest, so one step outward encloses them.
    def exp(self) -> "Interval":
        p = self.precision
        lo = ONE if self.lo == 0 else p.down.next_minus(p.near.exp(self.lo))
        hi = ONE if self.hi == 0 else p.up.next_plus(p.near.exp(self.hi))
        return Interval(max(lo, ZERO), hi, p)

    def log(self) -> "Interval":
        p = self.precision
        lo = ZERO if self.lo == 1 else p.down.next_minus(p.near.ln(self.lo))
        hi = ZERO if self.hi == 1 else p.up.next_plus(p.near.ln(self.hi))
        return Interval(lo, hi, p)

    def sqrt(self) -> "Interval":
        p = self.precision
        lo = max(p.down.next_minus(p.near.sqrt(self.lo)), ZERO)
        return Interval(lo, p.up.next_plus(p.near.sqrt(self.hi)), p)

    def positive_part(self) -> "Interval":
        return Interval(max(self.lo, ZERO), max(self.hi, ZERO), self.precision)

    @property
    def middle(self) -> Decimal:
        near = self.precision.near
        return near.divide(near.add(self.lo, self.hi), Decimal(2))


def certify(compute: Callable[[Precision], Interval]) -> Interval:
    """An enclosure narrow enough to round to a float, with as few digits as that needs."""
    for digits in _DIGITS:
        result = compute(precision(digits))
        if result.hi == result.lo or result.hi.copy_abs() < NEGLIGIBLE:
            break
        width = result.precision.up.subtract(result.hi, result.lo)
        if width.is_finite() and width <= result.precision.down.multiply(
            result.lo.copy_abs(), _NARROW
        ):
            break
    return result


@lru_cache(maxsize=16)
def precision(digits: int) -> Precision:
    """`Precision(digits)`, cached."""
    return Precision(digits)


@lru_cache(maxsize=16)
def root_two_pi(digits: int) -> Interval:
    """Encloses the square root of 2 pi."""
    p = precision(digits)
    bits = 4 * digits
    lo, hi = (Fraction(end, 1 << bits) for end in enclosures.pi(bits))
    return (Interval(p(lo).lo, p(hi).hi, p) * 2).sqrt()
