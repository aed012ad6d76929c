"""An answer as a table of `value ± margin`, in plain text or HTML.

An interval that is not about symmetric is shown by its ends: `value (low to high)`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from deniable.exact.foreign_text import printable
from deniable.exact.text_formats import align_columns, column_widths

MOST_ROWS = 40  # rows that are printed; the others are only counted


def format_cells(
    table: "pa.Table",
    margins: Mapping[str, str],
    most: int = MOST_ROWS,
    units: Mapping[str, str] | None = None,
    ends: Mapping[str, tuple[str, str]] | None = None,
) -> tuple[list[str], list[list[str]], list[bool]]:
    """Headings, rows of text, and which columns are numbers.

    Keys are text from the data: what a terminal would obey is shown as an escape.
    """
    ends = ends or {}
    beside = {*margins.values(), *(name for pair in ends.values() for name in pair)}
    names = [name for name in table.column_names if name not in beside]
    first = table.slice(0, most)
    columns: list[list[str]] = []
    for name in names:
        values = first[name].to_pylist()
        halves = first[margins[name]].to_pylist() if name in margins else None
        lows, highs = (
            (first[end].to_pylist() for end in ends[name])
            if name in ends
            else ([None] * len(values), [None] * len(values))
        )
        pairs = list(zip(lows, highs, strict=True))
        columns.append(_format_column(values, halves, pairs, (units or {}).get(name, "")))
    numeric = [_is_numeric(table[name].type) for name in names]
    rows = [list(map(printable, row)) for row in zip(*columns, strict=True)]
    return list(map(printable, names)), rows, numeric


def _is_numeric(kind: "pa.DataType") -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _format_column(
    values: Sequence[Any],
    halves: Sequence[Any] | None,
    ends: Sequence[tuple[Any, Any]],
    unit: str,
) -> list[str]:
    if halves is None:
        return ["NULL" if value is None else str(value) for value in values]
    return [
        format_with_margin(value, half, unit, pair)
        for value, half, pair in zip(values, halves, ends, strict=True)
    ]


def format_with_margin(
    value: Any,
    margin: float | None,
    unit: str = "",
    ends: tuple[Any, Any] = (None, None),
) -> str:
    """A number and its margin, with two significant digits of the margin.

    The unit of the margin is shown if it is not the value's unit. The ends of the interval are
    shown instead if they are known and the margin has a unit of its own, or if one end is much
    nearer than the other.

    >>> (
    ...     format_with_margin(1234, 6),
    ...     format_with_margin(0.51237, 0.0312),
    ...     format_with_margin(2.5, None),
    ...     format_with_margin(None, None),
    ... )
    ('1,234 ± 6', '0.512 ± 0.031', '2.5 ± ?', 'NULL')
    >>> format_with_margin(41, 12, "ranks"), format_with_margin("surgery", 3, "rows")
    ('41 ± 12 ranks', 'surgery ± 3 rows')
    >>> format_with_margin(41, 9, ends=(40, 50)), format_with_margin(0.5, 0.1, ends=(0.4, 0.6))
    ('41 (40 to 50)', '0.50 ± 0.10')
    >>> format_with_margin(0.34, 142, "ranks", (0.0, 0.34))
    '0.34 (0.00 to 0.34)'
    """
    if value is None:
        return "NULL"
    if (unit and None not in ends) or is_lopsided(value, *ends):
        half = (ends[1] - ends[0]) / 2 if unit else margin
        shown, low, high = (_number(number, half) for number in (value, *ends))
        return f"{shown} ({low} to {high})"
    if unit and margin is not None:
        plain = isinstance(value, str | bool) or not isinstance(value, int | float)
        shown = (
            str(value) if plain else f"{value:,}" if isinstance(value, int) else f"{value:,g}"
        )
        return f"{shown} ± {margin:,} {unit}"
    if margin is None:
        return f"{value:,} ± ?" if isinstance(value, int) else f"{value:,g} ± ?"
    if isinstance(value, int):
        return f"{value:,} ± {margin:,}"
    digits = decimals_for(margin)
    return f"{value:,.{digits}f} ± {margin:,.{digits}f}"


def is_lopsided(value: float, low: float | None, high: float | None) -> bool:
    """Whether one end is farther away than the other by more than a tenth.

    >>> is_lopsided(10, 5, 15), is_lopsided(10, 9, 15), is_lopsided(10, None, None)
    (False, True, False)
    """
    if low is None or high is None:
        return False
    near, far = sorted((value - low, high - value))
    return far > near + far / 10


def _number(number: Any, margin: float | None) -> str:
    """A number with as many decimals as its margin has."""
    if isinstance(number, int) or not margin:
        return f"{number:,}" if isinstance(number, int) else f"{number:,g}"
    return f"{number:,.{decimals_for(margin)}f}"


def format_margin(margin: float) -> str:
    """A margin: as a whole number if it is one, else with two significant digits, rounded up.

    >>> format_margin(6.0), format_margin(0.0312), format_margin(1234.5)
    ('6', '0.032', '1,235')
    """
    if margin == math.floor(margin):
        return f"{margin:,.0f}"
    digits = decimals_for(margin)
    return f"{math.ceil(margin * 10**digits) / 10**digits:,.{digits}f}"


def decimals_for(margin: float) -> int:
    """The number of decimals that two significant digits of a margin take.

    >>> decimals_for(0.0312), decimals_for(4.2), decimals_for(310.0)
    (3, 1, 0)
    """
    return max(0, 1 - math.floor(math.log10(margin))) if margin > 0 else 2


def text_table(
    headings: list[str],
    rows: list[list[str]],
    numeric: list[bool],
    more: int,
    width: int | None = None,
) -> str:
    """A plain-text table with aligned columns; `more` counts the rows left out.

    A table that is wider than `width` continues below, each part with the first column.

    >>> print(text_table(["ward", "n", "m"], [["A", "5", "7"]], [False, True, True], 0, 9))
    ward  n
    ----  -
    A     5
    <BLANKLINE>
    ward  m
    ----  -
    A     7
    """
    parts = []
    for places in _fit_columns(column_widths([headings, *rows]), width):
        cells = [[row[place] for place in places] for row in (headings, *rows)]
        first, *below = align_columns(cells, [numeric[place] for place in places])
        rule = "  ".join("-" * column_width for column_width in column_widths(cells))
        parts.append("\n".join(line.rstrip() for line in (first, rule, *below)))
    return "\n\n".join(parts) + (f"\n... {more:,} more rows" if more > 0 else "")


def _fit_columns(widths: list[int], most: int | None) -> list[list[int]]:
    """The columns of each part of a table; the first column is in every part."""
    if most is None or sum(widths) + 2 * (len(widths) - 1) <= most or len(widths) < 3:
        return [list(range(len(widths)))]
    parts, room = [[0]], most - widths[0]
    for place, width in enumerate(widths[1:], 1):
        if width + 2 > room and len(parts[-1]) > 1:
            parts.append([0])
            room = most - widths[0]
        parts[-1].append(place)
        room -= width + 2
    return parts
