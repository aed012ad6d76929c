"""The optimal composition of equal pure losses, against sums of exact probabilities."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.privacy import PureLoss
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.compose.repeated import RepeatedLoss
from tests.privacy import curves
from tests.privacy.contract import mp, read


@pytest.mark.parametrize(
    ("count", "known"), [(10, "0.999370905722"), (30, "2.34588769301"), (100, "4.77456758811")]
)
def test_known_numbers(count, known):
    loss = PureLoss(0.1) * count
    digits = len(known.split(".")[1])
    assert f"{loss.epsilon(1e-6):.{digits}f}" == known
    assert loss.epsilon() == count / 10


@given(st.integers(1, 80), st.floats(0.01, 4), st.floats(0, 1))
def test_delta_is_the_sum_itself(count, each, part):
    loss = RepeatedLoss(PureLoss(each).exact_epsilon, count)
    epsilon = Fraction(repr(part)) * Fraction(repr(each)) * count
    truth = curves.randomized_responses(
        read(each), count, mp.mpf(epsilon.numerator) / epsilon.denominator
    )
    exact = ExactEpsilon(epsilon)
    assert (
        mp.mpf(str(loss._delta_below(exact))) <= truth <= mp.mpf(str(loss._delta_above(exact)))
    )
    if truth > mp.mpf(10) ** -300:
        assert mp.mpf(str(loss._delta_above(exact))) <= truth * (1 + mp.mpf(10) ** -18)


@given(st.integers(1, 200), st.floats(0.01, 2), st.floats(1e-15, 0.5))
def test_epsilon_is_enclosed_closely(count, each, delta):
    loss = RepeatedLoss(PureLoss(each).exact_epsilon, count)
    low, high = loss.epsilon_bounds(delta)
    assert low <= high <= low * (1 + 1e-12) + 1e-15
    assert curves.randomized_responses(read(each), count, read(high)) <= read(delta)


@pytest.mark.parametrize("delta", [0.1, 1e-6, 1e-15])
def test_a_million_is_finite_and_monotone(delta):
    epsilons = [
        RepeatedLoss(ExactEpsilon(Fraction(1, 1000)), 10**k).epsilon(delta) for k in range(7)
    ]
    assert epsilons == sorted(epsilons)
    assert 0 <= epsilons[-1] < 20
    assert (
        RepeatedLoss(ExactEpsilon(Fraction(1, 1000)), 10**6 + 1).epsilon(delta) > epsilons[-1]
    )
