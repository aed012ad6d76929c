"""Scores of candidates, read as whole units, and the chosen one handed back by its name.

Integers are taken as they are, and so are Fractions and Decimals. A float is a computed
number, and what was added up in another order may differ in its last digits: floats are
rounded to a public grid, and every score is then taken to move by one grid step more than the
stated sensitivity, itself rounded up to whole steps. That covers the rounding, and up to half a
step of error in each float: floats that err by at most half a step differ by at most
sensitivity + step, and rounding keeps a difference within the next whole number of steps. The
grid is `step`, or sensitivity / 1024 where none is given. Which of these it is follows from
the types of the scores, which are public, never from a value.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms.grid import gridded

Candidates: TypeAlias = Sequence[Any] | NDArray[Any] | Mapping[Any, Any]

_FINE = 1024  # steps of the default grid to one sensitivity


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores in whole units. They are private, so they do not print."""

    units: NDArray[Any] = field(repr=False)  # one axis; int64, or Python integers
    unit: Fraction
    real: bool  # whether they had to be rounded
    names: tuple[Hashable, ...] | None = None  # of a mapping

    def reach(self, sensitivity: Fraction) -> Fraction:
        """How many units one person can move a score.

        >>> read([0.5, 1.5], step=Fraction(1, 10), sensitivity=Fraction(1)).reach(Fraction(1))
        Fraction(11, 1)
        """
        exact = sensitivity / self.unit
        return Fraction(math.ceil(exact) + 1) if self.real else exact

    def span(self, sensitivity: Fraction, *, monotone: bool) -> Fraction:
        """How many units one person can move the difference of two scores.

        Monotone scores move in one direction; but where they were rounded, an error in the
        last digit of a float may take one of them a step the other way.

        >>> read([1, 2], step=None, sensitivity=Fraction(1)).span(Fraction(1), monotone=True)
        Fraction(1, 1)
        """
        reach = self.reach(sensitivity)
        return reach + self.real if monotone else 2 * reach

    def behind(self) -> NDArray[Any]:
        """How many units each score lies below the best."""
        return self.units.max() - self.units if self._narrow() else _wide_behind(self.units)

    def _narrow(self) -> bool:
        return (
            self.units.dtype == object or int(self.units.max()) - int(self.units.min()) < 2**62
        )

    def name(self, index: int) -> Any:
        """What stands for a candidate: its key, or its index."""
        return index if self.names is None else self.names[index]

    def index(self, output: Any) -> int | None:
        """The place of an output; None where there is no such candidate."""
        if self.names is not None:
            return self.names.index(output) if output in self.names else None
        if not isinstance(output, Integral):
            return None
        return int(output) if 0 <= int(output) < self.units.size else None

    def named(self, numbers: NDArray[np.float64]) -> Any:
        """One number for each candidate: a mapping for a mapping, else an array."""
        if self.names is None:
            return numbers
        return dict(zip(self.names, numbers.tolist(), strict=True))


def read(
    scores: Candidates,
    *,
    step: Fraction | None,
    sensitivity: Fraction,
    public_grid: bool = False,
) -> Scores:
    """Scores in whole units of the grid, or of their common denominator.

    With `public_grid` the unit never depends on a score, as noise on a grid demands.

    >>> read({"Fr": 0, "So": 4}, step=None, sensitivity=Fraction(1)).behind().tolist()
    [4, 0]
    >>> read([0.5, 0.25], step=None, sensitivity=Fraction(1)).units.tolist()
    [512, 256]
    """
    names = tuple(scores) if isinstance(scores, Mapping) else None
    values = list(scores.values()) if isinstance(scores, Mapping) else scores
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise InvalidData("Scores come as a list, an array or a mapping of candidate to score.")
    if not len(values) or np.ndim(values) != 1:
        raise InvalidData(
            "There must be one score for each candidate, and one candidate at least."
        )
    if step is None and not public_grid and (exact := _fractions(values)) is not None:
        common = math.lcm(*(one.denominator for one in exact))
        whole = [int(one * common) for one in exact]
        return Scores(np.array(whole, dtype=object), Fraction(1, common), False, names)
    if step is None:
        step = Fraction(1) if _whole(values) else sensitivity / _FINE
    on_grid = gridded(values, step)
    return Scores(on_grid.steps, step, on_grid.real, names)


def candidates_of(candidates: object) -> int:
    """A number of candidates, for planning.

    >>> candidates_of(3)
    3
    """
    if (
        isinstance(candidates, bool)
        or not isinstance(candidates, Integral)
        or int(candidates) < 1
    ):
        raise InvalidParameter(
            f"`candidates` must be a whole number, 1 or more: the margin grows with how many "
            f"there are to choose from. Found {candidates!r}."
        )
    return int(candidates)


def _whole(values: Any) -> bool:
    if isinstance(values, np.ndarray) and values.dtype != object:
        return values.dtype.kind in "iu"
    return all(isinstance(one, Integral) for one in values)


def _fractions(values: Any) -> list[Fraction] | None:
    """Exact rationals where all are exact and some are not whole; else None."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        return None
    types = set(map(type, values))
    if bool in types or all(issubclass(kind, Integral) for kind in types):
        return None
    if not all(issubclass(kind, Rational | Decimal) for kind in types):
        return None
    if not all(one.is_finite() for one in values if isinstance(one, Decimal)):
        raise InvalidData("The scores must be finite; infinity or NaN is among them.")
    return [
        Fraction(one)
        if isinstance(one, Decimal)
        else Fraction(int(one.numerator), int(one.denominator))
        for one in values
    ]


def _wide_behind(units: NDArray[Any]) -> NDArray[Any]:
    wide = units.astype(object)
    return np.asarray(wide.max() - wide)
