"""Numbers read onto a grid of whole steps, and handed back in the shape they came in.

Rounding is floor(x / step + 1/2), computed exactly: a float stands for its binary value, and
the fast float route is taken only where its error bound proves the answer. So the map is one
fixed function of each value alone, and two values that differ by t land at most t / step + 1
steps apart. Integers need no rounding when `step` divides 1; all other numbers do. Which of
the two it is follows from the type of the numbers, which is public, and never from a value.
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
class Gridded:
    """Numbers as whole steps. They are private, so they do not print."""

    steps: NDArray[Any] = field(repr=False)  # one axis; int64, or Python integers if they must
    real: bool  # whether they had to be rounded
    step: Fraction
    shape: tuple[int, ...]
    kind: Kind

    def plus(self, noise: NDArray[Any]) -> Any:
        """The numbers with `noise` (in steps) added, in the shape and kind they came in."""
        safe = max(_peak(self.steps), _peak(noise)) < _SAFE
        total = self.steps + noise if safe else self.steps.astype(object) + noise
        out = _in_units(total, self.step).reshape(self.shape)
        return out if self.kind == "array" else out.tolist()

    def find(self, output: Numbers) -> list[int | None]:
        """The whole steps that a public `output` stands for; None where it is off the grid."""
        found = np.array(output, dtype=object)
        if found.shape != self.shape:
            raise InvalidData("`output` must have the same shape as `value`.")
        return [_whole_steps(one, self.step) for one in found.ravel()]


def gridded(values: Numbers, step: Fraction) -> Gridded:
    """Reads numbers onto the grid.

    >>> gridded([0.5, 1.26], Fraction(1, 10)).steps.tolist()
    [5, 13]
    >>> gridded(7, Fraction(1)).real, gridded(7.0, Fraction(1)).real
    (False, True)
    """
    array, kind = _as_array(values)
    if array.size == 0:
        raise InvalidData("There are no values. Noise is added to one number or more.")
    flat = array.ravel()
    if flat.dtype.kind == "O":
        flat = _plain(flat)
    real = step.numerator != 1
    if flat.dtype.kind in "iu":
        steps = _from_integers(_fitted(flat), step)
    elif flat.dtype.kind == "f" and flat.dtype.itemsize <= 8:
        steps, real = _from_floats(flat.astype(np.float64), step), True
    elif flat.dtype.kind != "O":
        raise _not_numbers()
    elif isinstance(flat[0], int):  # all of them are, and too large for int64
        steps = _from_integers(flat, step)
    else:
        steps = _fitted(np.array([_round(one, step) for one in flat], dtype=object))
        real = True
    return Gridded(steps, real, step, array.shape, kind)


def _not_numbers() -> InvalidData:
    return InvalidData(
        "The values must be numbers: one, a list of them, or an array of integers or floats "
        "of at most 64 bits. Text, booleans, missing and complex values have no place on a "
        "grid: turn them into numbers first (count the true ones, fill the missing ones)."
    )


def _not_finite() -> InvalidData:
    return InvalidData(
        "The values must be finite; infinity or NaN is among them. Noise can hide neither: "
        "map both to numbers first, record by record."
    )


def _as_array(values: Numbers) -> tuple[NDArray[Any], Kind]:
    if isinstance(values, Real | Decimal):  # numpy's scalars are Real too
        return np.array(values, dtype=object), "scalar"
    if isinstance(values, np.ma.MaskedArray):
        raise _not_numbers()
    if isinstance(values, np.ndarray):
        return np.asarray(values), "array"
    if isinstance(values, str | bytes):
        raise _not_numbers()
    if isinstance(values, Sequence):
        try:
            return np.array(values, dtype=object), "list"
        except ValueError:
            raise InvalidData("The rows of a list must have equal lengths.") from None
    if hasattr(values, "__array__"):
        return np.asarray(values), "array"
    raise _not_numbers()


def _plain(flat: NDArray[Any]) -> NDArray[Any]:
    """Objects as one array of integers or floats if their types allow, else as Fractions."""
    types = set(map(type, flat))
    if any(issubclass(kind, bool | np.bool_ | np.longdouble) for kind in types):
        raise _not_numbers()
    if all(issubclass(kind, Integral) for kind in types):
        return _fitted(np.array([int(one) for one in flat], dtype=object))
    if all(issubclass(kind, float | np.floating) for kind in types):
        return flat.astype(np.float64)
    if not all(issubclass(kind, Real | Decimal) for kind in types):
        raise _not_numbers()
    return np.array([_exact(one) for one in flat], dtype=object)


def _fitted(whole: NDArray[Any]) -> NDArray[Any]:
    """Integers as int64 if they all fit, else as Python integers."""
    if whole.dtype == np.int64:
        return whole
    if _peak(whole) < 2**63:
        return whole.astype(np.int64)
    return whole.astype(object)


def _peak(whole: NDArray[Any]) -> int:
    return max(int(whole.max()), -int(whole.min()))


def _from_integers(whole: NDArray[Any], step: Fraction) -> NDArray[Any]:
    """floor(x / step + 1/2); exactly x / step when `step` is one over an integer."""
    if step == 1:
        return whole
    up, down = 2 * step.denominator, 2 * step.numerator
    if max(_peak(whole), 1) * up + step.numerator >= _SAFE:
        whole = whole.astype(object)
    return _fitted((whole * up + step.numerator) // down)


def _from_floats(values: NDArray[np.float64], step: Fraction) -> NDArray[Any]:
    if not np.isfinite(values).all():
        raise _not_finite()
    unit = _quotient(*step.as_integer_ratio())
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        scaled = values / unit
        near = np.rint(scaled)
        rest = scaled - near  # exact: both are multiples of the last place of `scaled`
        if not sys.float_info.min <= unit < math.inf:  # so its relative error is unknown
            certain = np.zeros(values.shape, dtype=np.bool_)
        elif Fraction(unit) == step and math.frexp(unit)[0] == 0.5:
            # Dividing by a power of two is exact (an underflow rounds to 0 either way).
            certain = np.abs(scaled) < _EXACT
            near += rest == 0.5  # ties go up
        else:
            # `unit` and the quotient are each off by 2**-53 of themselves at most.
            doubt = (np.abs(scaled) + 1) * 2.0**-50
            certain = (np.abs(scaled) < 2.0**49) & (0.5 - np.abs(rest) > doubt)
    if certain.all():
        return near.astype(np.int64)
    steps = np.where(certain, near, 0).astype(np.int64).astype(object)
    for i in np.flatnonzero(~certain):
        steps[i] = _round(Fraction(float(values[i])), step)
    return _fitted(steps)


def _exact(value: Any) -> Fraction:
    try:
        return Fraction(int(value) if isinstance(value, Integral) else value)
    except (ValueError, OverflowError):
        raise _not_finite() from None


def _round(value: Fraction, step: Fraction) -> int:
    return math.floor(value / step + Fraction(1, 2))


def _in_units(steps: NDArray[Any], step: Fraction) -> NDArray[Any]:
    """Multiples of `step`: integers if it is one, else the nearest floats."""
    if step == 1:
        return _fitted(steps)
    up, down = step.numerator, step.denominator
    peak = max(_peak(steps), 1) * up
    if peak >= _SAFE or (down > 1 and max(peak, down) >= _EXACT):
        steps = steps.astype(object)
    if down == 1:
        return _fitted(steps * up)
    if steps.dtype == object:
        return np.array([_quotient(int(one) * up, down) for one in steps], dtype=np.float64)
    return np.asarray(steps * up / down, dtype=np.float64)


def _quotient(up: int, down: int) -> float:
    try:
        return up / down
    except OverflowError:
        return math.inf if up > 0 else -math.inf


def _whole_steps(output: Any, step: Fraction) -> int | None:
    exact = rational(output, "output") / step
    nearest = round(exact)
    if exact == nearest or (
        isinstance(output, float) and _quotient(*(nearest * step).as_integer_ratio()) == output
    ):
        return nearest
    return None
