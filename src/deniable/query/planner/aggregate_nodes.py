"""Aggregates as post-processing: which node computes each from noisy features."""

from dataclasses import dataclass
from fractions import Fraction
from math import comb

from deniable.query.language.syntax_tree import Aggregate
from deniable.query.plan.plan import (
    Chosen,
    Feature,
    Node,
    Number,
    Operation,
)
from deniable.query.planner.draft import Draft
from deniable.query.statements.statistics import Statistic

UNITS = Feature("units", -1)  # counted to choose private keys; no block pays for it
_ONE, _ZERO = Number(Fraction(1)), Number(Fraction(0))


def build_nodes(draft: Draft) -> None:
    """A step of the planner: a node for every aggregate of the question."""
    measured = {}
    for place, statistic in enumerate(draft.statistics):
        features = tuple(Feature(name, place) for name in statistic.feature_names(place))
        kind = MeasuredStatistic if statistic.second is None else MeasuredPair
        measured[statistic] = kind(statistic, features)
    draft.nodes |= dict.fromkeys(draft.free, UNITS)
    for aggregate, statistic in draft.statistic_of.items():
        draft.nodes[aggregate] = measured[statistic].node(aggregate)
    for aggregate, choice in draft.choice_of.items():
        place = draft.unpriced.index(choice)
        value = choice.levels.index(choice.level_of(aggregate)) if choice.levels else 0
        draft.nodes[aggregate] = Chosen(choice.names(place)[value], place)


@dataclass(frozen=True, slots=True)
class MeasuredStatistic:
    """A statistic with its noisy features, and the aggregates read from them."""

    statistic: Statistic
    features: tuple[Feature, ...]

    def node(self, aggregate: Aggregate) -> Node:
        """The aggregate as post-processing of the noisy features; a histogram's first bin."""
        if aggregate.name == "histogram":
            return self.features[0]
        if aggregate.name in ("count", "count_units"):
            return self._count(rows=aggregate.argument is None)
        if aggregate.name in ("sum", "sum_distinct"):
            return self._sum()
        if aggregate.name == "avg":
            return Operation("/", (self._sum(), self._count(rows=False)))
        return self._spread(aggregate.name)

    def _weighted(self, *weights: Fraction | int) -> Node:
        return _weighted_sum(list(zip(map(Fraction, weights), self.features, strict=False)))

    def _count(self, *, rows: bool) -> Node:
        """The number of all rows, or of rows whose argument is not NULL."""
        features = len(self.features) - (self.statistic.unknown and not rows)
        return self._weighted(*[Fraction(1, self.statistic.total)] * features)

    def _sum(self) -> Node:
        low, width, step = self.statistic.low, self.statistic.width, self.statistic.step
        high = low + width
        if self.statistic.kind in ("sum", "distinct sum"):
            return self._weighted(step)
        if self.statistic.kind == "mean":
            return self._weighted(step * low / width, step * high / width)
        square = width**2
        middle = Fraction(low + high, 2)
        return self._weighted(step * low / square, step * middle / square, step * high / square)

    def _spread(self, name: str) -> Node:
        width, step = self.statistic.width, self.statistic.step
        count = self._count(rows=False)
        values = self._weighted(0, Fraction(1, 2 * width), Fraction(1, width))
        mean = Operation("/", (values, count))
        square = Operation("/", (self.features[2], count))
        spread: Node = Operation("-", (square, Operation("*", (mean, mean))))
        spread = Operation("greatest", (Operation("*", (Number(step**2), spread)), _ZERO))
        if name.endswith("samp"):
            spread = _correct_for_sample(spread, count)
        return Operation("sqrt", (spread,)) if name.startswith("stddev") else spread


@dataclass(frozen=True, slots=True)
class MeasuredPair:
    """The noisy features of two columns (`statements.column_pairs`), and what is read from
    them. Sums and means are of t / W and s / V, which lie between 0 and 1."""

    statistic: Statistic
    features: tuple[Feature, ...]

    def node(self, aggregate: Aggregate) -> Node:
        """The aggregate of (first, second) as post-processing."""
        first, second = self.statistic, self.statistic.second
        assert second is not None
        y, x = Fraction(first.width * first.step), Fraction(second.width * second.step)
        if aggregate.name == "corr":
            spread = Operation("*", (self._variance(0), self._variance(1)))
            return Operation("/", (self._covariance(), Operation("sqrt", (spread,))))
        if aggregate.name.startswith("covar"):
            covariance: Node = Operation("*", (Number(x * y), self._covariance()))
            if aggregate.name == "covar_samp":
                covariance = _correct_for_sample(covariance, self._count())
            return covariance
        ratio = Operation("/", (self._covariance(), self._variance(1)))
        if aggregate.name == "regr_slope":
            return Operation("*", (Number(y / x), ratio))
        # The intercept is y at x = 0.
        start = Fraction(first.low * first.step)
        offset = Number(Fraction(second.low * second.step) / x)
        rise = Operation("*", (ratio, Operation("+", (self._mean(0, 1), offset))))
        share = Operation("-", (self._mean(1, 0), rise))
        return Operation("+", (Number(start), Operation("*", (Number(y), share))))

    def _count(self) -> Node:
        return self._sum(0, 0)

    def _mean(self, first: int, second: int) -> Node:
        """The mean over rows of (t / W)**first (s / V)**second."""
        return Operation("/", (self._sum(first, second), self._count()))

    def _covariance(self) -> Node:
        product = Operation("*", (self._mean(1, 0), self._mean(0, 1)))
        return Operation("-", (self._mean(1, 1), product))

    def _variance(self, place: int) -> Node:
        once, twice = ((1, 0), (2, 0)) if place == 0 else ((0, 1), (0, 2))
        mean = self._mean(*once)
        spread = Operation("-", (self._mean(*twice), Operation("*", (mean, mean))))
        return Operation("greatest", (spread, _ZERO))

    def _sum(self, first: int, second: int) -> Node:
        """The sum over rows of (t / W)**first (s / V)**second."""
        a, b = self.statistic.degrees
        weights = [
            _power(i, a, first) * _power(j, b, second) / self.statistic.total
            for i in range(a + 1)
            for j in range(b + 1)
        ]
        return _weighted_sum(list(zip(weights, self.features, strict=True)))


def _power(i: int, degree: int, power: int) -> Fraction:
    """The weight of the i-th Bernstein polynomial in a power.

    >>> [float(_power(i, 2, 1)) for i in range(3)], [float(_power(i, 2, 2)) for i in range(3)]
    ([0.0, 0.5, 1.0], [0.0, 0.0, 1.0])
    """
    return Fraction(comb(i, power), comb(degree, power))


def _correct_for_sample(spread: Node, count: Node) -> Node:
    """Bessel's correction: times n / (n - 1)."""
    fewer = Operation("-", (count, _ONE))
    return Operation("*", (spread, Operation("/", (count, fewer))))


def _weighted_sum(terms: list[tuple[Fraction, Feature]]) -> Node:
    nodes: list[Node] = [
        feature if weight == 1 else Operation("*", (Number(weight), feature))
        for weight, feature in terms
        if weight
    ]
    if not nodes:
        return _ZERO
    total = nodes[0]
    for node in nodes[1:]:
        total = Operation("+", (total, node))
    return total
