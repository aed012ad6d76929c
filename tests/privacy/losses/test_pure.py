"""Pure losses: exact as rationals and as odds."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidParameter
from deniable.privacy import PureLoss
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from tests.privacy import curves
from tests.privacy.contract import LossContract, assert_just_above, mp, read


class TestRationalEpsilon(LossContract):
    loss = PureLoss(1.1)
    other = PureLoss(Fraction(1, 3))

    def truth(self, epsilon):
        return curves.pure(read(1.1), epsilon)


class TestOdds(LossContract):
    loss = PureLoss(odds=3)
    other = PureLoss(0.5)

    def truth(self, epsilon):
        return curves.pure(mp.log(3), epsilon)


class TestLargeEpsilon(LossContract):
    loss = PureLoss(700)
    other = PureLoss(1e-10)

    def truth(self, epsilon):
        return curves.pure(mp.mpf(700), epsilon)


def test_two_coins_cost_exactly_ln_3():
    assert PureLoss(odds=3).epsilon() == math.log(3)
    assert_just_above((PureLoss(odds=3) * 3).epsilon(), 3 * mp.log(3), tolerance=2.3e-16)


@given(st.integers(1, 10**6), st.integers(0, 12))
def test_a_decimal_comes_back_as_it_was_given(digits, places):
    epsilon = float(f"{digits}e-{places}")
    assert PureLoss(epsilon).epsilon() == epsilon


@given(st.floats(-10, 2.84).map(lambda power: 10**power), st.floats(-300, -0.4))
def test_extremes_stay_certified(epsilon, power):
    delta = 10**power
    loss = PureLoss(epsilon)
    least = loss.epsilon(delta)
    assert curves.pure(read(epsilon), read(least)) <= read(delta)
    if least > 0:
        assert_just_above(
            least,
            mp.log(mp.exp(read(epsilon)) - read(delta) * (1 + mp.exp(read(epsilon)))),
        )


@given(st.floats(1e-10, 700))
def test_the_zcdp_charge_is_just_above_epsilon_tanh(epsilon):
    charge = PureLoss(epsilon).rho
    truth = read(epsilon) * mp.tanh(read(epsilon) / 2)
    assert truth <= read(charge) <= truth * (1 + mp.mpf("1e-18"))


def test_nothing_lost_is_a_loss():
    nothing = PureLoss(0)
    assert nothing == PureLoss(odds=1)
    assert (nothing.epsilon(), nothing.delta(0), nothing.rho) == (0, 0, 0)
    assert nothing.tradeoff(0.3) == 0.7


@pytest.mark.parametrize("epsilon", [-1, math.nan, "1", True, 1j, [1]])
def test_an_unusable_epsilon_is_refused(epsilon):
    with pytest.raises(InvalidParameter, match="`epsilon`"):
        PureLoss(epsilon)


@pytest.mark.parametrize("odds", [0, 0.5, -3, math.nan, "3", True])
def test_unusable_odds_are_refused(odds):
    with pytest.raises(InvalidParameter, match="`odds`"):
        PureLoss(odds=odds)


@pytest.mark.parametrize("infinite", [{"epsilon": math.inf}, {"odds": math.inf}])
def test_infinite_odds_are_called_not_private(infinite):
    with pytest.raises(InvalidParameter, match="not private"):
        PureLoss(**infinite)


@pytest.mark.parametrize("given", [{}, {"epsilon": 1, "odds": 3}])
def test_one_of_epsilon_and_odds_is_needed(given):
    with pytest.raises(InvalidParameter, match="exactly one"):
        PureLoss(**given)


def test_a_mixed_sum_prints_its_terms():
    mixed = ExactEpsilon(Fraction(1, 2)) + ExactEpsilon.from_odds(Fraction(3)) * 2
    assert repr(PureLoss.of(mixed)) == "PureLoss(1/2 + 2 ln 3)"


def test_tradeoff_is_exact_where_the_odds_are():
    assert PureLoss(odds=3).tradeoff(0.05) == 0.85
    assert PureLoss(odds=3).tradeoff(0.25) == 0.25
