"""Parallel releases: the worst part, or the worst pair where a record can move."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidParameter, MissingRelation, Unsupported
from deniable.privacy import (
    ApproximateLoss,
    ConcentratedLoss,
    GaussianLoss,
    PureLoss,
    parallel,
)
from tests.privacy import curves
from tests.privacy.contract import LossContract, deltas, epsilons, mp, read


class TestAddRemove(LossContract):
    loss = parallel(PureLoss(1), GaussianLoss(0.5), PureLoss(0.5), neighbors="add-remove")
    other = PureLoss(0.5)
    convex = False  # which neighbours are the worst differs along the curve

    def truth(self, epsilon):
        return max(curves.pure(mp.mpf(1), epsilon), curves.gaussian(read(0.5), epsilon))


class TestReplace(LossContract):
    loss = parallel(GaussianLoss(0.6), GaussianLoss(0.8), neighbors="replace")
    other = PureLoss(0.5)

    def truth(self, epsilon):
        return curves.gaussian(mp.mpf(1), epsilon)


@given(epsilons, deltas)
def test_the_worst_pair_counts_under_replace(epsilon, delta):
    a, b, c = PureLoss(0.4), GaussianLoss(0.3), ApproximateLoss(0.2, 1e-7)
    moved = parallel(a, b, c, neighbors="replace")
    pairs = (a + b, a + c, b + c)
    assert moved.delta(epsilon) == max(pair.delta(epsilon) for pair in pairs)
    assert moved.epsilon(delta) == max(pair.epsilon(delta) for pair in pairs)


def test_two_equal_parts_cost_twice_when_a_record_moves():
    cells = [PureLoss(0.5)] * 1000
    assert parallel(*cells, neighbors="add-remove").epsilon() == 0.5
    assert parallel(*cells, neighbors="replace").epsilon() == 1.0
    assert parallel(PureLoss(0.5), neighbors="replace").epsilon() == 0.5


def test_many_different_parts():
    cells = [PureLoss(k / 1000) for k in range(1, 1001)]
    assert parallel(*cells, neighbors="replace").epsilon() == 1.999
    mixed = [ApproximateLoss(k, 1e-6) for k in range(1000)]
    with pytest.raises(Unsupported, match="too many"):
        parallel(*mixed, neighbors="replace").epsilon(1e-3)


def test_groups_may_gather_or_spread():
    cells = parallel(ConcentratedLoss(0.5), ConcentratedLoss(0.4), neighbors="add-remove")
    assert cells.group(2).rho == 2  # both in the first part: 4 * 0.5
    moved = parallel(ConcentratedLoss(0.5), ConcentratedLoss(0.4), neighbors="replace")
    assert moved.rho == ConcentratedLoss(0.9).rho
    assert moved.group(2).rho == ConcentratedLoss(3.6).rho
    assert cells.group(2).group(3) == cells.group(6)


def test_charges_are_the_worst():
    cells = parallel(PureLoss(1), GaussianLoss(2), neighbors="add-remove")
    assert (cells.exact_epsilon, cells.mu_squared, cells.rho) == (None, None, 2)
    assert parallel(GaussianLoss(1), GaussianLoss(2), neighbors="replace").mu_squared == 5


def test_order_does_not_matter():
    a, b = PureLoss(1), GaussianLoss(1)
    assert parallel(a, b, neighbors="replace") == parallel(b, a, neighbors="replace")
    assert parallel(a, b, neighbors="replace") != parallel(a, b, neighbors="add-remove")


def test_the_relation_is_demanded():
    with pytest.raises(MissingRelation, match="add-remove"):
        parallel(PureLoss(1))
    with pytest.raises(InvalidParameter, match="at least one"):
        parallel(neighbors="replace")
    with pytest.raises(InvalidParameter, match="must be a loss"):
        parallel(0.1, neighbors="replace")


@given(st.lists(st.integers(1, 9), min_size=2, max_size=6))
def test_pure_parts_by_hand(tenths):
    cells = [PureLoss(n / 10) for n in tenths]
    first, second = sorted(tenths)[-1:-3:-1]
    assert parallel(*cells, neighbors="add-remove").epsilon() == first / 10
    assert parallel(*cells, neighbors="replace").epsilon() == (first + second) / 10
