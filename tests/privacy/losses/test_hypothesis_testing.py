"""Readings are upper bounds: right to the digit where rational, never below the truth."""

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidParameter, Unsupported
from deniable.privacy import GaussianLoss, PureLoss
from deniable.privacy.losses.hypothesis_testing import (
    accuracy,
    detection,
    exact_posterior,
    odds_factor,
    posterior,
    posterior_odds,
)

PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
EPSILONS = st.fractions(min_value=Fraction(1, 100), max_value=40, max_denominator=1000)
SHARES = st.fractions(min_value=0, max_value=1, max_denominator=10**6)


# In per cent, for guesses of 1, 10 and 50 %; computed with mpmath at 30 digits.
CEILINGS = {
    PureLoss(0.5): (1.6380946, 15.4828099, 62.2459331),
    PureLoss(1): (2.6723631, 23.1969317, 73.1058579),
    PureLoss(1.1): (2.9451405, 25.0260286, 75.0260106),
    PureLoss(odds=3): (2.9411765, 25.0, 75.0),
    PureLoss(2): (6.9453160, 45.0853060, 88.0797078),
    PureLoss(4): (35.5460987, 85.8486450, 98.2013790),
}


@pytest.mark.parametrize(("loss", "percents"), CEILINGS.items(), ids=repr)
def test_known_ceilings(loss, percents):
    ceilings = [float(100 * exact_posterior(loss, prior)) for prior in PRIORS]
    assert ceilings == pytest.approx(percents, abs=5.1e-8)


def test_rational_odds_are_exact():
    assert exact_posterior(PureLoss(odds=3), 0.3) == Fraction(9, 16)
    assert exact_posterior(PureLoss(odds=Fraction(7, 3)), 0.3) == Fraction(1, 2)
    assert odds_factor(PureLoss(odds=3) * 3) == 27
    assert accuracy(PureLoss(odds=3)) == Fraction(3, 4)


@given(EPSILONS, SHARES)
def test_never_below_the_truth_and_close_to_it(epsilon, prior):
    with mpmath.workdps(50):
        odds = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        guess = mpmath.mpf(prior.numerator) / prior.denominator
        truth = odds * guess / (1 - guess + odds * guess)
        ceiling = exact_posterior(PureLoss(epsilon), prior)
        gap = mpmath.mpf(ceiling.numerator) / ceiling.denominator - truth
    assert -1e-45 <= gap <= 1e-40


@given(EPSILONS, SHARES)
def test_a_guess_never_falls_below_itself(epsilon, prior):
    assert prior <= exact_posterior(PureLoss(epsilon), prior) <= 1


@pytest.mark.parametrize("prior", [0, 1])
def test_certainty_does_not_move(prior):
    assert exact_posterior(PureLoss(5), prior) == prior
    assert exact_posterior(GaussianLoss(1), prior) == prior


def test_no_loss_moves_nothing():
    assert exact_posterior(PureLoss(0), 0.3) == Fraction(3, 10)
    assert odds_factor(PureLoss(0)) == 1
    assert accuracy(PureLoss(0)) == Fraction(1, 2)


def test_a_gaussian_bounds_nothing_without_a_delta():
    loss = GaussianLoss(1)
    assert exact_posterior(loss, 0.01) == 1
    assert exact_posterior(loss, 0.01, delta=1e-6) < 1
    with pytest.raises(Unsupported, match="delta=1e-6"):
        odds_factor(loss)


def test_accuracy_against_gaussian_noise():
    """Two normals a distance mu apart: the best test is right Phi(mu / 2) of the time."""
    truth = (1 + math.erf(0.5 / math.sqrt(2))) / 2
    assert truth <= float(accuracy(GaussianLoss(1))) <= truth + 1e-12


@pytest.mark.parametrize("prior", [-0.1, 1.1, math.nan, "often"])
def test_a_prior_is_a_probability(prior):
    with pytest.raises(InvalidParameter, match="prior"):
        exact_posterior(PureLoss(1), prior)


@given(EPSILONS, SHARES)
def test_no_test_beats_the_roc_bound_and_randomized_response_meets_it(epsilon, alarms):
    loss = PureLoss(epsilon)
    with mpmath.workdps(50):
        odds = mpmath.e ** (mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        a = mpmath.mpf(alarms.numerator) / alarms.denominator
        best = min(odds * a, 1 - (1 - a) / odds)
        ceiling = mpmath.mpf(repr(detection(loss, alarms)))
        assert best - mpmath.mpf("1e-40") <= ceiling <= best + mpmath.mpf("1e-14")


def test_posterior_odds():
    assert posterior_odds(PureLoss(odds=3) * 2, 1) == 9
    assert posterior_odds(PureLoss(odds=3).group(3), Fraction(1, 27)) == 1
    with pytest.raises(InvalidParameter):
        posterior_odds(PureLoss(1), -1)


def test_a_number_is_an_epsilon_and_the_float_is_never_below_the_exact_bound():
    ceiling = posterior(1, prior=0.1)
    assert isinstance(ceiling, float)
    assert ceiling.exact == exact_posterior(PureLoss(1), 0.1)
    assert 0 <= Fraction(float(ceiling)) - ceiling.exact < Fraction(1, 10**15)
    assert posterior(PureLoss(odds=3), 0.1) == 0.25
    assert posterior(10_000, prior=0.5) <= 1
    with pytest.raises(InvalidParameter, match="epsilon"):
        posterior(-1, prior=0.5)
