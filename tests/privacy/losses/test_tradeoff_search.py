"""The search for the best trade-off bound: what it skips could not have won."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from deniable.privacy import ConcentratedLoss, GaussianLoss, PureLoss
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.losses.tradeoff_search import TradeoffSearch

LOSSES = [PureLoss(odds=3), GaussianLoss(1), GaussianLoss(6), ConcentratedLoss(0.5)]
ALPHAS = [Fraction(1, 10**9), Fraction(1, 20), Fraction(1, 2), Fraction(19, 20)]
FAR = 30.0


def curve_of(loss):
    return lambda epsilon: loss._delta_above(ExactEpsilon(Fraction(epsilon)))


def greatest(loss, alpha, known):
    search = TradeoffSearch(curve_of(loss), alpha)
    return search.greatest(starts=(0.0,), far=FAR, known=known)


@pytest.mark.parametrize("alpha", ALPHAS, ids=float)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_no_bound_on_a_fine_grid_exceeds_the_result(loss, alpha):
    result, curve = float(greatest(loss, alpha, Decimal(0))), curve_of(loss)
    for k in range(121):
        epsilon = k / 8
        left = 1 - float(curve(epsilon))
        steep = left - math.exp(epsilon) * float(alpha)
        flat = (left - float(alpha)) * math.exp(-epsilon)
        assert max(steep, flat) <= result + 1e-9


@pytest.mark.parametrize("alpha", ALPHAS, ids=float)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_known_bound_is_kept_and_hides_no_greater_one(loss, alpha):
    alone = greatest(loss, alpha, Decimal(0))
    assert greatest(loss, alpha, alone * Decimal("0.999")) == alone
    assert greatest(loss, alpha, Decimal(1)) == 1


def test_a_bound_that_cannot_win_costs_few_evaluations():
    evaluated = []

    def curve(epsilon):
        evaluated.append(epsilon)
        return GaussianLoss(1)._delta_above(ExactEpsilon(Fraction(epsilon)))

    search = TradeoffSearch(curve, Fraction(1, 20))
    assert search.greatest(starts=(0.0,), far=FAR, known=Decimal("0.99")) == Decimal("0.99")
    assert len(evaluated) < 30
