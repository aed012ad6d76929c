from fractions import Fraction as F

import pytest

from deniable.mechanisms.quantiles.joint import JointQuantiles
from tests.mechanisms.quantiles.contract import MethodContract
from tests.mechanisms.quantiles.laws import (
    greatest,
    limit,
    mixed,
    neighbors,
    of_joint,
    of_places,
    spread_by_chance,
    spread_by_rank,
)


class TestJoint(MethodContract):
    methods = (
        JointQuantiles((F(1, 2),), F(1), "replace", 4, 1),
        JointQuantiles((F(1, 4), F(3, 4)), F(1), "replace", 4, 1),
        JointQuantiles((F(1, 4), F(3, 4)), F(1), "add-remove", 4, 1),
        JointQuantiles((F(1, 5), F(1, 2), F(4, 5)), F(2), "add-remove", 3, 1),
    )

    def law(self, method, records):
        return of_joint(method, records)


def places(method, records, spread):
    targets = [share * len(records) for share in method.shares]
    total = method.size << method.place_bits
    laws = [
        of_places(some, targets, method.unit, total)
        for some in spread(records, method.place_bits)
    ]
    return mixed(laws)


@pytest.mark.parametrize("epsilon", [1, 4])
def test_ties_spread_by_rank_are_not_private(epsilon):
    """The tuple of places, released whole: one more record moves all the others."""
    thirds = (F(1, 4), F(1, 2), F(3, 4))
    method = JointQuantiles(thirds, F(epsilon), "replace", 2, 3)
    pairs = list(neighbors("replace", 2, 4))
    least, _ = greatest(lambda table: places(method, table, spread_by_rank), pairs)
    assert least > limit(epsilon)


def test_ties_spread_by_chance_are():
    method = JointQuantiles((F(1, 3), F(2, 3)), F(1), "replace", 2, 2)
    pairs = list(neighbors("replace", 2, 4))
    _, most = greatest(lambda table: places(method, table, spread_by_chance), pairs)
    assert most <= limit(1)


def test_units():
    nine = tuple(F(k, 10) for k in range(1, 10))
    assert JointQuantiles(nine, F(1), "replace", 10).unit == F(1, 4)
    assert JointQuantiles(nine, F(1), "add-remove", 10).unit == F(1, 4) / F(9, 10)
