"""Two columns set against one another: CORR, COVAR_POP, COVAR_SAMP, REGR_SLOPE, REGR_INTERCEPT.

Both columns are cut to their limits, so that t = x - low lies between 0 and W, and s of the
other between 0 and V. The products of Bernstein polynomials of the two,

    C(a, i) t**i (W - t)**(a - i) * C(b, j) s**j (V - s)**(b - j),   0 <= i <= a, 0 <= j <= b,

are non-negative integers and add up to W**a V**b in every row: one payment for all of them.
The number of rows where both are known, both means, the mean of the product and, where a or b
is 2, the mean squares are weighted sums of these. Covariances take degrees (1, 1), a slope
(2, 1), a correlation (2, 2).

A slope could also be the median of the slopes of pairs of rows, which a few wild rows cannot
bend. But pairs must be chosen without looking at the data, and a table in a database has no
order to choose them by that adding one row leaves as it is; and here no row is wild, because
both columns are cut. So moments it is.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import comb

from sqlglot import exp

from deniable.query.language.expressions import Aggregate
from deniable.query.plan.plan import (
    Feature,
    Node,
    Number,
    Operation,
)
from deniable.query.relations.functions import Sql
from deniable.query.relations.sql_terms import column, number
from deniable.query.statements.statistics import Statistic, linear

DEGREES = {
    "covar_pop": (1, 1),
    "covar_samp": (1, 1),
    "regr_slope": (1, 2),
    "regr_intercept": (1, 2),
    "corr": (2, 2),
}
_ONE, _ZERO = Number(Fraction(1)), Number(Fraction(0))


@dataclass(frozen=True, slots=True)
class ColumnPair:
    """The noisy features of a pair, and the aggregates read from them."""

    statistic: Statistic
    features: tuple[Feature, ...]

    def node(self, aggregate: Aggregate) -> Node:
        """The aggregate of (first, second) as post-processing."""
        first, second = self.statistic, self.statistic.beside
        assert second is not None
        y, x = (Fraction(one.width * one.step) for one in (first, second))
        if aggregate.name == "corr":
            spread = Operation("*", (self._variance(0), self._variance(1)))
            return Operation("/", (self._covariance(), Operation("sqrt", (spread,))))
        if aggregate.name.startswith("covar"):
            made: Node = Operation("*", (Number(x * y), self._covariance()))
            if aggregate.name == "covar_samp":
                fewer = Operation("-", (self._count(), _ONE))
                made = Operation("*", (made, Operation("/", (self._count(), fewer))))
            return made
        ratio = Operation("/", (self._covariance(), self._variance(1)))
        if aggregate.name == "regr_slope":
            return Operation("*", (Number(y / x), ratio))
        # y at x = 0, from the means as shares of their ranges.
        start = Fraction(first.low * first.step)
        behind = Fraction(second.low * second.step) / x
        far = Operation("*", (ratio, Operation("+", (self._mean(0, 1), Number(behind)))))
        within = Operation("-", (self._mean(1, 0), far))
        return Operation("+", (Number(start), Operation("*", (Number(y), within))))

    def _count(self) -> Node:
        return self._sum(0, 0)

    def _mean(self, first: int, second: int) -> Node:
        """The mean of a product of powers, both counted from their lower limit in ranges."""
        return Operation("/", (self._sum(first, second), self._count()))

    def _covariance(self) -> Node:
        product = Operation("*", (self._mean(1, 0), self._mean(0, 1)))
        return Operation("-", (self._mean(1, 1), product))

    def _variance(self, place: int) -> Node:
        one, two = ((1, 0), (2, 0)) if place == 0 else ((0, 1), (0, 2))
        mean = self._mean(*one)
        spread = Operation("-", (self._mean(*two), Operation("*", (mean, mean))))
        return Operation("greatest", (spread, _ZERO))

    def _sum(self, first: int, second: int) -> Node:
        """The sum over rows of (t / W)**first (s / V)**second."""
        a, b = self.statistic.degrees
        weights = [
            _power(i, a, first) * _power(j, b, second) / self.statistic.total
            for i in range(a + 1)
            for j in range(b + 1)
        ]
        return linear(list(zip(weights, self.features, strict=True)))


def _power(i: int, degree: int, power: int) -> Fraction:
    """The weight of the i-th Bernstein polynomial in a power.

    >>> [float(_power(i, 2, 1)) for i in range(3)], [float(_power(i, 2, 2)) for i in range(3)]
    ([0.0, 0.5, 1.0], [0.0, 0.0, 1.0])
    """
    return Fraction(comb(i, power), comb(degree, power))


def products(i: int, statistic: Statistic) -> list[Sql]:
    """The features of one row; NULL where either argument is."""
    beside = statistic.beside
    assert beside is not None
    own = _polynomials(column(f"x{i}"), statistic, statistic.degrees[0])
    other = _polynomials(column(f"x{i}b"), beside, statistic.degrees[1])
    return [exp.Mul(this=one.copy(), expression=two.copy()) for one in own for two in other]


def _polynomials(value: Sql, one: Statistic, degree: int) -> list[Sql]:
    """Bernstein polynomials of a value in 64 bits, counted from its lower limit."""
    big = exp.cast(value, "bigint", copy=False)
    t: Sql = big
    if one.low:
        t = exp.paren(exp.Sub(this=big, expression=number(one.low)))
    rest = exp.paren(exp.Sub(this=number(one.low + one.width), expression=big.copy()))
    found: list[Sql] = []
    for i in range(degree + 1):
        factors = [t] * i + [rest] * (degree - i)
        if comb(degree, i) > 1:
            factors.insert(0, number(comb(degree, i)))
        made = factors[0].copy()
        for factor in factors[1:]:
            made = exp.Mul(this=made, expression=factor.copy())
        found.append(exp.paren(made))
    return found
