"""Clipping bounds that the policy does not declare: a paid step that finds them.

Where no range is declared, the rows are counted between powers of two, of either sign. A row
is in one such bin, so all bins together cost one epsilon. The bounds are the outermost bins
whose noisy count stands out: it is higher than the noise of any empty bin, except once in a
million. A few outliers are left out, so that the noise is not scaled to them.

Where the policy declares a range that is too wide, and how many rows to expect, the bounds are
the quantiles that leave about 2 / epsilon rows beyond each end. With fewer, the noise would
grow faster than the clipping error shrinks; with more, the clipping error would grow faster
(Huang, Liang & Yi 2021). At least one and a half times a quantile's own margin in ranks is
left, or it might lie anywhere in the empty part of the range. Without the number of rows, the
bins are placed inside the range.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import TypeAlias

from deniable.errors import InvalidParameter, InvalidQuery
from deniable.exact.rationals import decimal_text
from deniable.policy import Column as Declared
from deniable.policy import Policy, Table
from deniable.query.language.expressions import aggregates_in, walk
from deniable.query.language.question import Question
from deniable.query.language.sql_aggregates import quantiles
from deniable.query.language.syntax_tree import (
    Aggregate,
    Call,
    ColumnRef,
    Expression,
    Literal,
    Named,
    TableRef,
)
from deniable.query.margins.margins import noise_of_features
from deniable.query.margins.noise_quantiles import fixed_margin
from deniable.query.plan.plan import Feature, Output, Plan

SEARCH_SHARE = Fraction(1, 5)  # of epsilon goes into finding bounds
_CONFIDENCE = Fraction(19, 20)  # in the number of rows that lie beyond
_RARELY = 1e-6  # how often an empty bin is taken for a full one
_SMALLEST, _LARGEST = -10, 50  # powers of two: from a thousandth to a quadrillion

BoundsOption: TypeAlias = str | Sequence[str] | Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FoundBounds:
    """The bounds of one column, and how many rows may lie beyond them."""

    column: str
    low: Fraction
    high: Fraction
    beyond: float  # rows outside, as counted in the noisy bins
    margin: float
    clear: bool  # whether any bin stood out
    level: Fraction | None = None  # of the upper quantile, where the bounds are quantiles

    @property
    def description(self) -> str:
        """The bounds, and what clipping to them may cost."""
        low, high = decimal_text(self.low), decimal_text(self.high)
        start = f"{self.column} is clipped to the bounds found, {low} to {high}"
        if self.level is not None:
            return (
                f"{start}: the quantiles {float(1 - self.level):.4g} and "
                f"{float(self.level):.6g}, ± {self.margin:,.0f} ranks. What lies beyond counts "
                "as the bound itself, which no margin covers."
            )
        if not self.clear:
            return f"{start}, which are a guess: too few rows to tell a full bin from noise."
        most = math.ceil(max(0.0, self.beyond + self.margin))
        return (
            f"{start}; at most {most:,} rows, at 95 %, lie beyond and count as the bound "
            "itself, which no margin covers."
        )


@dataclass(frozen=True, slots=True)
class BoundsSearch:
    """The first step: which columns, how each is searched, and the question to ask."""

    question: Question
    ends: Mapping[str, tuple[Fraction, ...]]  # of bins; or the range that quantiles are in
    levels: Mapping[str, Fraction]  # the upper quantile, where the bounds are quantiles

    @property
    def widest(self) -> "tuple[FoundBounds, ...]":
        """The widest bounds that could be found."""
        return tuple(
            FoundBounds(name, ends[0], ends[-1], 0.0, 0.0, False)
            for name, ends in self.ends.items()
        )

    def read(self, plan: Plan, noisy: Sequence[float]) -> tuple[FoundBounds, ...]:
        """The bounds from the noisy answer, in the order of the plan's outputs."""
        bounds: list[FoundBounds] = []
        place = 0
        for name, ends in self.ends.items():
            size = 2 if name in self.levels else len(ends) - 1
            outputs = plan.outputs[place : place + size]
            values = [float(value) for value in noisy[place : place + size]]
            read = self._read_quantiles if name in self.levels else _read_bins
            bounds.append(read(name, ends, values, plan, outputs))
            place += size
        return tuple(bounds)

    def _read_quantiles(
        self,
        name: str,
        ends: Sequence[Fraction],
        values: Sequence[float],
        plan: Plan,
        outputs: Sequence[Output],
    ) -> FoundBounds:
        low, high = (Fraction(repr(value)) for value in sorted(values))
        if low == high:  # bounds must differ, and any width will do
            low, high = max(ends[0], low - 1), min(ends[-1], high + 1)
        ranks = max(output.margin or 0.0 for output in outputs)
        return FoundBounds(name, low, high, 0.0, ranks, True, self.levels[name])

    def describe(self, plan: Plan) -> list[str]:
        """How each column is searched."""
        lines: list[str] = []
        place = 0
        for name, ends in self.ends.items():
            output = plan.outputs[place]
            if name in self.levels:
                level = float(self.levels[name])
                lines.append(
                    f"{name}: quantiles {1 - level:.4g} and {level:.6g} in its declared range, "
                    f"± {output.margin or 0:,.0f} ranks"
                )
            else:
                lines.append(
                    f"{name}: rows between powers of two, {len(ends) - 1:,} bins, "
                    f"± {output.margin or 0:,.6g} each"
                )
            place += 2 if name in self.levels else len(ends) - 1
        return lines


