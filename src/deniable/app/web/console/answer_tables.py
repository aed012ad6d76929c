"""An answer as a table that people read: digits no finer than the margin, and low and high.

What is shown is rounded; beside it each cell carries the exact released number, which is what
the certificate signs and what downloads hold.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deniable.query.plan.plan import Plan
from deniable.release.answer.answer_table import Answer
from deniable.release.answer.formatting import decimals_for
from deniable.release.answer.record import rows as exact_rows
from deniable.release.answer.wide_margins import margin_units

MOST_ROWS = 200  # that a page shows; downloads have all
_MOST_CELLS = 800  # of a wide table: about 90 kB
_FEWEST_ROWS = 10


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell: what is read, and the exact value under its column."""

    text: str
    column: str
    row: int
    exact: str
    number: bool = False
    head: bool = False  # whether it is a key


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table of an answer. `negative`: whether a count is below zero."""

    headings: tuple[tuple[str, bool], ...]  # and whether the column holds numbers
    rows: tuple[tuple[ShownCell, ...], ...]
    more: int
    negative: bool
    described: str


def show_answer(plan: Plan, answer: Answer) -> ShownTable:
    """The table of an answer; every number with its low and high end."""
    units = margin_units(plan)
    headings: list[tuple[str, bool]] = []
    for name in answer.shown:
        numeric = name in answer.margins
        headings.append((name, numeric))
        if name in answer.ends:
            headings += [("low", True), ("high", True)]
        elif numeric:
            headings.append((f"± {units.get(name, '')}".strip(), True))
    most = min(MOST_ROWS, max(_FEWEST_ROWS, _MOST_CELLS // max(1, len(headings))))
    written = exact_rows(answer.table.slice(0, most))
    cells = tuple(
        tuple(_cells(answer, units, row, number)) for number, row in enumerate(written)
    )
    counts = {output.name for output in plan.outputs if output.count}
    negative = any(
        isinstance(row[name], int | float) and row[name] < 0
        for row in written
        for name in counts & set(answer.margins)
    )
    more = max(0, answer.table.num_rows - most)
    return ShownTable(tuple(headings), cells, more, negative, _describe(headings, cells))


def _cells(
    answer: Answer, units: Mapping[str, str], row: Mapping[str, Any], number: int
) -> list[ShownCell]:
    cells: list[ShownCell] = []

    def add(column: str, text: str, *, numeric: bool) -> None:
        exact = _script_text(row[column])
        cells.append(ShownCell(text, column, number, exact, numeric, not numeric))

    for name in answer.shown:
        value = row[name]
        if name not in answer.margins:
            add(name, "NULL" if value is None else str(value), numeric=False)
            continue
        margin = None if name in units else row[answer.margins[name]]
        add(name, round_to(value, margin), numeric=True)
        if name in answer.ends:
            for end, away in zip(answer.ends[name], (math.floor, math.ceil), strict=True):
                add(end, round_to(row[end], margin, away), numeric=True)
        else:
            add(answer.margins[name], round_to(row[answer.margins[name]], None), numeric=True)
    return cells


def round_to(value: Any, margin: Any, away: Any = round) -> str:
    """A number with digits no finer than two digits of its margin.

    >>> round_to(12345, 1234), round_to(0.51237, 0.0312), round_to(41, 3), round_to(7, None)
    ('12,300', '0.512', '41', '7')
    >>> round_to(12345, 1234, math.ceil), round_to(None, None)
    ('12,400', 'no value')
    """
    if value is None:
        return "no value"
    if isinstance(value, bool | str):
        return str(value)
    if not isinstance(margin, int | float) or not math.isfinite(margin) or margin <= 0:
        return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
    if margin >= 100:
        unit = 10 ** (len(str(math.floor(margin))) - 2)
        return f"{away(value / unit) * unit:,}"
    if isinstance(value, int):
        return f"{value:,}"
    digits = decimals_for(margin)
    return f"{away(value * 10**digits) / 10**digits:,.{digits}f}"


def _script_text(value: Any) -> str:
    """A value of JSON as text that a browser's script can compare."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _describe(headings: list[tuple[str, bool]], rows: tuple[tuple[ShownCell, ...], ...]) -> str:
    """The first rows in words, for who cannot see a picture."""
    lines = []
    for row in rows[:10]:
        named = zip(headings, row, strict=True)
        lines.append(", ".join(f"{name} {cell.text}" for (name, _), cell in named))
    return "; ".join(lines)
