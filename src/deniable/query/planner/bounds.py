"""Clipping bounds that nobody declared: a paid step that finds them.

Where not even a range is known, the rows are counted between powers of two, of either sign. A
row is in one such bin, so all bins together cost one epsilon. The bounds are the outermost bins
whose noisy count stands out: higher than the noise of any empty bin, but once in a million. A
few outliers are left out, so that no noise is scaled to them.

Where the policy declares a range that is only too wide, and how many rows to expect, the bounds
are the quantiles that leave about 2 / epsilon rows beyond each end: fewer, and the noise grows
faster than clipping errs; more, and it is the other way round (Huang, Liang & Yi 2021). But no
fewer than one and a half times a quantile's own margin in ranks, or it might lie anywhere in
the empty part of the range. Without the number of rows the bins are laid inside of the range.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import TypeAlias

from deniable.errors import InvalidParameter, InvalidQuery
from deniable.policy import Column as Declared
from deniable.policy import Policy, Table
from deniable.query.language.decimal_text import decimal_text
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
)
from deniable.query.margins.margins import laws_of
from deniable.query.margins.noise_quantiles import fixed_margin
from deniable.query.plan.plan import Feature, Output, Plan

SHARE = Fraction(1, 5)  # of epsilon goes into finding bounds
_SURE = Fraction(19, 20)  # of how many rows lie beyond
_RARELY = 1e-6  # an empty bin is taken for a full one: the answer would be all noise
_SMALLEST, _LARGEST = -10, 50  # powers of two: from a thousandth to a quadrillion

Wanted: TypeAlias = str | Sequence[str] | Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Found:
    """The bounds of one column, and how many rows may lie beyond them."""

    column: str
    low: Fraction
    high: Fraction
    beyond: float  # rows outside, as counted in the noisy bins or as aimed at
    margin: float
    clear: bool  # whether any bin stood out
    level: Fraction | None = None  # of the upper quantile, where the bounds are quantiles

    @property
    def words(self) -> str:
        """The bounds, and what clipping to them may cost."""
        told = f"{self.column} is clipped to the bounds found, {decimal_text(self.low)} to "
        told += f"{decimal_text(self.high)}"
        if self.level is not None:
            return (
                f"{told}: the quantiles {float(1 - self.level):.4g} and "
                f"{float(self.level):.6g}, ± {self.margin:,.0f} ranks. What lies beyond counts "
                "as the bound itself, which no margin covers."
            )
        if not self.clear:
            return f"{told}, which are a guess: too few rows to tell a full bin from noise."
        most = math.ceil(max(0.0, self.beyond + self.margin))
        return (
            f"{told}; at most {most:,} rows, at 95 %, lie beyond and count as the bound "
            "itself, which no margin covers."
        )


@dataclass(frozen=True, slots=True)
class Search:
    """The first step: which columns, how each is searched, and the question to ask."""

    question: Question
    ends: Mapping[str, tuple[Fraction, ...]]  # of bins; or the range that quantiles are in
    levels: Mapping[str, Fraction]  # the upper quantile, where the bounds are quantiles

    @property
    def widest(self) -> "tuple[Found, ...]":
        """The bounds that could be found at most."""
        return tuple(
            Found(name, ends[0], ends[-1], 0.0, 0.0, False) for name, ends in self.ends.items()
        )

    def read(self, made: Plan, noisy: Sequence[float]) -> tuple[Found, ...]:
        """The bounds from the noisy answer, in the order of the plan's outputs."""
        found: list[Found] = []
        place = 0
        for name, ends in self.ends.items():
            size = 2 if name in self.levels else len(ends) - 1
            outputs = made.outputs[place : place + size]
            values = [float(one) for one in noisy[place : place + size]]
            own = self._quantiles if name in self.levels else _outermost
            found.append(own(name, ends, values, made, outputs))
            place += size
        return tuple(found)

    def _quantiles(
        self,
        name: str,
        ends: Sequence[Fraction],
        values: Sequence[float],
        made: Plan,
        outputs: Sequence[Output],
    ) -> Found:
        low, high = (Fraction(repr(one)) for one in sorted(values))
        if low == high:  # a single value: any width will do, and some is needed
            low, high = max(ends[0], low - 1), min(ends[-1], high + 1)
        ranks = max(one.margin or 0.0 for one in outputs)
        return Found(name, low, high, 0.0, ranks, True, self.levels[name])

    def words(self, made: Plan) -> list[str]:
        """How each column is searched."""
        told: list[str] = []
        place = 0
        for name, ends in self.ends.items():
            output = made.outputs[place]
            if name in self.levels:
                level = float(self.levels[name])
                told.append(
                    f"{name}: quantiles {1 - level:.4g} and {level:.6g} in its declared range, "
                    f"± {output.margin or 0:,.0f} ranks"
                )
            else:
                told.append(
                    f"{name}: rows between powers of two, {len(ends) - 1:,} bins, "
                    f"± {output.margin or 0:,.6g} each"
                )
            place += 2 if name in self.levels else len(ends) - 1
        return told


def _outermost(
    name: str,
    ends: Sequence[Fraction],
    noisy: Sequence[float],
    made: Plan,
    outputs: Sequence[Output],
) -> Found:
    """The outermost bins that stand out."""
    laws = laws_of(made.blocks, made.thresholding)
    features = [one.node.name for one in outputs if isinstance(one.node, Feature)]
    bins = len(features)
    # Noise falls on both sides alike, and only what is high is taken for full.
    level = Fraction(f"{1 - 2 * _RARELY / bins:.12f}")
    stands_out = fixed_margin({features[0]: Fraction(1)}, laws, level)
    inside = [i for i, one in enumerate(noisy) if one > stands_out]
    clear = bool(inside)
    if not clear:
        inside = [max(range(bins), key=lambda i: noisy[i])]
    first, last = inside[0], inside[-1]
    outer = [*range(first), *range(last + 1, bins)]
    margin = fixed_margin({features[i]: Fraction(1) for i in outer}, laws, _SURE)
    beyond = sum(noisy[i] for i in outer)
    return Found(name, ends[first], ends[last + 1], beyond, margin, clear)


