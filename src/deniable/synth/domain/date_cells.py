"""The cells of dates: intervals of days inside a declared range.

A day outside of the range is no declared value, like NULL. Quantiles are asked of a number that
grows with the day: 366 times the year, plus the day of the year.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.policy import Column
from deniable.query.language.syntax_tree import Call, ColumnRef, Literal
from deniable.query.plan.quoting import quote_name
from deniable.synth.domain.column_cells import ColumnCells, number_places

_DAY = timedelta(days=1)
_YEAR = 366


def read_range(column: Column, given: Any) -> tuple[date, date]:
    """The first and the last day of a declared range."""
    example = f'dates={{"{column.name}": ("2020-01-01", "2020-12-31")}}'
    if column.kind != "date" or column.timed:
        raise InvalidParameter(
            f"`dates` names {column.name}, which is not a column of dates. Times of "
            "day cannot be copied: make it a date in a view, or leave it out with `columns`."
        )
    try:
        first, last = (date.fromisoformat(str(day)) for day in given)
    except (TypeError, ValueError):
        raise InvalidParameter(
            f"Give the first and the last day: {example}. Found {given!r}. Nothing was spent."
        ) from None
    if last < first or last == date.max:
        raise InvalidParameter(f"The last day must not be before the first: {example}.")
    return first, last


def day_number(name: str) -> str:
    """The number of a day, in SQL.

    >>> day_number("day")
    'YEAR("day") * 366 + DAYOFYEAR("day")'
    """
    quoted = quote_name(name)
    return f"YEAR({quoted}) * {_YEAR} + DAYOFYEAR({quoted})"


def day_of(number: float) -> date:
    """The day of a number, or the nearest.

    >>> day_of(2020 * 366 + 32).isoformat()
    '2020-02-01'
    """
    year, rest = divmod(round(number) - 1, _YEAR)
    if not 1 <= year < 9999:
        return date.min if year < 1 else date.max - _DAY
    return date(year, 1, 1) + min(rest, 364) * _DAY


def date_cells(
    column: Column, first: date, last: date, numbers: Sequence[float], *, missing: bool
) -> ColumnCells:
    """The cells of a range that is cut at released quantiles. Equal ones are a day of its own.

    >>> day = Column("day", kind="date")
    >>> ends = date(2020, 1, 1), date(2020, 1, 31)
    >>> date_cells(day, *ends, [2020 * 366 + 10.0], missing=True).labels
    ('2020-01-01 to 2020-01-10', '2020-01-10 to 2020-02-01', None)
    """
    days = [min(max(day_of(number), first), last) for number in numbers]
    atoms = {day + _DAY for day, times in Counter(days).items() if times > 1}
    inner = sorted(day for day in {*days, *atoms} if first < day <= last)
    return cells_between(column, [first, *inner, last + _DAY], missing=missing)


def cells_between(column: Column, edges: Sequence[date], *, missing: bool) -> ColumnCells:
    """An interval of days between each two edges; it does not hold its upper one."""
    this = ColumnRef(column.name)
    texts = [edge.isoformat() for edge in edges]
    tests = [
        Call("and", (Call(">=", (this, Literal(low))), Call("<", (this, Literal(high)))))
        for low, high in pairwise(texts)
    ]
    labels = (*(f"{low} to {high}" for low, high in pairwise(texts)), *([None] * missing))
    counted = number_places(column, tests, missing=missing)
    return ColumnCells(column.name, "date", labels, tuple(texts), counted)


def read_edges(column: Column, cuts: Sequence[Any]) -> list[date]:
    """Public cuts of dates: the last one ends the last interval."""
    try:
        edges = [date.fromisoformat(str(cut)) for cut in cuts]
    except (TypeError, ValueError):
        edges = []
    if len(edges) < 2 or any(low >= high for low, high in pairwise(edges)) or column.timed:
        raise InvalidParameter(
            f"`cuts` of {column.name} are two or more increasing days, such as "
            f'["2020-01-01", "2020-07-01", "2021-01-01"]. Found {cuts!r}. Nothing was spent.'
        )
    return edges


def draw_days(
    cells: ColumnCells, codes: NDArray[np.int64], chance: Generator
) -> list[str | None]:
    """A day of each cell's interval; None for the cell of missing values."""
    edges = np.array([date.fromisoformat(str(cut)).toordinal() for cut in cells.cuts])
    inside = codes < edges.size - 1
    low = edges[np.minimum(codes, edges.size - 2)]
    high = edges[np.minimum(codes + 1, edges.size - 1)]
    days = chance.integers(low, np.maximum(high, low + 1))
    known = {int(day): date.fromordinal(int(day)).isoformat() for day in set(days.tolist())}
    return [
        known[day] if own else None
        for day, own in zip(days.tolist(), inside.tolist(), strict=True)
    ]
