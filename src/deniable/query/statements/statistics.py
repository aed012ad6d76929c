"""Which integers answer which aggregates: statistics that are measured once and paid once.

Non-negative features of a row that add up to at most a constant T cost as much as a single
one: whatever a row is, it moves them by T in all. So the count, sum and mean of a column come
from one block with the features (high - x, x - low, and T where x is NULL), T = high - low in
grid steps; the variance from the Bernstein features ((T - t)**2, 2 t (T - t), t**2) of degree
two, t = x - low, which add up to T**2 (Kulesza, Suresh & Wang 2024 for degree one).
"""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from deniable.privacy.neighbors import Neighbors
from deniable.query.language.expressions import Aggregate, Expression
from deniable.query.plan.contribution import Contribution
from deniable.query.plan.plan import (
    Feature,
    Node,
    Number,
    Operation,
)

# Grid steps of a column whose squares are measured. Their noise has up to the square of this as
# its scale, times the rows of a unit over epsilon, and 2**50 is the most that can be drawn.
ROUGHEST = 1 << 14
VARIANCES = {"var_samp", "var_pop", "stddev_samp", "stddev_pop"}


@dataclass(frozen=True, slots=True)
class Statistic:
    """The integers about one argument that a block measures, for one row or one unit.

    `low` and `high` limit the argument in grid steps; `unknown` adds a feature for rows where
    it is NULL, so that all rows are counted too.
    """

    kind: str  # "count", "present", "sum", "mean", "moments", "histogram", "units", "distinct"
    # or "pair"
    argument: Expression | None
    low: int = 0
    high: int = 1
    step: Fraction = Fraction(1)
    unknown: bool = False
    bins: tuple[str, ...] = ()  # labels of a histogram's bins
    beside: "Statistic | None" = None  # of a pair: the second argument, with its own limits
    degrees: tuple[int, int] = (1, 1)  # of a pair: how high the powers of each go

    @property
    def width(self) -> int:
        """The argument's range in steps, at least one."""
        return max(1, self.high - self.low)

    @property
    def total(self) -> int:
        """What one row's features add up to, at most; of a sum, its largest size."""
        if self.kind == "sum":
            return max(1, abs(self.low), abs(self.high))
        if self.beside is not None:
            return int(self.width ** self.degrees[0] * self.beside.width ** self.degrees[1])
        return {"mean": self.width, "moments": self.width**2}.get(self.kind, 1)

    @property
    def size(self) -> int:
        """How many features there are."""
        if self.beside is not None:
            return (1 + self.degrees[0]) * (1 + self.degrees[1])
        plain = {"mean": 2, "moments": 3, "histogram": len(self.bins)}.get(self.kind, 1)
        return plain + self.unknown

    def sensitivities(
        self, *, groups: int, rows: int, neighbors: Neighbors, keyed: bool
    ) -> tuple[int, int]:
        """L1, and the square of L2, for a unit with so many rows in each of so many groups."""
        return self.reach.sensitivities(
            groups=groups, rows=rows, neighbors=neighbors, keyed=keyed
        )

    @property
    def reach(self) -> Contribution:
        """What one row adds to the features."""
        low, high = (self.low, self.high) if self.kind == "sum" else (0, 1)
        return Contribution(self.size, self.total, low, high, once=self.kind == "units")


def linear(terms: list[tuple[Fraction, Feature]]) -> Node:
    """A weighted sum of features."""
    nodes: list[Node] = [
        feature if weight == 1 else Operation("*", (Number(weight), feature))
        for weight, feature in terms
        if weight
    ]
    if not nodes:
        return Number(Fraction(0))
    result = nodes[0]
    for node in nodes[1:]:
        result = Operation("+", (result, node))
    return result


@dataclass(frozen=True, slots=True)
class Measured:
    """A statistic with its features, and the aggregates read from them."""

    statistic: Statistic
    features: tuple[Feature, ...]

    def node(self, aggregate: Aggregate) -> Node:
        """The aggregate as post-processing of the noisy features; a histogram's first bin."""
        if self.statistic.beside is not None:
            from deniable.query.statements.column_pairs import ColumnPair

            return ColumnPair(self.statistic, self.features).node(aggregate)
        if aggregate.name == "histogram":
            return self.features[0]
        if aggregate.name in ("count", "count_units"):
            return self._count(whole=aggregate.argument is None)
        if aggregate.name == "sum":
            return self._sum()
        if aggregate.name == "avg":
            return Operation("/", (self._sum(), self._count(whole=False)))
        return self._spread(aggregate.name)

    def _weighted(self, *weights: Fraction | int) -> Node:
        return linear(list(zip(map(Fraction, weights), self.features, strict=False)))

    def _count(self, *, whole: bool) -> Node:
        """Rows, or rows whose argument is not NULL."""
        features = len(self.features) - (self.statistic.unknown and not whole)
        return self._weighted(*[Fraction(1, self.statistic.total)] * features)

    def _sum(self) -> Node:
        shape = self.statistic
        low, high, step, width = shape.low, shape.low + shape.width, shape.step, shape.width
        if shape.kind == "sum":
            return self._weighted(step)
        if shape.kind == "mean":
            return self._weighted(step * low / width, step * high / width)
        square = width**2
        middle = Fraction(low + high, 2)
        return self._weighted(step * low / square, step * middle / square, step * high / square)

    def _spread(self, name: str) -> Node:
        shape = self.statistic
        count = self._count(whole=False)
        first = self._weighted(0, Fraction(1, 2 * shape.width), Fraction(1, shape.width))
        mean, square = Operation("/", (first, count)), Operation("/", (self.features[2], count))
        spread: Node = Operation("-", (square, Operation("*", (mean, mean))))
        spread = Operation("greatest", (Operation("*", (Number(shape.step**2), spread)), _ZERO))
        if name.endswith("samp"):
            fewer = Operation("-", (count, Number(Fraction(1))))
            spread = Operation("*", (spread, Operation("/", (count, fewer))))
        return Operation("sqrt", (spread,)) if name.startswith("stddev") else spread


_ZERO = Number(Fraction(0))


def root_up(square: int) -> Fraction:
    """A rational at least the square root, by less than a part in 2**40 of it."""
    scaled = square << 80
    root = isqrt(scaled)
    return Fraction(root if root * root == scaled else root + 1, 1 << 40)
