"""The union filter: more than any of its filters grants, and still within its promise."""

import math
from copy import deepcopy
from fractions import Fraction

import pytest

from deniable.errors import BudgetExhausted, InvalidParameter, InvalidStoppingRule
from deniable.privacy import (
    ApproximateLoss,
    ConcentratedFilter,
    ConcentratedLoss,
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
        (1.0, 0.3, [Fraction(5, 4), Fraction(3, 2), Fraction(2), Fraction(27, 10)]),
        (2.0, 0.3, [Fraction(3, 2), Fraction(2), Fraction(3), Fraction(7)]),
        (1.0, 0.6, [Fraction(4, 3), Fraction(2), Fraction(5, 2)]),
    ],
)
def test_no_adversary_beats_the_union(epsilon, delta, menu):
    odds = Fraction(math.exp(epsilon)) * (1 - Fraction(1, 2**50))
    union = grants(lambda: UnionFilter.within(epsilon=epsilon, delta=delta))
    reached = best_excess(menu, union, odds, DEPTH)
    assert 0 < reached <= Fraction(delta) / 3  # two thirds are for deltas, and none are spent
    alone = grants(lambda: PureFilter(epsilon))
    assert reached > best_excess(menu, alone, odds, DEPTH)  # the others do grant more


def with_disclosures(menu, fresh, odds, depth):
    """The greatest delta at ln(odds) that any strategy reaches, if a release may disclose
    everything with some probability: choices are odds with a delta."""

    def best(filter_, p, q, left):
        excess = max(Fraction(0), p - odds * q)
        for choice, delta in menu if left else ():
            loss = ApproximateLoss(delta=delta, odds=choice)
            if not filter_.room_for(loss):
                continue
            after = deepcopy(filter_)
            after.spend(loss)
            truth, lie = choice / (1 + choice), 1 / (1 + choice)
            rest = (1 - delta) * p, (1 - delta) * q
            reached = delta * p  # disclosed: impossible under the other table
            reached += best(after, rest[0] * truth, rest[1] * lie, left - 1)
            reached += best(after, rest[0] * lie, rest[1] * truth, left - 1)
            excess = max(excess, reached)
        return excess

    return best(fresh(), Fraction(1), Fraction(1), depth)


def test_no_adversary_beats_the_union_by_disclosures():
    """Deltas have one share for several filters, and some strategy uses most of it."""
    menu = [(Fraction(5, 4), Fraction(0)), (Fraction(5, 4), Fraction(1, 25))]
    odds = Fraction(math.exp(1)) * (1 - Fraction(1, 2**50))
    reached = with_disclosures(menu, lambda: UnionFilter.within(epsilon=1, delta=0.3), odds, 4)
    assert Fraction(1, 25) < reached <= Fraction(3, 10)


def test_deltas_of_releases_are_shared_and_limited():
    union = UnionFilter.within(epsilon=1, delta=3e-6)
    union.spend(ApproximateLoss(0.01, 1e-6))
    assert [left.slack for left in union.remaining] == [0, 0, 0]
    assert union.room_for(GaussianLoss(0.01))
    assert not union.room_for(ApproximateLoss(0.01, 1e-9))


def test_some_kinds_of_filters():
    assert len(UnionFilter.within(epsilon=1, delta=1e-6, kinds=["zcdp"]).filters) == 1
    with pytest.raises(InvalidParameter, match="kinds"):
        UnionFilter.within(epsilon=1, delta=1e-6, kinds=["renyi"])


def test_filters_that_share_delta_charge_alike():
    """A reserved plan goes by its parts, or by its price, in all filters of one share."""
    plan = reserved(ConcentratedLoss(0.0005), delta=1e-8)  # by its parts, it has no mu
    union = UnionFilter.within(epsilon=1, delta=1e-6, kinds=["zcdp", "gdp"])
    union.spend(plan)
    assert [member._spent.slack for member in union.filters] == [plan.slack, plan.slack]
