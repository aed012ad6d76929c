"""Sequences hold at every look at once; ordinary intervals, looked at as often, do not."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtri

from deniable.errors import InvalidParameter
from deniable.exact import bernoulli
from deniable.mechanisms import RandomizedResponse
from deniable.surveys.estimate.confidence_sequence import (
    log_mixture,
    prior_strength,
    sequence_of_rates,
    share_sequence,
)

LEVEL = Fraction(19, 20)
LOOKS = np.arange(100, 4001, 50)  # 79 of them
DESIGNS = {
    "two coins, one in ten": (RandomizedResponse(odds=3), Fraction(1, 10)),
    "a die, one in fifty": (RandomizedResponse(odds=5), Fraction(1, 50)),
    "ten cards, one half": (RandomizedResponse.warner(Fraction(7, 10)), Fraction(1, 2)),
    "lopsided, nobody": (
        RandomizedResponse.channel(Fraction(3, 4), Fraction(1, 2)),
        Fraction(0),
    ),
    "crosswise, everybody": (RandomizedResponse.crosswise(Fraction(1, 6)), Fraction(1)),
}


def exact_mixture(rate, s, n, k):
    """M_n(rate) as a rational: a product over the reports, one by one."""
    factors = [(k * rate + i) / rate for i in range(s)]
    factors += [(k * (1 - rate) + j) / (1 - rate) for j in range(n - s)]
    top = math.prod(factor.numerator for factor in factors)
    bottom = math.prod(factor.denominator for factor in factors)
    parts = [k + m for m in range(n)]
    top *= math.prod(factor.denominator for factor in parts)
    return Fraction(top, bottom * math.prod(factor.numerator for factor in parts))


@pytest.mark.parametrize("design", DESIGNS)
def test_no_look_of_79_misses_more_often_than_stated(design, size):
    runs = size(small=200, full=2000, what="surveys of 4,000 people with 79 looks each")
    channel, share = DESIGNS[design]
    rate = channel.q + (channel.p - channel.q) * share
    reports = bernoulli(rate, runs * 4000).reshape(runs, 4000)
    yes = np.cumsum(reports, axis=1)[:, LOOKS - 1]
    low, high = sequence_of_rates(yes, LOOKS, planned=4000)
    missed = ((low > float(rate)) | (high < float(rate))).any(axis=1).mean()
    ordinary = float(ndtri(0.975)) * np.sqrt(yes / LOOKS * (1 - yes / LOOKS) / LOOKS)
    missed_by_ordinary = (np.abs(yes / LOOKS - float(rate)) > ordinary).any(axis=1).mean()
    assert missed <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / runs)
    assert missed_by_ordinary > 0.34 - 4 * np.sqrt(0.34 * 0.66 / runs)  # power
    wider = ((high - low) / 2 / ordinary).mean(axis=0)
    assert wider[LOOKS >= 250].max() < 1.7  # the width of a normal mixture
    assert wider[LOOKS >= 500].max() < 1.62


@pytest.mark.parametrize(("s", "n"), [(0, 7), (3, 10), (40, 100), (500, 500), (300, 1000)])
@pytest.mark.parametrize("planned", [50, 4000])
def test_the_ends_are_refuted_and_nothing_inside_is(s, n, planned):
    """By exact arithmetic: floats only find the ends."""
    k = Fraction(prior_strength(planned, LEVEL))
    low, high = (float(end) for end in sequence_of_rates(s, n, planned=planned))
    assert low == 0 if s < 2 else exact_mixture(Fraction(low), s, n, k) >= 20
    assert high == 1 if n - s < 2 else exact_mixture(Fraction(high), s, n, k) >= 20
    for end, inward in ((low, 1), (high, -1)):
        inside = Fraction(end) + inward * Fraction(1, 10**9)
        assert exact_mixture(inside, s, n, k) < 20


def test_the_mixture_is_a_martingale():
    """From every state the mean of the next M is M itself, so Ville's inequality applies."""
    k, rate = Fraction(25, 2), Fraction(3, 10)
    for n in range(12):
        for s in range(n + 1):
            after = [exact_mixture(rate, s + bit, n + 1, k) for bit in (0, 1)]
            assert (1 - rate) * after[0] + rate * after[1] == exact_mixture(rate, s, n, k)
    assert exact_mixture(rate, 0, 0, k) == 1


@pytest.mark.parametrize("n", [1, 30, 700])
def test_rounding_is_far_below_its_bound(n):
    k = prior_strength(4000, LEVEL)
    for s in {0, n // 3, n}:
        for rate in (0.001, 0.3, 0.97):
            value, rounding = log_mixture(np.array(rate), np.array(s), np.array(n), k)
            truth = exact_mixture(Fraction(rate), s, n, Fraction(k))
            precise = _log(truth)
            assert abs(float(value) - precise) < float(rounding) / 4
            assert float(rounding) < 1e-8


def _log(value):
    from mpmath import mp

    with mp.workdps(50):
        return float(mp.log(mp.mpf(value.numerator)) - mp.log(mp.mpf(value.denominator)))


def test_shares_are_rates_on_the_line_of_the_channel():
    for channel in (RandomizedResponse(odds=3), RandomizedResponse.crosswise(Fraction(1, 6))):
        p, q = channel.p, channel.q
        estimate = share_sequence(420, 1000, p=p, q=q, planned=1000)
        rates = sequence_of_rates(420, 1000, planned=1000)
        ends = sorted((float(end) - float(q)) / float(p - q) for end in rates)
        assert estimate.interval[0] <= ends[0] + 1e-15
        assert estimate.interval[1] >= ends[1] - 1e-15
        assert estimate.interval == pytest.approx(ends)
        assert estimate.raw == pytest.approx((0.42 - float(q)) / float(p - q))


def test_reports_that_no_share_explains_are_inconsistent():
    p, q = Fraction(3, 4), Fraction(1, 4)
    estimate = share_sequence(100, 1000, p=p, q=q)
    assert not estimate.consistent
    assert estimate.p_value < 1e-9
    near = share_sequence(240, 1000, p=p, q=q)
    assert near.consistent
    assert near.interval[0] == 0
    assert 0 < near.p_value <= 1
    assert share_sequence(400, 1000, p=p, q=q).p_value == 1


def test_counts_must_make_sense():
    with pytest.raises(InvalidParameter, match="between 0 and `reports`"):
        sequence_of_rates(11, 10)
