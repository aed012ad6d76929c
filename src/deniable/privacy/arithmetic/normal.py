"""The upper tail of the standard normal distribution and its inverse, with certified error."""

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from deniable.privacy.arithmetic.intervals import (
    ONE,
    ZERO,
    Interval,
    Precision,
    precision,
    root_two_pi,
)

_NEAR = Decimal(3)  # below it the series is used, above it the continued fraction
_FAR = Decimal(10) ** 9
_WORK = 60
_BITS = math.log2(10)


def density(x: Interval) -> Interval:
    """phi(x)."""
    return (-(x * x) / 2).exp() / root_two_pi(x.precision.digits)


def upper_tail(x: Interval) -> Interval:
    """P(N > x) for a standard normal N, with a small relative error also in the far tail.

    >>> f"{upper_tail(precision(20)(6)).middle:.9e}"
    '9.865876450e-10'
    """
    if x.lo >= _NEAR:
        return density(x) * mills_ratio(x)
    if x.hi < 0:
        return 1 - upper_tail(-x)
    return Fraction(1, 2) - density(x) * _series(x)


def mills_ratio(x: Interval) -> Interval:
    """P(N > x) / phi(x) = 1 / (x + 1 / (x + 2 / (x + 3 / ...))) for x above zero.

    The rest of the fraction after n terms lies in [0, n / x], which gives an enclosure. It is
    computed in integers: multiples of 2**-bits, rounded down and up.
    """
    p = x.precision
    terms = _terms(math.floor(min(x.lo, _FAR) * 16) / 16, p.digits - 8)
    bits = math.ceil(p.digits * _BITS) + 16
    (least, _), (_, most) = _scale(x.lo, bits), _scale(x.hi, bits)
    lo, hi = 0, -(-(terms << 2 * bits) // least)
    for k in range(terms - 1, 0, -1):
        top = k << 2 * bits
        lo, hi = top // (most + hi), -(-top // (least + lo))
    return ONE / (x + _unscale(lo, hi, bits, p))


@lru_cache(maxsize=4096)
def _terms(x: float, digits: int) -> int:
    """About how many terms of the fraction give `digits` digits: the k-th term narrows the
    enclosure by t / (x + t), where t is nearly k / (x + t)."""
    n, left = 1, digits * math.log(10)
    while left > 0:
        n += 1
        t = 2 * n / (x + math.sqrt(x * x + 4 * n))
        left += math.log(t / (x + t))
    return n


def _series(x: Interval) -> Interval:
    """(P(N <= x) - 1/2) / phi(x) = x + x**3/3 + x**5/(3*5) + ... for x near zero.

    It is computed in integers, like `mills_ratio`.
    """
    p = x.precision
    square = (x * x).positive_part()
    bits = math.ceil(p.digits * _BITS) + 16
    (least, _), (_, most) = _scale(square.lo, bits), _scale(square.hi, bits)
    lo = hi = total_lo = total_hi = 1 << bits
    n = 0
    # From 2n + 3 > 2 x**2 on, each term is below half of the previous one.
    while hi > 2 or (2 * n + 3) << bits <= 2 * most:
        n += 1
        unit = (2 * n + 1) << bits
        lo, hi = lo * least // unit, -(-hi * most // unit)
        total_lo, total_hi = total_lo + lo, total_hi + hi
    return x * _unscale(total_lo, total_hi + 2 * hi, bits, p)


def _scale(x: Decimal, bits: int) -> tuple[int, int]:
    """x as a multiple of 2**-bits, rounded down and up."""
    top, bottom = x.as_integer_ratio()
    return (top << bits) // bottom, -(-(top << bits) // bottom)


def _unscale(lo: int, hi: int, bits: int, p: Precision) -> Interval:
    unit = Decimal(1 << bits)
    return Interval(p.down.divide(Decimal(lo), unit), p.up.divide(Decimal(hi), unit), p)


def quantile_below(tail: Fraction) -> Decimal:
    """A number just below the z with P(N > z) = tail, for 0 < tail < 1; certified.

    >>> f"{quantile_below(Fraction('0.025')):.6f}"
    '1.959964'
    """
    if tail == Fraction(1, 2):
        return ZERO
    p = precision(_WORK)
    far = min(tail, 1 - tail)
    z = _newton(far, p)
    z = z if tail == far else z.copy_negate()  # `-z` would round
    slack = max(abs(z), ONE).scaleb(-40)
    while upper_tail(p(z)).lo < p(tail).hi:
        z = p.down.subtract(z, slack)
        slack = slack * 8
    return z


def _newton(tail: Fraction, p: Precision) -> Decimal:
    """Newton's method on log P(N > z), which is concave: right of the root it only descends.

    It starts at the right because P(N > z) <= exp(-z**2 / 2) / 2.
    """
    near, goal = p.near, p(tail).log().middle
    z = (p(2 * tail).log() * -2).positive_part().sqrt().middle
    for _ in range(100):
        value, slope = upper_tail(p(z)), density(p(z))
        step = near.multiply(
            near.subtract(value.log().middle, goal), near.divide(value.middle, slope.middle)
        )
        z = near.add(z, step)
        if abs(step) <= abs(z).scaleb(-35):
            break
    return z
