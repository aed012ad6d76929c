from fractions import Fraction as F

from deniable.mechanisms.quantiles.independent import Independent
from tests.mechanisms.quantiles.contract import MethodContract
from tests.mechanisms.quantiles.laws import greatest, limit, neighbors, of_independent


class TestIndependent(MethodContract):
    methods = (
        Independent((F(1, 2),), F(1), "replace", 4),
        Independent((F(1, 2),), F(1), "add-remove", 4),
        Independent((F(9, 10),), F(1), "add-remove", 4),
        Independent((F(1, 4), F(2, 3)), F(2), "replace", 4),
        Independent((F(1, 4), F(2, 3)), F(2), "add-remove", 4),
    )

    def law(self, method, records):
        return of_independent(method, records)


class HalfAMedian(Independent):
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
