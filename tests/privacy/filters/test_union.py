"""The union filter: more than any of its filters grants, and still within its promise."""

import math
from fractions import Fraction

import pytest

from deniable.errors import BudgetExhausted, InvalidParameter, InvalidStoppingRule
from deniable.privacy import (
    ApproximateLoss,
    ConcentratedFilter,
    GaussianLoss,
    LossDistribution,
    PureFilter,
    PureLoss,
    UnionFilter,
    reserved,
)
from tests.privacy.adversary import best_excess
from tests.privacy.filters.test_adaptive import DEPTH, grants


def test_it_grants_what_any_of_them_grants():
    few = UnionFilter.within(epsilon=1, delta=1e-6)
    few.spend(PureLoss(1))  # only the pure sum has room for that
    assert len(few.remaining) == 1
    assert not few.room_for(GaussianLoss(0.001))
    many = UnionFilter.within(epsilon=1, delta=1e-6)
    for _ in range(60):  # the pure sum has room for none of these
        many.spend(GaussianLoss(0.025))
    with pytest.raises(BudgetExhausted, match="none of the filters"):
        many.spend(PureLoss(1))
    assert many.promise == ApproximateLoss(1, 1e-6)


def test_a_closed_filter_stays_closed():
    union = UnionFilter.within(epsilon=1, delta=1e-6)
    union.spend(GaussianLoss(0.1))
    assert len(union.remaining) == 2
    assert not union.room_for(PureLoss(0.99))


def test_its_filters_must_keep_their_shares():
    with pytest.raises(InvalidParameter, match="its own"):
        UnionFilter(PureFilter(2), epsilon=1, deltas=[0])
    with pytest.raises(InvalidParameter, match="its own"):
        UnionFilter(ConcentratedFilter(1), epsilon=1, deltas=[1e-6])
    with pytest.raises(InvalidParameter, match="one delta for each"):
        UnionFilter(PureFilter(1), epsilon=1, deltas=[])
    used = PureFilter(1)
    used.spend(PureLoss(0.1))
    with pytest.raises(InvalidParameter, match="must be new"):
        UnionFilter(used, epsilon=1, deltas=[0])


def test_it_refuses_curves_too():
    union = UnionFilter.within(epsilon=1, delta=1e-6)
    with pytest.raises(InvalidStoppingRule, match="fixed in advance"):
        union.spend(LossDistribution.of(GaussianLoss(0.01)))
    with pytest.raises(InvalidStoppingRule):
        union.room_for(0.3)
    union.spend(reserved(GaussianLoss(0.01) * 5, delta=1e-9))


@pytest.mark.parametrize(
    ("epsilon", "delta", "menu"),
    [
        (1.0, 0.1, [Fraction(5, 4), Fraction(3, 2), Fraction(2), Fraction(27, 10)]),
        (2.0, 0.1, [Fraction(3, 2), Fraction(2), Fraction(3), Fraction(7)]),
        (1.0, 0.2, [Fraction(4, 3), Fraction(2), Fraction(5, 2)]),
    ],
)
def test_no_adversary_beats_the_union(epsilon, delta, menu):
    odds = Fraction(math.exp(epsilon)) * (1 - Fraction(1, 2**50))
    union = grants(lambda: UnionFilter.within(epsilon=epsilon, delta=delta))
    reached = best_excess(menu, union, odds, DEPTH)
    assert 0 < reached <= Fraction(delta)
    alone = grants(lambda: PureFilter(epsilon))
    assert reached > best_excess(menu, alone, odds, DEPTH)  # the others do grant more
