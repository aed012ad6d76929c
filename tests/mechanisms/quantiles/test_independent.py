from fractions import Fraction as F

import numpy as np

from deniable.exact.bits import SYSTEM
from deniable.mechanisms.histogram import Histogram
from deniable.mechanisms.quantiles.independent import IndependentQuantiles
from tests.mechanisms.quantiles.contract import MethodContract
from tests.mechanisms.quantiles.laws import greatest, limit, neighbors, of_independent


class TestIndependent(MethodContract):
    methods = (
        IndependentQuantiles((F(1, 2),), F(1), "replace", 4),
        IndependentQuantiles((F(1, 2),), F(1), "add-remove", 4),
        IndependentQuantiles((F(9, 10),), F(1), "add-remove", 4),
        IndependentQuantiles((F(1, 4), F(2, 3)), F(2), "replace", 4),
        IndependentQuantiles((F(1, 4), F(2, 3)), F(2), "add-remove", 4),
    )

    def law(self, method, records):
        return of_independent(method, records)


class HalfAMedian(IndependentQuantiles):
    """The classic mistake: the sensitivity 1/2 of add-remove, claimed under replace."""

    def unit(self, quantile):
        return self.epsilon


def test_half_the_sensitivity_is_for_add_remove_only():
    median = (F(1, 2),)
    fair = HalfAMedian(median, F(1), "add-remove", 4)
    _, most = greatest(lambda t: of_independent(fair, t), neighbors("add-remove", 4, 4))
    assert most <= limit(1)
    unfair = HalfAMedian(median, F(1), "replace", 4)
    least, _ = greatest(lambda t: of_independent(unfair, t), neighbors("replace", 4, 4))
    assert least > limit(1)


def test_a_quantile_with_many_digits_is_no_less_private():
    """1/3 as a float has a denominator of 10**16: with 2767 rows its ranks leave int64."""
    for rows in (2766, 2767, 4999):
        data = Histogram(10, np.array([2]), np.array([rows]))
        method = IndependentQuantiles((F("0.3333333333333333"),), F(1), "replace", 10)
        assert {method.draw(data, SYSTEM).cells[0] for _ in range(20)} == {2}
