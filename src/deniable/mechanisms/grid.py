"""Rounds numbers to a grid of whole steps, and returns them in the shape they had.

Rounding is floor(x / step + 1/2), computed exactly: a float stands for its binary value, and
the fast float route is used only where its error bound proves the answer. So each value is
mapped by one fixed function, and two values that differ by t end at most t / step + 1 steps
apart. Integers need no rounding if `step` is one over a whole number; all other numbers do.
Whether to round depends only on the type of the numbers, which is public, never on a value.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData
from deniable.exact.rationals import rational

Numbers: TypeAlias = int | float | Fraction | Decimal | Sequence[Any] | NDArray[Any]
Kind: TypeAlias = Literal["scalar", "list", "array"]

_SAFE = 2**62  # two such integers add up without leaving int64
_EXACT = 2**53  # below this every integer is a float


@dataclass(frozen=True, slots=True)
class GridNumbers:
    """Numbers as whole steps. They are private, so they do not print."""

    steps: NDArray[Any] = field(repr=False)  # one axis; int64, or Python integers if too large
    real: bool  # whether they had to be rounded
    step: Fraction
    shape: tuple[int, ...]
    kind: Kind

    def add_noise(self, noise: NDArray[Any]) -> Any:
        """The numbers plus `noise` (in steps), in the shape and kind that the input had."""
        safe = max(_peak(self.steps), _peak(noise)) < _SAFE
        total = self.steps + noise if safe else self.steps.astype(object) + noise
        out = _to_units(total, self.step).reshape(self.shape)
        return out if self.kind == "array" else out.tolist()

    def steps_of(self, output: Numbers) -> list[int | None]:
        """The whole steps that a public `output` stands for; None where it is off the grid."""
        outputs = np.array(output, dtype=object)
        if outputs.shape != self.shape:
            raise InvalidData("`output` must have the same shape as `value`.")
        return [_find_step(number, self.step) for number in outputs.ravel()]


def put_on_grid(values: Numbers, step: Fraction) -> GridNumbers:
    """Rounds numbers to the grid.

    >>> put_on_grid([0.5, 1.26], Fraction(1, 10)).steps.tolist()
    [5, 13]
    >>> put_on_grid(7, Fraction(1)).real, put_on_grid(7.0, Fraction(1)).real
    (False, True)
    """
    array, kind = _as_array(values)
    if array.size == 0:
        raise InvalidData("There are no values. Give one number or more.")
    flat = array.ravel()
    if flat.dtype.kind == "O":
        flat = _simplify(flat)
    real = step.numerator != 1
    if flat.dtype.kind in "iu":
        steps = _round_integers(_fit_int64(flat), step)
    elif flat.dtype.kind == "f" and flat.dtype.itemsize <= 8:
        steps, real = _round_floats(flat.astype(np.float64), step), True
    elif flat.dtype.kind != "O":
        raise _not_numbers_error()
    elif isinstance(flat[0], int):  # all are integers, and some are too large for int64
        steps = _round_integers(flat, step)
    else:
        steps = _fit_int64(np.array([_round(value, step) for value in flat], dtype=object))
        real = True
    return GridNumbers(steps, real, step, array.shape, kind)


def _not_numbers_error() -> InvalidData:
    return InvalidData(
        "The values must be a number, a list of numbers, or an array of integers or floats "
        "of at most 64 bits. Text, booleans, missing and complex values cannot be rounded to "
        "a grid. Turn them into numbers first: count the true ones, fill in the missing ones."
    )


def _not_finite_error() -> InvalidData:
    return InvalidData(
        "The values must be finite. Some are infinite or NaN, and noise cannot hide those: "
        "replace them with numbers first, record by record."
    )


def _as_array(values: Numbers) -> tuple[NDArray[Any], Kind]:
    if isinstance(values, Real | Decimal):  # numpy's scalars are Real too
        return np.array(values, dtype=object), "scalar"
    if isinstance(values, np.ma.MaskedArray):
        raise _not_numbers_error()
    if isinstance(values, np.ndarray):
        return np.asarray(values), "array"
    if isinstance(values, str | bytes):
        raise _not_numbers_error()
    if isinstance(values, Sequence):
        try:
            return np.array(values, dtype=object), "list"
        except ValueError:
            raise InvalidData("The rows of a list must have equal lengths.") from None
    if hasattr(values, "__array__"):
        return np.asarray(values), "array"
    raise _not_numbers_error()


def _simplify(flat: NDArray[Any]) -> NDArray[Any]:
    """Objects as one array of integers or floats if their types allow, else as Fractions."""
    types = set(map(type, flat))
    if any(issubclass(kind, bool | np.bool_ | np.longdouble) for kind in types):
        raise _not_numbers_error()
    if all(issubclass(kind, Integral) for kind in types):
        return _fit_int64(np.array([int(value) for value in flat], dtype=object))
    if all(issubclass(kind, float | np.floating) for kind in types):
        return flat.astype(np.float64)
    if not all(issubclass(kind, Real | Decimal) for kind in types):
        raise _not_numbers_error()
    return np.array([_to_fraction(value) for value in flat], dtype=object)


def _fit_int64(whole: NDArray[Any]) -> NDArray[Any]:
    """Integers as int64 if they all fit, else as Python integers."""
    if whole.dtype == np.int64:
        return whole
    if _peak(whole) < 2**63:
        return whole.astype(np.int64)
    return whole.astype(object)


def _peak(whole: NDArray[Any]) -> int:
    return max(int(whole.max()), -int(whole.min()))


def _round_integers(whole: NDArray[Any], step: Fraction) -> NDArray[Any]:
    """floor(x / step + 1/2); exactly x / step when `step` is one over an integer."""
    if step == 1:
        return whole
    up, down = 2 * step.denominator, 2 * step.numerator
    if max(_peak(whole), 1) * up + step.numerator >= _SAFE:
        whole = whole.astype(object)
    return _fit_int64((whole * up + step.numerator) // down)


def _round_floats(values: NDArray[np.float64], step: Fraction) -> NDArray[Any]:
    if not np.isfinite(values).all():
        raise _not_finite_error()
    unit = _quotient(*step.as_integer_ratio())
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        scaled = values / unit
        near = np.rint(scaled)
        rest = scaled - near  # exact: both are multiples of the last place of `scaled`
        if not sys.float_info.min <= unit < math.inf:  # its relative error is unknown
            certain = np.zeros(values.shape, dtype=np.bool_)
        elif Fraction(unit) == step and math.frexp(unit)[0] == 0.5:
            # Division by a power of two is exact (an underflow rounds to 0 in both cases).
            certain = np.abs(scaled) < _EXACT
            near += rest == 0.5  # ties go up
        else:
            # `unit` and the quotient each have a relative error of at most 2**-53.
            doubt = (np.abs(scaled) + 1) * 2.0**-50
            certain = (np.abs(scaled) < 2.0**49) & (0.5 - np.abs(rest) > doubt)
    if certain.all():
        return near.astype(np.int64)
    steps = np.where(certain, near, 0).astype(np.int64).astype(object)
    for i in np.flatnonzero(~certain):
        steps[i] = _round(Fraction(float(values[i])), step)
    return _fit_int64(steps)


def _to_fraction(value: Any) -> Fraction:
    try:
        return Fraction(int(value) if isinstance(value, Integral) else value)
    except (ValueError, OverflowError):
        raise _not_finite_error() from None


def _round(value: Fraction, step: Fraction) -> int:
    return math.floor(value / step + Fraction(1, 2))


def _to_units(steps: NDArray[Any], step: Fraction) -> NDArray[Any]:
    """Multiples of `step`: integers if `step` is whole, else the nearest floats."""
    if step == 1:
        return _fit_int64(steps)
    up, down = step.numerator, step.denominator
    peak = max(_peak(steps), 1) * up
    if peak >= _SAFE or (down > 1 and max(peak, down) >= _EXACT):
        steps = steps.astype(object)
    if down == 1:
        return _fit_int64(steps * up)
    if steps.dtype == object:
        return np.array([_quotient(int(k) * up, down) for k in steps], dtype=np.float64)
    return np.asarray(steps * up / down, dtype=np.float64)


def _quotient(up: int, down: int) -> float:
    try:
        return up / down
    except OverflowError:
        return math.inf if up > 0 else -math.inf


def _find_step(output: Any, step: Fraction) -> int | None:
    exact = rational(output, "output") / step
    nearest = round(exact)
    if exact == nearest or (
        isinstance(output, float) and _quotient(*(nearest * step).as_integer_ratio()) == output
    ):
        return nearest
    return None
