"""Binomial coefficients as enclosures, for counts of any size.

ln n! is computed by Stirling's series. Its terms alternate in sign, and the true value lies
between any two neighbouring partial sums. Small factorials are computed exactly.
"""

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from deniable.privacy.arithmetic.intervals import (
    Interval,
    Precision,
    precision,
    root_two_pi,
)

_SMALL = 512


@lru_cache(maxsize=4096)
def log_factorial(n: int, digits: int) -> Interval:
    """ln n!

    >>> round(log_factorial(10**6, 30).middle, 6)
    Decimal('12815518.384658')
    """
    p = precision(digits + len(str(n)) + 2)
    if n < _SMALL:
        return p(math.factorial(n)).log()
    log = p(n).log()
    total = log * n - n + log / 2 + root_two_pi(p.digits).log()
    return total + _tail(n, p)


def log_choose(n: int, k: int, p: Precision) -> Interval:
    """ln of the number of ways to choose k of n.

    >>> round(log_choose(10, 3, precision(30)).exp().middle, 9)
    Decimal('120.000000000')
    """
    top, left, right = (log_factorial(m, p.digits) for m in (n, k, n - k))
    return top - left - right


def _tail(n: int, p: Precision) -> Interval:
    """The sum over j of B(2j) / (2j (2j - 1) n**(2j - 1)), up to its first negligible term."""
    total, j = p(0), 1
    floor = Decimal(10) ** -p.digits
    while True:
        term = p(_bernoulli(2 * j) / (2 * j * (2 * j - 1)) / n ** (2 * j - 1))
        beyond = total + term
        if abs(term.hi) < floor or j > 150:
            return Interval(min(total.lo, beyond.lo), max(total.hi, beyond.hi), p)
        total, j = beyond, j + 1


@lru_cache(maxsize=512)
def _bernoulli(m: int) -> Fraction:
    """The Bernoulli number B(m), by its recurrence."""
    if m == 0:
        return Fraction(1)
    if m > 1 and m % 2:
        return Fraction(0)
    total = sum((math.comb(m + 1, i) * _bernoulli(i) for i in range(m)), start=Fraction(0))
    return -total / (m + 1)
