"""Scores of candidates, read as whole units; the chosen candidate is returned by its name.

Integers, Fractions and Decimals are used as they are. A float is a computed number: the same
sum in another order may differ in its last digits. So floats are rounded to a public grid, and
every score is then assumed to move by one grid step more than the stated sensitivity, itself
rounded up to whole steps. That covers the rounding, and an error of up to half a step in each
float: such floats differ by at most sensitivity + step, and rounding keeps a difference within
the next whole number of steps. The grid is `step`; the default is sensitivity / 1024. Only the
types of the scores, which are public, decide whether to round, never a value.
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
from deniable.mechanisms.grid import put_on_grid

Candidates: TypeAlias = Sequence[Any] | NDArray[Any] | Mapping[Any, Any]

_FINE = 1024  # steps of the default grid to one sensitivity


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores in whole units. They are private, so they do not print."""

    units: NDArray[Any] = field(repr=False)  # one axis; int64, or Python integers
    unit: Fraction
    real: bool  # whether they had to be rounded
    names: tuple[Hashable, ...] | None = None  # of a mapping

    def units_per_change(self, sensitivity: Fraction) -> Fraction:
        """How many units one change can move a score.

        >>> read_scores(
        ...     [0.5, 1.5], step=Fraction(1, 10), sensitivity=Fraction(1)
        ... ).units_per_change(Fraction(1))
        Fraction(11, 1)
        """
        exact = sensitivity / self.unit
        return Fraction(math.ceil(exact) + 1) if self.real else exact

    def span(self, sensitivity: Fraction, *, monotone: bool) -> Fraction:
        """How many units one change can move the difference of two scores.

        Monotone scores move in one direction. But if they were rounded, an error in the last
        digit of a float may move one of them a step in the other direction.

        >>> read_scores([1, 2], step=None, sensitivity=Fraction(1)).span(
        ...     Fraction(1), monotone=True
        ... )
        Fraction(1, 1)
        """
        reach = self.units_per_change(sensitivity)
        return reach + self.real if monotone else 2 * reach

    def gaps_to_best(self) -> NDArray[Any]:
        """How many units each score lies below the best."""
        return self.units.max() - self.units if self._fits_int64() else _wide_gaps(self.units)

    def _fits_int64(self) -> bool:
        return (
            self.units.dtype == object or int(self.units.max()) - int(self.units.min()) < 2**62
        )

    def name(self, index: int) -> Any:
        """The name of a candidate: its key, or its index."""
        return index if self.names is None else self.names[index]

    def index(self, output: Any) -> int | None:
        """The index of an output; None if there is no such candidate."""
        if self.names is not None:
            return self.names.index(output) if output in self.names else None
        if not isinstance(output, Integral):
            return None
        return int(output) if 0 <= int(output) < self.units.size else None

    def label(self, numbers: NDArray[np.float64]) -> Any:
        """One number for each candidate: a mapping for a mapping, else an array."""
        if self.names is None:
            return numbers
        return dict(zip(self.names, numbers.tolist(), strict=True))


def read_scores(
    scores: Candidates,
    *,
    step: Fraction | None,
    sensitivity: Fraction,
    public_grid: bool = False,
) -> Scores:
    """Scores in whole units of the grid, or of their common denominator.

    With `public_grid` the unit never depends on a score; noise on a grid needs this.

    >>> read_scores(
    ...     {"Fr": 0, "So": 4}, step=None, sensitivity=Fraction(1)
    ... ).gaps_to_best().tolist()
    [4, 0]
    >>> read_scores([0.5, 0.25], step=None, sensitivity=Fraction(1)).units.tolist()
    [512, 256]
    """
    names = tuple(scores) if isinstance(scores, Mapping) else None
    values = list(scores.values()) if isinstance(scores, Mapping) else scores
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise InvalidData("Scores must be a list, an array or a mapping of candidate to score.")
    if not len(values) or np.ndim(values) != 1:
        raise InvalidData(
            "There must be one score for each candidate, and at least one candidate."
        )
    if step is None and not public_grid and (exact := _read_fractions(values)) is not None:
        common = math.lcm(*(score.denominator for score in exact))
        whole = [int(score * common) for score in exact]
        return Scores(np.array(whole, dtype=object), Fraction(1, common), False, names)
    if step is None:
        step = Fraction(1) if _all_whole(values) else sensitivity / _FINE
    on_grid = put_on_grid(values, step)
    return Scores(on_grid.steps, step, on_grid.real, names)


def read_candidate_count(candidates: object) -> int:
    """A number of candidates, for planning.

    >>> read_candidate_count(3)
    3
    """
    if (
        isinstance(candidates, bool)
        or not isinstance(candidates, Integral)
        or int(candidates) < 1
    ):
        raise InvalidParameter(
            f"`candidates` must be a whole number, 1 or more. Found {candidates!r}. The margin "
            "grows with the number of candidates."
        )
    return int(candidates)


def _all_whole(values: Any) -> bool:
    if isinstance(values, np.ndarray) and values.dtype != object:
        return values.dtype.kind in "iu"
    return all(isinstance(value, Integral) for value in values)


def _read_fractions(values: Any) -> list[Fraction] | None:
    """The scores as Fractions if all are exact and some are not whole; else None."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        return None
    types = set(map(type, values))
    if bool in types or all(issubclass(kind, Integral) for kind in types):
        return None
    if not all(issubclass(kind, Rational | Decimal) for kind in types):
        return None
    if not all(value.is_finite() for value in values if isinstance(value, Decimal)):
        raise InvalidData("The scores must be finite. Some are infinite or NaN.")
    return [
        Fraction(value)
        if isinstance(value, Decimal)
        else Fraction(int(value.numerator), int(value.denominator))
        for value in values
    ]


def _wide_gaps(units: NDArray[Any]) -> NDArray[Any]:
    wide = units.astype(object)
    return np.asarray(wide.max() - wide)
