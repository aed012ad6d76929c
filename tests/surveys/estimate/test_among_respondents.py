"""Intervals for these very respondents hold by exact summation over the coins."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from deniable.mechanisms import RandomizedResponse
from deniable.surveys import among_respondents

COINS = RandomizedResponse(odds=3)


@pytest.mark.parametrize(
    ("n", "yes", "interval"),
    [(100, 40, (0.12, 0.47)), (50, 20, (0.04, 0.56)), (10, 2, (0, 0.5))],
)
def test_published_intervals(n, yes, interval):
    assert among_respondents(COINS, (n - yes, yes)).interval == pytest.approx(interval)


@pytest.mark.parametrize("design", [COINS, RandomizedResponse.channel(0.3, 0.9)])
def test_coverage_by_exact_summation(design):
    n = 40
    intervals = [among_respondents(design, (n - s, s)).interval for s in range(n + 1)]
    for m in range(n + 1):
        law = np.convolve(
            binom.pmf(range(m + 1), m, float(design.p)),
            binom.pmf(range(n - m + 1), n - m, float(design.q)),
        )
        covered = sum(law[s] for s, (low, high) in enumerate(intervals) if low <= m / n <= high)
        assert covered >= 0.95


def test_the_error_is_that_of_the_coins_alone():
    single = among_respondents(COINS, (600, 400))
    both = COINS.estimate(counts=(600, 400))
    assert single.standard_error**2 == pytest.approx(Fraction(3, 4000))
    assert single.standard_error < both.standard_error
    assert single.value == both.value


def test_reports_that_no_respondents_could_send():
    estimate = among_respondents(COINS, (100, 0))
    assert not estimate.consistent
    assert math.isnan(estimate.interval[0])


def test_many_respondents():
    low, high = among_respondents(COINS, (600_000, 400_000)).interval
    assert high - low == pytest.approx(2 * 1.96 * math.sqrt(0.75 / 1e6), rel=1e-2)
