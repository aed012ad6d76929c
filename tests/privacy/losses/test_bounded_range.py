"""Losses of bounded range: the curve, its charges, and the mechanisms that attain it."""

import itertools
import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidParameter
from deniable.privacy import ConcentratedLoss, PureLoss
from deniable.privacy.losses.bounded_range import RangeLoss
from tests.privacy.contract import NAMES, LossContract, assert_just_above, mp, read

NAMES["RangeLoss"] = RangeLoss


def curve(nats, epsilon):
    if epsilon >= nats:
        return mp.mpf(0)
    return mp.expm1((epsilon - nats) / 2) ** 2 / -mp.expm1(-nats)


class TestRational(LossContract):
    loss = RangeLoss(1.1)
    other = PureLoss(Fraction(1, 3))

    def truth(self, epsilon):
        return curve(read(1.1), epsilon)


class TestOdds(LossContract):
    loss = RangeLoss(odds=3)
    other = RangeLoss(0.5)

    def truth(self, epsilon):
        return curve(mp.log(3), epsilon)


class TestLarge(LossContract):
    loss = RangeLoss(700)
    other = PureLoss(1e-10)

    def truth(self, epsilon):
        return curve(mp.mpf(700), epsilon)


@given(st.floats(0.01, 20))
def test_the_curve_is_the_worst_two_point_mechanism(epsilon):
    """Searching all t finds nothing above the curve, and something close to it."""

    def excess(t, x):
        """Odds e**t with the probability that makes E(y) = 1, else odds e**(t - epsilon)."""
        p = mp.expm1(t - epsilon) / mp.expm1(-epsilon)
        return sum(
            q * max(0, 1 - mp.exp(x - loss)) for q, loss in ((p, t), (1 - p, t - epsilon))
        )

    for x in (0, epsilon / 3, 0.9 * epsilon):
        most = max(excess(mp.mpf(k) * epsilon / 200, x) for k in range(201))
        claimed = mp.mpf(RangeLoss(epsilon).delta(x))
        assert most <= claimed * (1 + mp.mpf("1e-12"))
        assert most >= claimed * (1 - mp.mpf("0.02"))


def test_exponential_weights_keep_to_it():
    """All small score tables and all their moves by at most one: ranges and deltas."""
    epsilon, steps = 1.3, (-1, 0, 1)
    for scores in itertools.product(range(3), repeat=3):
        for move in itertools.product(steps, repeat=3):
            moved = [a + b for a, b in zip(scores, move, strict=True)]
            first, second = (
                [math.exp(epsilon * s / 2) for s in table] for table in (scores, moved)
            )
            first = [w / sum(first) for w in first]
            second = [w / sum(second) for w in second]
            losses = [math.log(a / b) for a, b in zip(first, second, strict=True)]
            assert max(losses) - min(losses) <= epsilon + 1e-12
            for x in (0, 0.3, 0.9):
                delta = sum(
                    max(0, a - math.exp(x) * b) for a, b in zip(first, second, strict=True)
                )
                assert delta <= RangeLoss(epsilon).delta(x) + 1e-15


@given(st.floats(0.001, 30), st.floats(1.01, 60))
def test_the_charge_bounds_every_renyi_divergence(epsilon, order):
    rho = float(RangeLoss(epsilon).rho)
    with mpmath.workdps(30):
        for k in range(1, 20):
            t = mpmath.mpf(k) * epsilon / 20
            p = mpmath.expm1(t - epsilon) / mpmath.expm1(-epsilon)
            moment = p * mpmath.exp((order - 1) * t) + (1 - p) * mpmath.exp(
                (order - 1) * (t - epsilon)
            )
            assert mpmath.log(moment) / (order - 1) <= rho * order * (1 + 1e-12)


def test_the_charge_is_rounded_up():
    assert RangeLoss(0.1).rho == Fraction(1, 800)
    assert_just_above(float(RangeLoss(odds=3).rho), mp.log(3) ** 2 / 8)
    assert read(RangeLoss(odds=3).rho) >= mp.log(3) ** 2 / 8


def test_many_choices_cost_a_quarter_of_what_many_pure_releases_do():
    many, pure = RangeLoss(0.1) * 1000, PureLoss(0.1) * 1000
    assert many.epsilon(1e-6) < 0.55 * pure.epsilon(1e-6)
    assert many.epsilon(1e-6) <= ConcentratedLoss(Fraction(10, 8)).epsilon(1e-6)
    assert many.epsilon() == 100


def test_nothing_lost_is_a_loss():
    assert RangeLoss(0).delta(0) == RangeLoss(0).epsilon() == RangeLoss(0).rho == 0


@pytest.mark.parametrize("epsilon", [-1, math.nan, "1", True])
def test_an_unusable_epsilon_is_refused(epsilon):
    with pytest.raises(InvalidParameter, match="epsilon"):
        RangeLoss(epsilon)
