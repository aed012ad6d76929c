"""Certified integer enclosures of exp, log, sqrt, pi and erf at rational points.

Every function returns integers `(lo, hi)` with lo <= 2**bits * f(x) <= hi, where hi - lo is a
few units. More bits narrow the enclosure around the true number. So a comparison with any
other number ends after finitely many doublings of `bits` (Ziv's strategy).
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

Enclosure: TypeAlias = tuple[int, int]

_GUARD = 16


def exp_neg(x: Fraction, bits: int) -> Enclosure:
    """Encloses 2**bits * exp(-x) for x >= 0.

    >>> lo, hi = exp_neg(Fraction(1), 40)
    >>> lo / 2**40 <= math.exp(-1) <= hi / 2**40
    True
    """
    if x == 0:
        return 1 << bits, 1 << bits
    if x >= bits:  # exp(-bits) < 2**-bits
        return 0, 1
    halvings = max(0, math.ceil(x).bit_length() + 8)
    work = bits + halvings + _GUARD
    lo, hi = _inverse(_exp_small(x / (1 << halvings), work), work)
    for _ in range(halvings):  # doubles the absolute error, which the guard bits absorb
        lo, hi = lo * lo >> work, (hi * hi >> work) + 1
    shift = work - bits
    return lo >> shift, min((hi >> shift) + 1, 1 << bits)


def _exp_small(y: Fraction, work: int) -> Enclosure:
    """Encloses 2**work * exp(y) for 0 <= y < 2**-8.

    Each floored Taylor term is less than 3 units below its true value. The terms after the
    first that floors to zero add up to less than 4.
    """
    step = (y.numerator << work) // y.denominator
    term = total = 1 << work
    count = 0
    while term:
        count += 1
        term = (term * step >> work) // count
        total += term
    return total, total + 3 * count + 4


def _inverse(value: Enclosure, work: int) -> Enclosure:
    lo, hi = value
    square = 1 << 2 * work
    return square // hi, -(-square // lo)


def log(x: Fraction, bits: int) -> Enclosure:
    """Encloses 2**bits * ln(x) for x > 0; exactly (0, 0) at x = 1.

    >>> lo, hi = log(Fraction(3), 60)
    >>> hi - lo <= 2 and lo <= 2**60 * Fraction("1.09861228866810969140") <= hi
    True
    """
    if x == 1:
        return 0, 0
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    mantissa = x / Fraction(2) ** exponent  # in (1/2, 2)
    work = bits + abs(exponent).bit_length() + _GUARD
    lo, hi = _log_near_one(mantissa, work)
    two_lo, two_hi = _log_two(work)
    if exponent >= 0:
        lo, hi = lo + exponent * two_lo, hi + exponent * two_hi
    else:
        lo, hi = lo + exponent * two_hi, hi + exponent * two_lo
    shift = work - bits
    return lo >> shift, -(-hi >> shift)


@lru_cache(maxsize=64)
def _log_two(work: int) -> Enclosure:
    return _log_near_one(Fraction(2), work)


def _log_near_one(x: Fraction, work: int) -> Enclosure:
    """2 atanh(z), z = (x - 1) / (x + 1), |z| <= 1/3, summed with floored terms."""
    z = (x - 1) / (x + 1)
    sign, z = (-1, -z) if z < 0 else (1, z)
    step = (z.numerator << work) // z.denominator
    square = step * step >> work
    power, total, count = step, 0, 0
    while power:
        total += power // (2 * count + 1)
        power = power * square >> work
        count += 1
    # Each power is too small by less than 2 units, each quotient by less than 1 more. The
    # terms that are left out add up to less than 2.
    lo, hi = 2 * total, 2 * (total + 3 * count + 4)
    return (lo, hi) if sign > 0 else (-hi, -lo)


def sqrt(x: Fraction, bits: int) -> Enclosure:
    """Encloses 2**bits * sqrt(x) for x >= 0.

    >>> sqrt(Fraction(9, 4), 1)
    (3, 3)
    """
    scaled, rest = divmod(x.numerator << 2 * bits, x.denominator)
    root = math.isqrt(scaled)
    return root, root if rest == 0 and root * root == scaled else root + 1


@lru_cache(maxsize=64)
def pi(bits: int) -> Enclosure:
    """Encloses 2**bits * pi, by Machin's formula.

    >>> pi(8)
    (804, 805)
    """
    work = bits + _GUARD
    a_lo, a_hi = _arctan_inverse(5, work)
    b_lo, b_hi = _arctan_inverse(239, work)
    lo, hi = 16 * a_lo - 4 * b_hi, 16 * a_hi - 4 * b_lo
    return lo >> _GUARD, (hi >> _GUARD) + 1


def _arctan_inverse(n: int, work: int) -> Enclosure:
    power, total, count = (1 << work) // n, 0, 0
    while power:
        term = power // (2 * count + 1)
        total += -term if count % 2 else term
        power //= n * n
        count += 1
    return total - 2 * count - 2, total + 2 * count + 2


def erf(x_squared: Fraction, bits: int) -> Enclosure:
    """Encloses 2**bits * erf(x) for x >= 0, given x**2 (so that x may be an irrational root).

    erf(x) = 2/sqrt(pi) * x * exp(-x**2) * sum of (2 x**2)**n / (1 * 3 * ... * (2n + 1)).

    >>> lo, hi = erf(Fraction(1), 40)
    >>> lo / 2**40 <= math.erf(1) <= hi / 2**40
    True
    """
    if x_squared == 0:
        return 0, 0
    if x_squared >= bits:  # erfc(x) < exp(-x**2) < 2**-bits
        return (1 << bits) - 1, 1 << bits
    growth = 2 * math.ceil(x_squared) + 8  # the sum is below exp(x**2) * (1 + 2 x**2)
    work = bits + growth + _GUARD
    step = (2 * x_squared.numerator << work) // x_squared.denominator
    term = total = 1 << work
    count = 0
    while term:
        count += 1
        term = (term * step >> work) // (2 * count + 1)
        total += term
    # Let T be the sum. Flooring makes each term too small by less than 2 units, and the terms
    # after it multiply this by at most T. The floored `step` costs dT/dstep <= T units. What
    # follows the first zero term is below half of the last error.
    slack = (total >> work) * 4 * (count + 1) + 8 * (count + 1)
    root_lo, root_hi = sqrt(x_squared, work)
    exp_lo, exp_hi = exp_neg(x_squared, work)
    pi_lo, pi_hi = pi(2 * work)
    pi_root_lo, pi_root_hi = math.isqrt(pi_lo), math.isqrt(pi_hi) + 1  # scale 2**work
    lo = (total * root_lo >> work) * exp_lo * 2 // pi_root_hi
    hi = -(-((((total + slack) * root_hi >> work) + 1) * exp_hi * 2) // pi_root_lo)
    shift = work - bits
    return lo >> shift, min((hi >> shift) + 1, 1 << bits)


def is_below(f: Callable[[int], Enclosure], threshold: Fraction, *, bits: int = 64) -> bool:
    """Whether the number that `f(bits)` encloses is below `threshold`.

    The two must differ (as an irrational and a rational number do), or this never ends.

    >>> is_below(lambda bits: exp_neg(Fraction(1), bits), Fraction(1, 2))
    True
    """
    while True:
        lo, hi = f(bits)
        scaled = threshold * (1 << bits)
        if hi < scaled:
            return True
        if lo > scaled:
            return False
        bits *= 2


def float_up(x: Fraction) -> float:
    """The least float that is at least x."""
    near = _nearest_float(x)
    sure = near == math.inf or (near != -math.inf and Fraction(near) >= x)
    return near if sure else math.nextafter(near, math.inf)


def float_down(x: Fraction) -> float:
    """The greatest float that is at most x."""
    return -float_up(-x)


def _nearest_float(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf
