"""A column as a sorted, sparse histogram: which grid points hold values, and how many.

This is all that a quantile needs, and what a database hands over: cell numbers and counts.
A cell is a grid point; each value goes to its nearest one, after clipping to the bounds. The
map looks at one value at a time, so one record moves one count, whatever floats do in it.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.rationals import Number, positive, rational
from deniable.mechanisms.grid import Numbers, gridded

Integers: TypeAlias = npt.NDArray[np.int64]

MOST_CELLS = 1 << 32  # so that a cell has places enough for millions of ties
_MOST_ROWS = 1 << 53
_DENSE = 8  # cells per value up to which counting into an array beats sorting


@dataclass(frozen=True, slots=True)
class ColumnGrid:
    """The grid points lowest, lowest + step, ..., `size` of them."""

    lowest: Fraction
    step: Fraction
    size: int

    @classmethod
    def of(cls, bounds: tuple[Number, Number], step: Number) -> "ColumnGrid":
        """The grid between two bounds, both included.

        >>> ColumnGrid.of((0, 100), 0.5).size
        201
        """
        try:
            low, high = bounds
        except (TypeError, ValueError):
            raise InvalidParameter(
                f"`bounds` must be a pair (lowest, highest). Found {bounds!r}."
            ) from None
        lowest, highest = rational(low, "bounds"), rational(high, "bounds")
        width = positive(step, "step")
        steps = (highest - lowest) / width
        if steps <= 0 or steps.denominator != 1:
            raise InvalidParameter(
                f"`bounds` must lie a whole number of steps apart, one or more. Found {bounds} "
                f"with step {step}. The step is how finely an answer is wanted."
            )
        if steps >= MOST_CELLS:
            raise InvalidParameter(
                f"`step` divides the bounds into {steps} parts; at most 2**32 are supported. "
                "Choose a larger step: such fine digits carry nothing."
            )
        return cls(lowest, width, int(steps) + 1)

    def value(self, cell: int) -> int | float:
        """The number at a cell: whole if the grid is."""
        exact = self.lowest + cell * self.step
        whole = self.lowest.denominator == self.step.denominator == 1
        return int(exact) if whole else float(exact)

    def nearest(self, values: Numbers) -> Integers:
        """The cell of each value, clipped to the bounds."""
        if isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.size:
            if not np.isfinite(values).all() or values.dtype.itemsize > 8:
                gridded(values, self.step)  # says what is wrong
            return self._from_floats(values.ravel().astype(np.float64, copy=False))
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.size:
            return self._from_floats(values.ravel().astype(np.float64))
        try:
            if len(values) == 0:  # type: ignore[arg-type]
                return np.zeros(0, dtype=np.int64)
        except TypeError:
            raise InvalidData(
                "The values must be a list or an array of numbers: a single number has no "
                "quantiles."
            ) from None
        steps = gridded(values, self.step).steps
        first = (self.lowest / self.step + Fraction(1, 2)).__floor__()
        found: Integers = np.clip(steps - first, 0, self.size - 1).astype(np.int64)
        return found

    def _from_floats(self, values: npt.NDArray[np.float64]) -> Integers:
        # Correctly rounded operations only: the same value has the same cell everywhere.
        places = np.clip(values, float(self.lowest), float(self.value(self.size - 1)))
        places -= float(self.lowest)
        places /= float(self.step)
        np.rint(places, out=places)
        return np.clip(places, 0, self.size - 1, out=places).astype(np.int64)


@dataclass(frozen=True, slots=False)
class Histogram:
    """Occupied cells in ascending order, and how many records each holds. Private."""

    size: int  # of the grid
    cells: Integers = field(repr=False)
    counts: Integers = field(repr=False)

    @classmethod
    def of_values(cls, grid: ColumnGrid, values: Numbers) -> "Histogram":
        """Counts values into cells."""
        places = grid.nearest(values)
        if grid.size <= _DENSE * max(places.size, 1 << 13):
            dense = np.bincount(places, minlength=grid.size)
            cells = np.flatnonzero(dense)
            return cls(grid.size, cells, dense[cells])
        cells, counts = np.unique(places, return_counts=True)
        return cls(grid.size, cells, counts)

    @classmethod
    def of_cells(cls, grid: ColumnGrid, cells: Any, counts: Any) -> "Histogram":
        """Takes cell numbers in ascending order with their counts, as an engine has them."""
        places, numbers = _whole(cells), _whole(counts)
        if places.size != numbers.size:
            raise InvalidData("`cells` and `counts` must be as long.")
        outside = places.size and (places[0] < 0 or places[-1] >= grid.size)
        if outside or (places[1:] <= places[:-1]).any():
            raise InvalidData(
                f"`cells` must be distinct cell numbers in ascending order, from 0 to "
                f"{grid.size - 1}. Clip and group before handing them over."
            )
        if numbers.size and (numbers.min() < 0 or float(numbers.sum(dtype=float)) > _MOST_ROWS):
            raise InvalidData("`counts` must be zero or more, and below 2**53 in all.")
        held = numbers > 0
        if not held.all():
            places, numbers = places[held], numbers[held]
        return cls(grid.size, places, numbers)

    @cached_property
    def upto(self) -> Integers:
        """How many records lie in each occupied cell or below it."""
        return np.cumsum(self.counts)

    @property
    def rows(self) -> int:
        """How many records there are."""
        return int(self.upto[-1]) if self.upto.size else 0


def _whole(values: Any) -> Integers:
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InvalidData("`cells` and `counts` must be lists or arrays of whole numbers.")
    return array.astype(np.int64, copy=False)
