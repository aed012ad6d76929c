"""What losses share: the search for the trade-off."""

from fractions import Fraction

import pytest

from deniable.privacy import ConcentratedLoss, GaussianLoss
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.compose.composition_forms import ShiftedLoss
from deniable.privacy.losses.loss import Loss


@pytest.mark.parametrize("mu", [0.01, 1, 8])
@pytest.mark.parametrize("alpha", [1e-40, 1e-3, 0.4, 0.96875])
def test_the_search_finds_the_gaussian_curve(mu, alpha):
    loss = GaussianLoss(mu)
    searched = float(Loss._tradeoff_below(loss, Fraction(alpha)))
    assert searched == pytest.approx(loss.tradeoff(alpha), rel=1e-6, abs=1e-12)
    assert searched <= loss.tradeoff(alpha) * (1 + 1e-12)


def test_the_search_is_not_lost_on_a_plateau():
    shifted = ShiftedLoss(GaussianLoss(0.5), ExactEpsilon(Fraction(1)), Fraction(0))
    assert shifted.tradeoff(0.96875) > 0.001
    assert shifted.tradeoff(Fraction(1, 10**400)) > 0.9
    assert ConcentratedLoss(200).tradeoff(1e-250) > 0.5
