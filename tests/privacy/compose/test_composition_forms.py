"""Each form alone is never below the truth, and says when it does not apply."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import Unsupported
from deniable.privacy import ApproximateLoss, ConcentratedLoss, GaussianLoss, PureLoss
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.compose.composition_forms import (
    FORMS,
    ShiftedLoss,
    concentrated,
    concentrated_and_sum,
    gaussian,
    numerical,
    renyi,
    sum_of_epsilons,
    total_slack,
)
from tests.privacy import curves
from tests.privacy.contract import assert_just_above, mp, read


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@given(k=st.integers(1, 60), epsilon=st.floats(0, 8))
def test_never_below_randomized_responses(form, k, epsilon):
    priced = form.price(((PureLoss(0.2), k),))
    if priced is not None:
        truth = curves.randomized_responses(read(0.2), k, read(epsilon))
        assert read(priced.delta(epsilon)) >= truth * (1 - mp.mpf(10) ** -60)
    else:
        assert form.price in (gaussian, numerical, concentrated_and_sum, renyi)


def test_where_a_form_does_not_apply():
    bell, pure, rho = (GaussianLoss(1), 1), (PureLoss(1), 1), (ConcentratedLoss(1), 1)
    assert sum_of_epsilons((bell, pure)) is None
    assert gaussian((rho, bell)) is None
    assert gaussian((bell,)) == GaussianLoss(1)
    assert concentrated((bell, rho)) == ConcentratedLoss(1.5)
    assert concentrated_and_sum((bell, rho)) is None
    assert concentrated_and_sum((bell, pure)) == ShiftedLoss(
        ConcentratedLoss(0.5), ExactEpsilon(Fraction(1)), Fraction(0)
    )


@given(st.integers(1, 200), st.floats(1e-12, 0.1))
def test_slack_is_one_minus_the_product(count, delta):
    slack = total_slack(((ApproximateLoss(1, delta), count),))
    truth = -mp.expm1(count * mp.log1p(-read(delta)))
    assert truth * (1 - mp.mpf(10) ** -60) <= read(slack) <= truth * (1 + mp.mpf("1e-18"))


def test_a_shift_moves_the_curve():
    moved = ShiftedLoss(GaussianLoss(1), ExactEpsilon(Fraction(1, 2)), Fraction(0))
    assert moved.delta(1.5) == GaussianLoss(1).delta(1)
    assert_just_above(moved.delta(0.4), curves.gaussian(mp.mpf(1), read(-0.1)))
    assert moved.epsilon(1e-6) == pytest.approx(GaussianLoss(1).epsilon(1e-6) + 0.5, abs=1e-14)
    with pytest.raises(Unsupported):
        moved.group(2)


@given(st.floats(0, 3))
def test_below_the_shift_the_curve_goes_on(epsilon):
    """A Gaussian and randomized response: never below either of them alone."""
    both = ShiftedLoss(GaussianLoss(1), ExactEpsilon(Fraction(2)), Fraction(0))
    alone = curves.gaussian(mp.mpf(1), read(epsilon)), curves.pure(mp.mpf(2), read(epsilon))
    assert max(alone) <= read(both.delta(epsilon)) < 1
    assert both.delta(epsilon) >= both.delta(epsilon + 0.01)
