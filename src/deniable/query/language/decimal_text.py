"""Rational numbers as decimal text."""

from fractions import Fraction


def decimal_text(number: Fraction) -> str:
    """A rational as the shortest exact decimal; if there is none, with seventeen digits.

    >>> decimal_text(Fraction(3)), decimal_text(Fraction(1, 8)), decimal_text(Fraction(1, 3))
    ('3', '0.125', '0.33333333333333331')
    """
    if number.denominator == 1:
        return str(number.numerator)
    short = repr(float(number))
    return short if Fraction(short) == number else format(float(number), ".17g")
