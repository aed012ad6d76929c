"""Logarithms of factorials enclose the truth, at any size."""

import math

import pytest

from deniable.privacy.arithmetic.binomial import log_choose, log_factorial
from deniable.privacy.arithmetic.intervals import precision
from tests.privacy.contract import mp


@pytest.mark.parametrize("n", [0, 1, 10, 511, 512, 513, 1000, 10**6, 10**12])
@pytest.mark.parametrize("digits", [20, 60])
def test_factorials(n, digits):
    interval = log_factorial(n, digits)
    truth = mp.loggamma(n + 1)
    assert mp.mpf(str(interval.lo)) <= truth <= mp.mpf(str(interval.hi))
    assert mp.mpf(str(interval.hi)) - mp.mpf(str(interval.lo)) <= mp.mpf(10) ** -digits * (
        1 + truth
    )


def test_coefficients():
    interval = log_choose(1000, 300, precision(40)).exp()
    assert interval.lo <= math.comb(1000, 300) <= interval.hi
