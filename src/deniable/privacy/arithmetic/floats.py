"""Conversions between exact numbers and floats: rounded up or down, and printed exactly."""

import math
from decimal import Decimal
from fractions import Fraction

from deniable.privacy.arithmetic.intervals import NEGLIGIBLE

UNIT = 2.0**-53  # the greatest relative error of one float operation

_LEAST = 5e-324
_HUGE = Decimal("1e310")


def up(x: Fraction | Decimal) -> float:
    """The least float that is at least x, read as the decimal it prints as.

    So a float has the same meaning as everywhere in Deniable: 1/10 becomes 0.1, and 3/10
    becomes 0.3 (though its binary value is a little lower). A loss rounded up to 1e-6 fits
    into a budget of 1e-6.

    >>> up(Fraction(3, 10)), up(Fraction(1, 3)) > 1 / 3
    (0.3, True)
    """
    if isinstance(x, Decimal):
        if x.copy_abs() < NEGLIGIBLE:
            return _LEAST if x > 0 else 0.0
        if x > _HUGE:
            return math.inf
        x = Fraction(x)
    try:
        near = float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.nextafter(math.inf, 0)
    while near != math.inf and Fraction(repr(near)) < x:
        near = math.nextafter(near, math.inf)
    return near


def down(x: Fraction | Decimal) -> float:
    """The greatest float that is at most x, read as the decimal it prints as."""
    low = -up(x.copy_negate() if isinstance(x, Decimal) else -x)
    return low + 0.0  # no negative zero


def show(x: Fraction) -> str:
    """Python code for x: 3, 0.1 or Fraction(1, 3).

    >>> show(Fraction(1, 10)), show(Fraction(2, 6))
    ('0.1', 'Fraction(1, 3)')
    """
    if x.denominator == 1:
        return str(x.numerator)
    near = float(x)
    return repr(near) if Fraction(repr(near)) == x else repr(x)


def ceiling(x: Decimal, digits: int = 20) -> Fraction:
    """x rounded up to `digits` significant digits, so that sums of charges stay short."""
    return -_floor(x.copy_negate(), digits)


def floor(x: Decimal, digits: int = 20) -> Fraction:
    """x rounded down to `digits` significant digits."""
    return _floor(x, digits)


def _floor(x: Decimal, digits: int) -> Fraction:
    if x == 0:
        return Fraction(0)
    unit = Fraction(10) ** (x.adjusted() - digits + 1)
    return math.floor(Fraction(x) / unit) * unit


def exp(x: float) -> float:
    """e**x, or infinity if no float is that large."""
    return math.exp(x) if x < 709 else math.inf
