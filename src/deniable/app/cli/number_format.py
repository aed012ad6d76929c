"""Formats numbers for people. Functions that end in `_up` round up: they show upper bounds."""

import math
from fractions import Fraction


def percent_up(share: Fraction) -> str:
    """A share as a percentage with one decimal, rounded up.

    >>> percent_up(Fraction(1, 4)), percent_up(Fraction(2501, 10000))
    ('25.0 %', '25.1 %')
    """
    return f"{math.ceil(share * 1000) / 10:.1f} %"


def percent(share: float) -> str:
    """An estimate as a percentage with one decimal, rounded to the nearest.

    >>> percent(0.1204)
    '12.0 %'
    """
    return f"{100 * share:.1f} %"


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
