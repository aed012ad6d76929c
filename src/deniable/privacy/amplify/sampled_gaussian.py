"""Renyi divergences of Gaussian noise on a Poisson sample.

Let R = 1 - q + q e**(mu z - mu**2 / 2) be the likelihood ratio of the sampled mechanism, with z
standard normal. The divergence of order a is ln(E R**a) / (a - 1). That of the other direction
is never greater (Mironov, Talwar & Zhang, "Renyi differential privacy of the sampled Gaussian
mechanism", 2019, theorem 5). For an integer a, the binomial theorem gives
    E R**a = sum over k of C(a, k) (1 - q)**(a - k) q**k e**(k (k - 1) mu**2 / 2).
ln(E R**a) is convex in a and 0 at a = 1, so between two integers the chord is an upper bound.
"""

import math
from fractions import Fraction
from functools import lru_cache

from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.intervals import ZERO, Interval, Precision, certify


@lru_cache(maxsize=4096)
def sampled_gaussian_divergence(
    mu_squared: Fraction, rate: Fraction, order: Fraction
) -> Fraction:
    """An upper bound on the divergence of this order; the exact number, rounded up, if the
    order is an integer.

    >>> f"{float(sampled_gaussian_divergence(Fraction(1), Fraction(1, 100), Fraction(2))):.9f}"
    '0.000171813'
    """
    low = math.floor(order)
    part = order - low

    def enclose(p: Precision) -> Interval:
        below = _log_moment(mu_squared, rate, low, p)
        if part:
            below = below * (1 - part) + _log_moment(mu_squared, rate, low + 1, p) * part
        return below / (order - 1)

    return floats.ceiling(max(certify(enclose).hi, ZERO))


def _log_moment(mu_squared: Fraction, rate: Fraction, order: int, p: Precision) -> Interval:
    """ln(E R**order). The terms of k = 0 and 1 are what is missing to 1 - ..., so the sum is
    written as 1 + sum of C(a, k) (1 - q)**(a - k) q**k (e**(k (k - 1) mu**2 / 2) - 1)."""
    total = p(0)
    for k in range(2, order + 1):
        weight = math.comb(order, k) * (1 - rate) ** (order - k) * rate**k
        total = total + p(weight) * (p(mu_squared * k * (k - 1) / 2).exp() - 1)
    return (1 + total).log()
