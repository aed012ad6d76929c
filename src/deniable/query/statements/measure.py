"""Choosing statistics for the aggregates of a question, so that each is measured once."""

import itertools
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from math import isqrt

from deniable.errors import InvalidQuery
from deniable.query.language.expressions import (
    Aggregate,
    ColumnRef,
    Expression,
    plain,
)
from deniable.query.relations.scope import Scope
from deniable.query.statements.column_pairs import DEGREES
from deniable.query.statements.statistics import ROUGHEST, VARIANCES, Statistic

ROWS = Aggregate("count", None)
# Steps from zero that a limit may lie: beyond, a double might round to the wrong step, and far
# beyond, a cast to 64 bits would fail on the first row that there is, and so betray it.
FINEST = 1 << 50


def statistics(
    asked: Iterable[Aggregate], scope: Scope, *, finest: int
) -> dict[Aggregate, Statistic]:
    """For each aggregate the statistic that it is read from; equal ones are shared.

    Where one row could move a statistic by more than `finest` steps, its grid is made coarser.
    """
    found: dict[Aggregate, Statistic] = {}
    finest = min(finest, FINEST)
    wanted = list(dict.fromkeys(asked))
    by_argument: dict[Expression, list[Aggregate]] = {}
    for one in wanted:
        if one.name == "histogram":
            found[one] = _histogram(one, scope)
        elif one.name == "count_units":
            found[one] = _distinct(one, scope)
        elif one.second is not None:
            found[one] = _pair(one, wanted, scope, finest)
        elif one.argument is not None:
            by_argument.setdefault(one.argument, []).append(one)
    counts_rows = ROWS in wanted
    for argument, group in by_argument.items():
        statistic = _about(argument, {one.name for one in group}, counts_rows, scope, finest)
        counts_rows = counts_rows and not statistic.unknown
        if statistic.unknown:
            found[ROWS] = statistic
        found.update(dict.fromkeys(group, statistic))
    if counts_rows:
        found[ROWS] = Statistic("count", None)
    return {one: found[one] for one in asked}


def _distinct(aggregate: Aggregate, scope: Scope) -> Statistic:
    """The units, or the values of another column: each unit counts with limited values."""
    unit, argument = scope.table.unit, aggregate.argument
    assert argument is not None
    if unit is not None and argument == ColumnRef(unit):
        return Statistic("units", argument)
    if scope.facts(argument).kind is None:
        raise InvalidQuery(f"{aggregate} counts the values of nothing: name a column.")
    return Statistic("distinct", argument)


def _pair(
    aggregate: Aggregate, wanted: list[Aggregate], scope: Scope, finest: int
) -> Statistic:
    """What all aggregates of the same two arguments are read from."""
    two = aggregate.argument, aggregate.second
    needed = [DEGREES[one.name] for one in wanted if (one.argument, one.second) == two]
    degrees = max(a for a, _ in needed), max(b for _, b in needed)
    most = min(ROUGHEST, int(finest ** (1 / sum(degrees))))
    first, second = (
        Statistic("mean", one, *_coarser(*scope.grid(one), most))
        for one in two
        if one is not None
    )
    return replace(first, kind="pair", beside=second, degrees=degrees)


def _coarser(low: int, high: int, step: Fraction, most: int) -> tuple[int, int, Fraction]:
    """The grid, made coarser in steps of 2, 5, 10, ... until its range is below `most`."""
    if most < 2:
        raise _too_noisy()
    factors = (factor * 10**power for power in range(40) for factor in (1, 2, 5))
    while True:
        by = next(factors)
        lower, upper = low // by, -(-high // by)
        if upper - lower <= most and max(abs(lower), abs(upper)) <= FINEST:
            return lower, upper, step * by


def _about(
    argument: Expression, names: set[str], rows: bool, scope: Scope, finest: int
) -> Statistic:
    if names == {"count"}:
        scope.facts(argument)
        return Statistic("present", argument, unknown=rows)
    low, high, step = scope.grid(argument)
    if names & VARIANCES:
        most = min(ROUGHEST, isqrt(finest))
        return Statistic("moments", argument, *_within(low, high, step, most), unknown=rows)
    grid = _within(low, high, step, finest)
    if names == {"sum"} and not rows:
        return Statistic("sum", argument, *grid)
    return Statistic("mean", argument, *grid, unknown=rows)


def _within(low: int, high: int, step: Fraction, most: int) -> tuple[int, int, Fraction]:
    """The grid, made coarser by a power of ten until limits and range are below `most`."""
    if most < 2:
        raise _too_noisy()
    while max(high - low, abs(low), abs(high)) > most:
        low, high, step = low // 10, -(-high // 10), step * 10
    return low, high, step


def _too_noisy() -> InvalidQuery:
    return InvalidQuery(
        "The noise would be too large to draw: epsilon is too small for so many rows and "
        "groups a person. Ask for fewer aggregates, or lower max_rows_per_unit_per_group or "
        "max_groups_per_unit."
    )


def _histogram(aggregate: Aggregate, scope: Scope) -> Statistic:
    argument = aggregate.argument
    assert argument is not None
    known = scope.facts(argument)
    if known.kind in ("text", "boolean"):
        return Statistic("histogram", argument, bins=tuple(map(str, labels(argument, scope))))
    low, high, step = _within(*scope.grid(argument), FINEST)
    ends = bin_ends(low, high, aggregate.bins or 10)
    bins = tuple(
        f"{plain(start * step)} to {plain(end * step)}"
        for start, end in itertools.pairwise(ends)
    )
    return Statistic("histogram", argument, low, high, step, bins=bins)


def labels(argument: Expression, scope: Scope) -> tuple[str | bool, ...]:
    """The declared values of a column that is no number."""
    if scope.facts(argument).kind == "boolean":
        return False, True
    keys = scope.column(argument.name).keys if isinstance(argument, ColumnRef) else None
    if keys is None or isinstance(keys, str):
        raise InvalidQuery(
            f"HISTOGRAM({argument}) needs the values that it counts. Declare them in the "
            f'policy, for example   {argument} = {{ keys = ["A", "B"] }}'
        )
    return tuple(str(one) for one in keys)


def bin_ends(low: int, high: int, bins: int) -> list[int]:
    """Where bins begin, in steps, and where the last one ends.

    >>> bin_ends(0, 10, 3)
    [0, 3, 6, 10]
    """
    bins = min(bins, max(1, high - low))
    return [low + (high - low) * i // bins for i in range(bins + 1)]
