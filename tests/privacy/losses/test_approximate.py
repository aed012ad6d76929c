"""Approximate losses: epsilon, except with probability delta."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidParameter
from deniable.privacy import ApproximateLoss, PureLoss
from tests.privacy import curves
from tests.privacy.contract import LossContract, mp, read


class TestApproximateLoss(LossContract):
    loss = ApproximateLoss(1, 1e-6)
    other = PureLoss(0.5)

    def truth(self, epsilon):
        return curves.approximate(mp.mpf(1), read(1e-6), epsilon)


class TestOddsAndThirds(LossContract):
    loss = ApproximateLoss(odds=3, delta=Fraction(1, 3))
    other = ApproximateLoss(0.1, 1e-9)

    def truth(self, epsilon):
        return curves.approximate(mp.log(3), mp.mpf(1) / 3, epsilon)


def test_below_its_delta_there_is_no_epsilon():
    loss = ApproximateLoss(1, 1e-6)
    assert (loss.epsilon(), loss.epsilon(9.9e-7), loss.epsilon(1e-6)) == (math.inf, math.inf, 1)
    third = Fraction(1, 3)
    assert ApproximateLoss(1, third).epsilon(third) == 1


@given(st.floats(1e-10, 50), st.floats(1e-300, 0.5), st.integers(1, 40))
def test_group_delta_is_never_below_the_formula(epsilon, delta, k):
    grown = ApproximateLoss(epsilon, delta).group(k)
    e = read(epsilon)
    truth = read(delta) * mp.expm1(k * e) / mp.expm1(e)
    if truth >= 1:
        assert grown.slack == 1
        assert grown.epsilon(0.999) == math.inf
        assert (grown.delta(1), grown.tradeoff(0.5)) == (1, 0)
    else:
        assert truth * (1 - mp.mpf(10) ** -60) <= read(grown.slack)
        assert read(grown.slack) <= truth * (1 + mp.mpf("1e-12"))


def test_a_group_without_epsilon_multiplies_delta():
    assert ApproximateLoss(0, 0.01).group(5) == ApproximateLoss(0, 0.05)


@pytest.mark.parametrize("delta", [-1e-9, 1, 2, math.nan, math.inf, "1e-6", True, None])
def test_an_unusable_delta_is_refused(delta):
    with pytest.raises(InvalidParameter, match="`delta`"):
        ApproximateLoss(1, delta)


@pytest.mark.parametrize("epsilon", ["1e-39", "1e-45", "1e-300", "1e-900"])
def test_groups_at_a_vanishing_epsilon_still_pay_every_delta(epsilon):
    """e**epsilon - 1 is too small for the digits there are, and must not count as nothing."""
    for k in (2, 40):
        grown = ApproximateLoss(Fraction(epsilon), 1e-6).group(k)
        assert k * Fraction(1, 10**6) <= grown.slack <= k * Fraction(1000001, 10**12)