def search(question: Question, policy: Policy, wanted: Wanted, *, beyond: int = 2) -> Search:
    """The step that finds bounds: for all columns that lack them, or for those named.

    `beyond` is how many rows a quantile should leave at either end.

    >>> from deniable.query.language.parse import parse
    >>> table = Table("visits").with_schema({"cost": "DOUBLE"})
    >>> policy = Policy([table], epsilon=3)
    >>> step = search(parse("SELECT AVG(cost) FROM visits"), policy, "find")
    >>> list(step.ends), len(step.ends["cost"])
    (['cost'], 123)
    """
    table = _table(question, policy)
    names = _wanted(question, table, wanted)
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
        name: table.columns[name].bounds or () if name in levels else _ends(table.columns[name])
        for name in names
    }
    outputs = tuple(
        Named(name, quantiles(ColumnRef(name), [1 - levels[name], levels[name]]))
        if name in levels
        else Named(name, _histogram(name, ends[name]))
        for name in names
    )
    asked = replace(question, keys=(), outputs=outputs, having=None, order=(), limit=None)
    return Search(asked, MappingProxyType(ends), MappingProxyType(levels))


def _level(rows: int, beyond: int) -> Fraction:
    """The quantile with so many of the rows above it, in six digits.

    >>> _level(10_000, 25), _level(10, 25)
    (Fraction(399, 400), Fraction(3, 4))
    """
    exact = 1 - Fraction(beyond, rows)
    return max(Fraction(3, 4), Fraction(math.floor(10**6 * exact), 10**6))


def bounded(policy: Policy, table: str, found: Sequence[Found]) -> Policy:
    """The policy with these bounds in place of none.

    >>> table = Table("visits").with_schema({"cost": "DOUBLE"})
    >>> got = Found("cost", Fraction(0), Fraction(64), 0.0, 9.0, True)
    >>> after = bounded(Policy([table], epsilon=3), "visits", [got])
    >>> after.tables["visits"].columns["cost"].bounds
    (Fraction(0, 1), Fraction(64, 1))
    """
    old = next(one for name, one in policy.tables.items() if name.lower() == table.lower())
    columns = dict(old.columns)
    for one in found:
        columns[one.column] = replace(
            columns[one.column], bounds=(one.low, one.high), step=None
        )
    tables = {**policy.tables, old.name: replace(old, columns=columns)}
    return Policy(tables, epsilon=policy.epsilon, delta=policy.delta)


def _table(question: Question, policy: Policy) -> Table:
    for name, table in policy.tables.items():
        if isinstance(question.table, str) and name.lower() == question.table.lower():
            return table
    raise InvalidQuery(
        "Bounds can be found for a question about one table of the policy, by its name."
    )


def _wanted(question: Question, table: Table, wanted: Wanted) -> list[str]:
    spelt = {name.lower(): name for name in table.columns}
    if isinstance(wanted, str):
        if wanted != "find":
            raise InvalidParameter(
                f'`bounds` must be "find" or name the columns to find bounds for. Found '
                f"{wanted!r}."
            )
        parts = [
            one.argument
            for named in (*question.outputs,)
            for one in aggregates_in(named.expression)
            if one.argument is not None and not one.name.startswith("count")
        ]
        named = [e.name for part in parts for e in walk(part) if isinstance(e, ColumnRef)]
        found = [spelt[one.lower()] for one in named if one.lower() in spelt]
        return [one for one in dict.fromkeys(found) if _open(table.columns[one])]
    names = list(wanted)
    for name in names:
        if isinstance(wanted, Mapping) and wanted[name] != "find":
            raise InvalidParameter(f'`bounds[{name}]` must be "find". Found {wanted[name]!r}.')
        if name.lower() not in spelt or table.columns[spelt[name.lower()]].kind != "number":
            raise InvalidParameter(f"`bounds` names {name}, which is no column of numbers.")
    return [spelt[name.lower()] for name in names]


def _open(column: Declared) -> bool:
    return column.kind == "number" and column.bounds is None


def _ends(column: Declared) -> tuple[Fraction, ...]:
    """Where bins begin, and where the last one ends: zero, and powers of two around it."""
    smallest = 0 if column.integer else _SMALLEST
    powers = [Fraction(2) ** i for i in range(smallest, _LARGEST + 1)]
    ends = [-one for one in reversed(powers)] + [Fraction(0), *powers]
    if column.bounds is None:
        return tuple(ends)
    low, high = column.bounds
    return (low, *(one for one in ends if low < one < high), high)


def _histogram(name: str, ends: Sequence[Fraction]) -> Aggregate:
    """A histogram of the number of the bin that a value is in.

    What is beyond the last end, infinite or no number at all is in no bin. The bin is found by
    halving; the last branch is never taken, and gives the expression its upper limit.
    """
    column, last = ColumnRef(name), len(ends) - 1

    def below(place: int) -> Expression:
        return Call("<", (column, Literal(ends[place])))

    def halved(first: int, beyond: int) -> Expression:
        if beyond - first == 1:
            own = Literal(Fraction(first))
            return own if beyond < last else Call("case", (below(last), own, _number(last)))
        middle = (first + beyond) // 2
        return Call("case", (below(middle), halved(first, middle), halved(middle, beyond)))

    return Aggregate("histogram", Call("case", (below(last), halved(0, last))), last)


def _number(value: int) -> Literal:
    return Literal(Fraction(value))
