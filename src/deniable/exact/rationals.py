"""Public parameters as exact rationals.

A float means the shortest decimal that prints as it: `rational(0.1)` is 1/10, not the
binary neighbour of 1/10. Mechanism, loss and ledger all use that one rational.
"""

import math
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import TypeAlias

from deniable.errors import InvalidParameter

Number: TypeAlias = int | float | Fraction | Decimal

FARTHEST = 1000  # powers of ten of a decimal; doubles reach a third of it


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
    if isinstance(value, Rational):  # of fixed width, perhaps: those wrap around
        return Fraction(int(value.numerator), int(value.denominator))
    if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
        raise InvalidParameter(f"`{name}` must be finite. Found {value}.")
    if isinstance(value, Decimal):
        if value and abs(value.adjusted()) > FARTHEST:  # written out, it would fill the memory
            raise InvalidParameter(
                f"`{name}` is out of any useful range: write a number between 1e-{FARTHEST} "
                f"and 1e{FARTHEST}. Found {value:.6g}."
            )
        return Fraction(value)
    # numpy's shorter floats print shorter decimals, but only a float's repr is settled.
    return Fraction(repr(float(value)) if isinstance(value, float) else str(value))


def positive(value: Number, name: str = "value") -> Fraction:
    """`rational(value)`, refused unless it is above zero."""
    exact = rational(value, name)
    if exact <= 0:
        raise InvalidParameter(f"`{name}` must be positive. Found {value}.")
    return exact


def probability(value: Number, name: str = "p") -> Fraction:
    """`rational(value)`, refused unless it lies in [0, 1]."""
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
