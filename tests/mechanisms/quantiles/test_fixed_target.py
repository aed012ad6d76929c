from fractions import Fraction as F

import pytest

from deniable.exact.bits import SYSTEM
from deniable.mechanisms.noise.laplace import LaplaceNoise
from deniable.mechanisms.quantiles.fixed_target import FixedTargetQuantiles
from deniable.privacy import PureLoss
from tests.mechanisms.quantiles.contract import MethodContract
from tests.mechanisms.quantiles.laws import (
    BITS,
    greatest,
    histogram,
    limit,
    mixed,
    neighbors,
    of_joint,
    of_places,
    spread_by_rank,
)

FAR = 60


class TestFixedTarget(MethodContract):
    """Here the law runs over the noisy counts too, up to those of no weight."""

    methods = (FixedTargetQuantiles((F(1, 4), F(3, 4)), F(10), "add-remove", 3, 0),)
    draws = 1_200

    def law(self, method, records):
        noise = LaplaceNoise(1 / method.count_epsilon)
        total = {}
        for z in range(-len(records), FAR):
            chance = noise.pmf(z, BITS) if z > -len(records) else self.at_most(noise, z)
            law = of_joint(method, records, len(records) + z)
            for key, (lo, hi) in law.items():
                low, high = total.get(key, (0, 0))
                total[key] = (low + (lo * chance[0] >> BITS), high + -(-hi * chance[1] >> BITS))
        return total

    def at_most(self, noise, z):
        """P(Z <= z) for z <= 0, where the count is cut to zero."""
        lo, hi = noise.outside(-z, BITS)
        at = noise.pmf(z, BITS)
        return at[0] + lo // 2, at[1] + -(-hi // 2)


@pytest.mark.parametrize("epsilon", [1, 4])
@pytest.mark.parametrize("quantiles", [(F(1, 2),), (F(1, 4), F(3, 4))], ids=str)
def test_each_choice_is_private_for_every_noisy_count(quantiles, epsilon):
    method = FixedTargetQuantiles(quantiles, F(epsilon), "add-remove", 4, 1)
    for rows in (0, 3, 6):
        pairs = neighbors("add-remove", 4, 4)
        _, most = greatest(lambda table, n=rows: of_joint(method, table, n), pairs)
        assert most <= limit(epsilon - method.count_epsilon)


def test_ties_spread_by_rank_are_not_private():
    method = FixedTargetQuantiles((F(1, 3), F(2, 3)), F(1), "add-remove", 1, 3)

    def law(table):
        targets = [share * 3 for share in method.shares]
        spread = spread_by_rank(table, method.place_bits)
        return mixed([of_places(some, targets, method.unit, 8) for some in spread])

    least, _ = greatest(law, neighbors("add-remove", 1, 4))
    assert least > limit(1)


def test_the_count_is_released_and_paid_for():
    method = FixedTargetQuantiles((F(1, 2),), F(20), "add-remove", 4, 1)
    assert (PureLoss(2), 1) in method.loss.parts
    assert abs(method.draw(histogram((1,) * 500, 4), SYSTEM).rows - 500) < 30
