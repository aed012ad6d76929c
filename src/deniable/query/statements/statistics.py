"""Which integers answer which aggregates, so that each is measured once and paid for once.

Take non-negative features of a row that add up to at most a constant T. However the row
changes, it moves all of them together by at most T, so they cost as much as a single one. The
count, sum and mean of a column come from one block with the features (high - x, x - low, and T
where x is NULL), T = high - low in grid steps. The variance comes from the Bernstein features
((T - t)**2, 2 t (T - t), t**2) of degree two, t = x - low, which add up to T**2 (Kulesza,
Suresh & Wang 2024 for degree one).
"""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt

from deniable.errors import InvalidQuery
from deniable.exact.rationals import decimal_text
from deniable.privacy.neighbors import Neighbors
from deniable.query.language.syntax_tree import Aggregate, ColumnRef, Expression
from deniable.query.plan.contribution import Contribution
from deniable.query.plan.grid_steps import FARTHEST_STEP, coarsen_by_tens
from deniable.query.relations.kind_checks import declare
from deniable.query.relations.scope import Scope

COUNT_ROWS = Aggregate("count", None)
OF_VALUES = ("distinct", "distinct sum")  # kinds that have a statement of their own
_SUMS = ("sum", "distinct sum")
# The most grid steps of a column whose different values are added up: all of them add up to
# less than 2**53, which is the most that a cell can hold.
_MOST_STEPS_ADDED = 1 << 26
VARIANCES = {"var_samp", "var_pop", "stddev_samp", "stddev_pop"}
# The degrees of the polynomials that an aggregate of two columns is read from.
PAIR_DEGREES = {
    "covar_pop": (1, 1),
    "covar_samp": (1, 1),
    "regr_slope": (1, 2),
    "regr_intercept": (1, 2),
    "corr": (2, 2),
}
# The most grid steps of a column whose squares are measured. The scale of their noise is up to
# the square of this, times the rows of a unit over epsilon, and samplers serve up to 2**50.
MOST_STEPS_SQUARED = 1 << 14


@dataclass(frozen=True, slots=True)
class Statistic:
    """The integers about one argument that a block measures, for one row or one unit.

    `low` and `high` limit the argument in grid steps; `unknown` adds a feature for rows where
    it is NULL, so that all rows are counted too.
    """

    kind: str  # "count", "present", "sum", "mean", "moments", "histogram", "units", "distinct",
    # "distinct sum" or "pair"
    argument: Expression | None
    low: int = 0
    high: int = 1
    step: Fraction = Fraction(1)
    unknown: bool = False
    bins: tuple[str, ...] = ()  # labels of a histogram's bins
    second: "Statistic | None" = None  # of a pair: the second argument, with its own limits
    degrees: tuple[int, int] = (1, 1)  # of a pair: the highest power of each

    @property
    def width(self) -> int:
        """The argument's range in steps, at least one."""
        return max(1, self.high - self.low)

    @property
    def total(self) -> int:
        """What one row's features add up to, at most; of a sum, its largest size."""
        if self.kind in _SUMS:
            return max(1, abs(self.low), abs(self.high))
        if self.second is not None:
            return int(self.width ** self.degrees[0] * self.second.width ** self.degrees[1])
        return {"mean": self.width, "moments": self.width**2}.get(self.kind, 1)

    @property
    def size(self) -> int:
        """How many features there are."""
        if self.second is not None:
            return (1 + self.degrees[0]) * (1 + self.degrees[1])
        plain = {"mean": 2, "moments": 3, "histogram": len(self.bins)}.get(self.kind, 1)
        return plain + self.unknown

    def feature_names(self, place: int) -> tuple[str, ...]:
        """The result columns of the features, for the statistic at this place of a plan."""
        return tuple(f"f{place}_{j}" for j in range(self.size))

    def sensitivities(
        self, *, groups: int, rows: int, neighbors: Neighbors, keyed: bool
    ) -> tuple[int, int]:
        """L1 and the square of L2, for a unit with this many rows in each of its groups."""
        return self.contribution.sensitivities(
            groups=groups, rows=rows, neighbors=neighbors, keyed=keyed
        )

    @property
    def contribution(self) -> Contribution:
        """What one row adds to the features."""
        low, high = (self.low, self.high) if self.kind in _SUMS else (0, 1)
        return Contribution(self.size, self.total, low, high, once=self.kind == "units")


def statistics_for(
    aggregates: Iterable[Aggregate], scope: Scope, *, finest: int
) -> dict[Aggregate, Statistic]:
    """For each aggregate the statistic that it is read from; equal ones are shared.

    Where one row could move a statistic by more than `finest` steps, its grid is made coarser.
    """
    chosen: dict[Aggregate, Statistic] = {}
    finest = min(finest, FARTHEST_STEP)
    listed = list(dict.fromkeys(aggregates))
    by_argument: dict[Expression, list[Aggregate]] = {}
    for aggregate in listed:
        if aggregate.name == "histogram":
            chosen[aggregate] = _histogram(aggregate, scope)
        elif aggregate.name == "count_units":
            chosen[aggregate] = _distinct(aggregate, scope)
        elif aggregate.name == "sum_distinct" and aggregate.argument is not None:
            grid = scope.grid(aggregate.argument)
            grid = _coarser_by_tens(*grid, min(finest, _MOST_STEPS_ADDED))
            chosen[aggregate] = Statistic("distinct sum", aggregate.argument, *grid)
        elif aggregate.second is not None:
            chosen[aggregate] = _pair(aggregate, listed, scope, finest)
        elif aggregate.argument is not None:
            by_argument.setdefault(aggregate.argument, []).append(aggregate)
    counts_rows = COUNT_ROWS in listed
    for argument, group in by_argument.items():
        names = {aggregate.name for aggregate in group}
        statistic = _single(argument, names, counts_rows, scope, finest)
        counts_rows = counts_rows and not statistic.unknown
        if statistic.unknown:
            chosen[COUNT_ROWS] = statistic
        chosen.update(dict.fromkeys(group, statistic))
    if counts_rows:
        chosen[COUNT_ROWS] = Statistic("count", None)
    return {aggregate: chosen[aggregate] for aggregate in listed}