def _read_bins(
    name: str,
    ends: Sequence[Fraction],
    noisy: Sequence[float],
    plan: Plan,
    outputs: Sequence[Output],
) -> FoundBounds:
    """The bounds around the outermost bins that stand out."""
    noises = noise_of_features(plan.blocks, plan.thresholding)
    features = [output.node.name for output in outputs if isinstance(output.node, Feature)]
    bins = len(features)
    # Noise is symmetric, and only a high count is taken for a full bin.
    level = Fraction(f"{1 - 2 * _RARELY / bins:.12f}")
    stands_out = fixed_margin({features[0]: Fraction(1)}, noises, level)
    inside = [i for i, count in enumerate(noisy) if count > stands_out]
    clear = bool(inside)
    if not clear:
        inside = [max(range(bins), key=lambda i: noisy[i])]
    first, last = inside[0], inside[-1]
    outer = [*range(first), *range(last + 1, bins)]
    margin = fixed_margin({features[i]: Fraction(1) for i in outer}, noises, _CONFIDENCE)
    beyond = sum(noisy[i] for i in outer)
    return FoundBounds(name, ends[first], ends[last + 1], beyond, margin, clear)


def prepare_search(
    question: Question, policy: Policy, option: BoundsOption, *, beyond: int = 2
) -> BoundsSearch:
    """The step that finds bounds, for all columns without bounds or for the named ones.

    `beyond` is how many rows a quantile should leave at either end.

    >>> from deniable.query.language.parse import parse
    >>> table = Table("visits").with_schema({"cost": "DOUBLE"})
    >>> policy = Policy([table], epsilon=3)
    >>> step = prepare_search(parse("SELECT AVG(cost) FROM visits"), policy, "find")
    >>> list(step.ends), len(step.ends["cost"])
    (['cost'], 123)
    """
    table = _table(question, policy)
    names = _columns_to_search(question, table, option)
    if not names:
        raise InvalidParameter(
            "`bounds`: every number of this question has declared bounds. Name a column to "
            'find tighter ones for it, for example bounds=["cost"].'
        )
    levels = {
        name: _level(table.expected_rows, beyond)
        for name in names
        if table.expected_rows is not None and table.columns[name].bounds is not None
    }
    ends = {
        name: table.columns[name].bounds or ()
        if name in levels
        else _bin_ends(table.columns[name])
        for name in names
    }
    outputs = tuple(
        Named(name, quantiles(ColumnRef(name), [1 - levels[name], levels[name]]))
        if name in levels
        else Named(name, _histogram(name, ends[name]))
        for name in names
    )
    counting = replace(question, keys=(), outputs=outputs, having=None, order=(), limit=None)
    return BoundsSearch(counting, MappingProxyType(ends), MappingProxyType(levels))


def _level(rows: int, beyond: int) -> Fraction:
    """The quantile with this many of the rows above it, in six digits.

    >>> _level(10_000, 25), _level(10, 25)
    (Fraction(399, 400), Fraction(3, 4))
    """
    exact = 1 - Fraction(beyond, rows)
    return max(Fraction(3, 4), Fraction(math.floor(10**6 * exact), 10**6))


