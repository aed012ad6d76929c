from fractions import Fraction as F

from deniable.mechanisms.quantiles.recursive import RecursiveQuantiles
from tests.mechanisms.quantiles.contract import MethodContract
from tests.mechanisms.quantiles.laws import greatest, limit, neighbors, of_recursive


class TestRecursive(MethodContract):
    methods = (
        RecursiveQuantiles((F(1, 2),), F(1), "replace", 4, 1),
        RecursiveQuantiles((F(1, 4), F(1, 2), F(3, 4)), F(2), "add-remove", 4, 1),
        RecursiveQuantiles((F(1, 4), F(1, 2), F(3, 4)), F(2), "replace", 4, 1),
        RecursiveQuantiles((F(1, 10), F(1, 2), F(3, 5)), F(2), "replace", 4, 0),
        RecursiveQuantiles((F(1, 10), F(1, 2), F(3, 5)), F(2), "add-remove", 4, 0),
        RecursiveQuantiles((F(7, 10), F(8, 10), F(9, 10)), F(2), "replace", 4, 0),
    )

    def law(self, method, records):
        return of_recursive(method, records)


class Unaware(RecursiveQuantiles):
    """Takes the sensitivity of add-remove under replace."""

    def unit(self, quantile, *, root=False):
        return self.epsilon / self.levels / (2 * max(quantile, 1 - quantile))


def test_the_relation_matters():
    method = Unaware((F(1, 2),), F(1), "replace", 4, 1)
    pairs = neighbors("replace", 4, 4)
    least, _ = greatest(lambda table: of_recursive(method, table), pairs)
    assert least > limit(1)


def test_levels():
    for count, levels in [(1, 1), (3, 2), (4, 3), (7, 3), (9, 4), (29, 5), (63, 6)]:
        quantiles = tuple(F(k, count + 1) for k in range(1, count + 1))
        assert RecursiveQuantiles(quantiles, F(1), "replace", 10).levels == levels
