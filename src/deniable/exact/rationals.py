"""Public parameters as exact rationals.

A float means the decimal that Python prints for it: `rational(0.1)` is 1/10, not the nearest
binary fraction. Mechanism, loss and ledger all use this one rational.
"""

import math
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import TypeAlias

from deniable.errors import InvalidParameter

Number: TypeAlias = int | float | Fraction | Decimal

LARGEST_EXPONENT = 1000  # of ten, in a decimal; floats reach about a third of it


def rational(value: Number, name: str = "value") -> Fraction:
    """The exact rational that a public parameter stands for.

    >>> rational(0.1)
    Fraction(1, 10)
    """
    if isinstance(value, Fraction) and type(value.numerator) is type(value.denominator) is int:
        return value
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        raise InvalidParameter(
            f"`{name}` must be a number (int, float, Fraction or Decimal). "
            f"Found {value!r} of type {type(value).__name__}."
        )
    if isinstance(value, Rational):  # numpy integers could overflow later
        return Fraction(int(value.numerator), int(value.denominator))
    if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
        raise InvalidParameter(f"`{name}` must be finite. Found {value}.")
    if isinstance(value, Decimal):
        # Written out, a number with a huge exponent would fill the memory.
        if value and abs(value.adjusted()) > LARGEST_EXPONENT:
            raise InvalidParameter(
                f"`{name}` is out of any useful range: write a number between "
                f"1e-{LARGEST_EXPONENT} and 1e{LARGEST_EXPONENT}. Found {value:.6g}."
            )
        return Fraction(value)
    # A numpy float64 is a float with a repr of its own; a float32 prints its shortest decimal.
    return Fraction(repr(float(value)) if isinstance(value, float) else str(value))


def positive(value: Number, name: str = "value") -> Fraction:
    """`rational(value)`, which must be above zero."""
    exact = rational(value, name)
    if exact <= 0:
        raise InvalidParameter(f"`{name}` must be positive. Found {value}.")
    return exact


def probability(value: Number, name: str = "p") -> Fraction:
    """`rational(value)`, which must lie in [0, 1]."""
    exact = rational(value, name)
    if not 0 <= exact <= 1:
        raise InvalidParameter(f"`{name}` must be a probability, from 0 to 1. Found {value}.")
    return exact


def whole(value: int, name: str = "count", *, least: int = 1) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InvalidParameter(
            f"`{name}` must be a whole number, {least} or more. Found {value!r}."
        )
    return int(value)


def confidence_level(confidence: Number) -> Fraction:
    """The confidence as an exact rational; above 0 and below 1.

    >>> confidence_level(0.95)
    Fraction(19, 20)
    """
    level = rational(confidence, "confidence")
    if not 0 < level < 1:
        raise InvalidParameter(
            f"`confidence` must be above 0 and below 1. Found {confidence}. No margin holds "
            "with certainty, because the noise is random."
        )
    return level


def decimal_text(number: Fraction) -> str:
    """A rational as its shortest exact decimal if it has one, else with seventeen digits.

    >>> decimal_text(Fraction(3)), decimal_text(Fraction(1, 8)), decimal_text(Fraction(1, 3))
    ('3', '0.125', '0.33333333333333331')
    """
    if number.denominator == 1:
        return str(number.numerator)
    short = repr(float(number))
    return short if Fraction(short) == number else format(float(number), ".17g")
