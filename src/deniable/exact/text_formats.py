"""Shares, factors, and tables of plain text. Each is written in one way everywhere.

Functions that end in `_up` round up: they show upper bounds.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from unicodedata import combining, east_asian_width


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


def percent_tenths(share: float) -> str:
    """An estimate in per cent with one decimal, rounded to the nearest.

    >>> percent_tenths(0.1204)
    '12.0 %'
    """
    return f"{100 * share:.1f} %"


def percent_tenths_up(share: Fraction) -> str:
    """The same, rounded up.

    >>> percent_tenths_up(Fraction(1, 4)), percent_tenths_up(Fraction(2501, 10000))
    ('25.0 %', '25.1 %')
    """
    return f"{math.ceil(share * 1000) / 10:.1f} %"


def people_up(share: Fraction) -> str:
    """A share as a number of people in a thousand, rounded up.

    >>> people_up(Fraction(2501, 10000))
    '251 in 1,000'
    """
    return f"{math.ceil(share * 1000):,} in 1,000"


def factor_up(factor: Fraction) -> str:
    """A factor with two decimals, rounded up; a whole factor stays whole.

    >>> factor_up(Fraction(3)), factor_up(Fraction("3.0041")), factor_up(Fraction(10**9, 3))
    ('3', '3.01', '3.34e+08')
    """
    if factor.denominator == 1 and factor < 10**6:
        return f"{factor.numerator:,}"
    if factor < 10**6:
        return f"{math.ceil(factor * 100) / 100:,.2f}"
    power = len(str(math.floor(factor))) - 1
    hundredths = math.ceil(factor / Fraction(10) ** (power - 2))
    if hundredths == 1000:
        power, hundredths = power + 1, 100
    return f"{hundredths / 100:.2f}e+{power:02d}"


def align_columns(rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> list[str]:
    """The rows of a table as lines: numbers stand to the right, other cells to the left.

    >>> align_columns([["ward", "n"], ["A", "12"]], [False, True])
    ['ward   n', 'A     12']
    >>> align_columns([["ward", "n"], ["心臓", "12"]], [False, True])
    ['ward   n', '心臓  12']
    """
    widths = column_widths(rows)

    def pad(cell: str, width: int, number: bool) -> str:
        blanks = " " * (width - display_width(cell))
        return blanks + cell if number else cell + blanks

    return ["  ".join(map(pad, row, widths, numeric)) for row in rows]


def column_widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """The width of the widest cell of each column."""
    return [max(map(display_width, column)) for column in zip(*rows, strict=True)]


def display_width(text: str) -> int:
    """How many columns of a terminal a text takes: Chinese characters take two, accents none.

    >>> display_width("ward"), display_width("心臓")
    (4, 4)
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1
        for character in text
    )