def with_bounds(policy: Policy, table: str, new_bounds: Sequence[FoundBounds]) -> Policy:
    """The policy with these bounds.

    >>> table = Table("visits").with_schema({"cost": "DOUBLE"})
    >>> got = FoundBounds("cost", Fraction(0), Fraction(64), 0.0, 9.0, True)
    >>> after = with_bounds(Policy([table], epsilon=3), "visits", [got])
    >>> after.tables["visits"].columns["cost"].bounds
    (Fraction(0, 1), Fraction(64, 1))
    """
    old = next(
        declared for name, declared in policy.tables.items() if name.lower() == table.lower()
    )
    columns = dict(old.columns)
    for bounds in new_bounds:
        column, ends = columns[bounds.column], (bounds.low, bounds.high)
        if column.integer:
            ends = Fraction(math.floor(bounds.low)), Fraction(math.ceil(bounds.high))
        columns[bounds.column] = replace(column, bounds=ends, step=None)
    tables = {**policy.tables, old.name: replace(old, columns=columns)}
    return Policy(tables, epsilon=policy.epsilon, delta=policy.delta)


def _table(question: Question, policy: Policy) -> Table:
    source = question.table
    own = source.name if isinstance(source, TableRef) else source
    for name, table in policy.tables.items():
        if isinstance(own, str) and name.lower() == own.lower():
            return table
    raise InvalidQuery("Bounds can be found only for a question about one table of the policy.")


def _columns_to_search(question: Question, table: Table, option: BoundsOption) -> list[str]:
    spelt = {name.lower(): name for name in table.columns}
    if isinstance(option, str):
        if option != "find":
            raise InvalidParameter(
                f'`bounds` must be "find" or name the columns to find bounds for. Found '
                f"{option!r}."
            )
        arguments = [
            aggregate.argument
            for output in question.outputs
            for aggregate in aggregates_in(output.expression)
            if aggregate.argument is not None and not aggregate.name.startswith("count")
        ]
        used = [e.name for part in arguments for e in walk(part) if isinstance(e, ColumnRef)]
        columns = [spelt[name.lower()] for name in used if name.lower() in spelt]
        lacking = [name for name in columns if _lacks_bounds(table.columns[name])]
        return _check_keys(lacking, table)
    names = list(option)
    for name in names:
        if isinstance(option, Mapping) and option[name] != "find":
            raise InvalidParameter(f'`bounds[{name}]` must be "find". Found {option[name]!r}.')
        if name.lower() not in spelt or table.columns[spelt[name.lower()]].kind != "number":
            raise InvalidParameter(f"`bounds` names {name}, which is not a column of numbers.")
    return _check_keys([spelt[name.lower()] for name in names], table)


def _check_keys(names: Sequence[str], table: Table) -> list[str]:
    """The names, each once. Refuses columns with keys, which the bounds could cut off."""
    for name in names:
        if isinstance(table.columns[name].keys, tuple):
            raise InvalidParameter(
                f"`bounds`: {name} has declared keys, and the bounds found might leave some of "
                "them out. Declare bounds around the keys in the policy instead."
            )
    return list(dict.fromkeys(names))


def _lacks_bounds(column: Declared) -> bool:
    return column.kind == "number" and column.bounds is None


def _bin_ends(column: Declared) -> tuple[Fraction, ...]:
    """Where bins begin, and where the last one ends: at zero and at powers of two."""
    smallest = 0 if column.integer else _SMALLEST
    powers = [Fraction(2) ** i for i in range(smallest, _LARGEST + 1)]
    ends = [-power for power in reversed(powers)] + [Fraction(0), *powers]
    if column.bounds is None:
        return tuple(ends)
    low, high = column.bounds
    return (low, *(end for end in ends if low < end < high), high)


def _histogram(name: str, ends: Sequence[Fraction]) -> Aggregate:
    """A histogram of the number of the bin that a value is in.

    A value beyond the last end, infinite or NaN is in no bin. The bin is found by halving. The
    last branch is never taken; it gives the expression its upper limit.
    """
    column, last = ColumnRef(name), len(ends) - 1

    def below(place: int) -> Expression:
        return Call("<", (column, Literal(ends[place])))

    def halved(first: int, beyond: int) -> Expression:
        if beyond - first == 1:
            place = Literal(Fraction(first))
            if beyond < last:
                return place
            return Call("case", (below(last), place, Literal(Fraction(last))))
        middle = (first + beyond) // 2
        return Call("case", (below(middle), halved(first, middle), halved(middle, beyond)))

    return Aggregate("histogram", Call("case", (below(last), halved(0, last))), last)
