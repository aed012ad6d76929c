"""Shares in per cent, and tables of plain text. Each is written in one way everywhere."""

import math
from collections.abc import Sequence
from fractions import Fraction


def percent(share: Fraction | float, unit: str = " %") -> str:
    """A share in per cent.

    >>> percent(Fraction(19, 20)), percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100 * float(share):g}{unit}"


def percent_up(share: Fraction | float) -> str:
    """A share in per cent with at most one decimal, rounded up.

    >>> percent_up(Fraction(1, 4)), percent_up(Fraction(2501, 10000))
    ('25 %', '25.1 %')
    """
    return f"{math.ceil(share * 1000) / 10:g} %"


def percent_down(share: Fraction | float) -> str:
    """A share in per cent with at most two decimals, rounded down: below 1 it is not 100 %.

    >>> percent_down(0.99999)
    '99.99 %'
    """
    return f"{math.floor(share * 10_000) / 100:g} %"


def align_columns(rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> list[str]:
    """The rows of a table as lines: numbers stand to the right, other cells to the left.

    >>> align_columns([["ward", "n"], ["A", "12"]], [False, True])
    ['ward   n', 'A     12']
    """
    widths = column_widths(rows)
    return [
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, numeric, strict=True)
        )
        for row in rows
    ]


def column_widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """The length of the longest cell of each column."""
    return [max(map(len, column)) for column in zip(*rows, strict=True)]