def _distinct(aggregate: Aggregate, scope: Scope) -> Statistic:
    """The units, or the values of another column: each unit counts with limited values."""
    unit, argument = scope.table.unit, aggregate.argument
    assert argument is not None
    if unit is not None and argument == ColumnRef(unit):
        return Statistic("units", argument)
    if scope.value_range(argument).kind is None:
        raise InvalidQuery(f"{aggregate} has only NULL to count. Name a column.")
    return Statistic("distinct", argument)


def _pair(
    aggregate: Aggregate, aggregates: list[Aggregate], scope: Scope, finest: int
) -> Statistic:
    """The statistic that all aggregates of the same two arguments are read from."""
    pair = aggregate.argument, aggregate.second
    degree_pairs = [
        PAIR_DEGREES[sibling.name]
        for sibling in aggregates
        if (sibling.argument, sibling.second) == pair
    ]
    degrees = max(a for a, _ in degree_pairs), max(b for _, b in degree_pairs)
    most = min(MOST_STEPS_SQUARED, int(finest ** (1 / sum(degrees))))
    first, second = (
        Statistic("mean", argument, *_coarser(*scope.grid(argument), most))
        for argument in pair
        if argument is not None
    )
    return replace(first, kind="pair", second=second, degrees=degrees)


def _single(
    argument: Expression, names: set[str], rows: bool, scope: Scope, finest: int
) -> Statistic:
    """The statistic that all these aggregates of one argument are read from."""
    if names == {"count"}:
        scope.value_range(argument)
        return Statistic("present", argument, unknown=rows)
    low, high, step = scope.grid(argument)
    if names & VARIANCES:
        most = min(MOST_STEPS_SQUARED, isqrt(finest))
        grid = _coarser_by_tens(low, high, step, most)
        return Statistic("moments", argument, *grid, unknown=rows)
    grid = _coarser_by_tens(low, high, step, finest)
    if names == {"sum"} and not rows:
        return Statistic("sum", argument, *grid)
    return Statistic("mean", argument, *grid, unknown=rows)


def _coarser(low: int, high: int, step: Fraction, most: int) -> tuple[int, int, Fraction]:
    """The grid, made coarser in steps of 2, 5, 10, ... until its range is at most `most`."""
    if most < 2:
        raise _too_noisy()
    factors = (factor * 10**power for power in range(40) for factor in (1, 2, 5))
    while True:
        by = next(factors)
        lower, upper = low // by, -(-high // by)
        if upper - lower <= most:
            return lower, upper, step * by


def _coarser_by_tens(
    low: int, high: int, step: Fraction, most: int
) -> tuple[int, int, Fraction]:
    """The grid, made coarser by a power of ten until limits and range are at most `most`."""
    if most < 2:
        raise _too_noisy()
    return coarsen_by_tens(low, high, step, most=most, widest=most)


def _too_noisy() -> InvalidQuery:
    return InvalidQuery(
        "The noise would be too large to draw: epsilon is too small for this many rows and "
        "groups per unit. Give a larger epsilon, ask for fewer aggregates, or lower "
        "max_rows_per_unit_per_group or max_groups_per_unit."
    )


def _histogram(aggregate: Aggregate, scope: Scope) -> Statistic:
    argument = aggregate.argument
    assert argument is not None
    if scope.value_range(argument).kind in ("text", "boolean"):
        return Statistic("histogram", argument, bins=tuple(map(str, labels(argument, scope))))
    low, high, step = scope.grid(argument)
    ends = bin_ends(low, high, aggregate.bins or 10)
    bins = tuple(
        f"{decimal_text(start * step)} to {decimal_text(end * step)}"
        for start, end in itertools.pairwise(ends)
    )
    return Statistic("histogram", argument, low, high, step, bins=bins)


def labels(argument: Expression, scope: Scope) -> tuple[str | bool, ...]:
    """The declared values of a column of text or booleans."""
    if scope.value_range(argument).kind == "boolean":
        return False, True
    keys = scope.column(argument.name).keys if isinstance(argument, ColumnRef) else None
    if keys is None or isinstance(keys, str):
        raise InvalidQuery(
            f"HISTOGRAM({argument}) needs the values that it counts. Declare them in the "
            f"policy, for example   {declare(argument, scope.table)}"
        )
    return tuple(str(key) for key in keys)


def bin_ends(low: int, high: int, bins: int) -> list[int]:
    """Where bins begin, in steps, and where the last one ends.

    >>> bin_ends(0, 10, 3)
    [0, 3, 6, 10]
    """
    bins = min(bins, max(1, high - low))
    return [low + (high - low) * i // bins for i in range(bins + 1)]


def root_up(square: int) -> Fraction:
    """A rational at least the square root, by less than a part in 2**40 of it."""
    scaled = square << 80
    root = isqrt(scaled)
    return Fraction(root if root * root == scaled else root + 1, 1 << 40)
