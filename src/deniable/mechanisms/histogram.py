"""A column as a sorted, sparse histogram: which grid points hold values, and how many.

A quantile needs only this: cell numbers and counts. A database returns them. A cell is a grid
point; each value is clipped to the bounds and goes to the nearest cell. The map looks at one
value at a time, so one record changes one count, also where floats round.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.rationals import Number, positive, rational
from deniable.mechanisms.grid import Numbers, put_on_grid

Integers: TypeAlias = npt.NDArray[np.int64]

MOST_CELLS = 1 << 32  # leaves each cell enough places for millions of ties
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
                f"`bounds` must be one or more whole steps apart. Found {bounds} with step "
                f"{step}. The step is the distance between two possible answers."
            )
        if steps >= MOST_CELLS:
            raise InvalidParameter(
                f"`step` divides the bounds into {steps} parts; at most 2**32 are supported. "
                "Choose a larger step: noise hides such fine digits."
            )
        return cls(lowest, width, int(steps) + 1)

    def value(self, cell: int) -> int | float:
        """The number at a cell: an integer if all grid points are integers."""
        exact = self.lowest + cell * self.step
        whole = self.lowest.denominator == self.step.denominator == 1
        return int(exact) if whole else float(exact)

    def nearest(self, values: Numbers) -> Integers:
        """The cell of each value, clipped to the bounds."""
        if isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.size:
            if not np.isfinite(values).all() or values.dtype.itemsize > 8:
                put_on_grid(values, self.step)  # raises the right error
            return self._from_floats(values.ravel().astype(np.float64, copy=False))
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.size:
            return self._from_floats(values.ravel().astype(np.float64))
        try:
            if len(values) == 0:  # type: ignore[arg-type]
                return np.zeros(0, dtype=np.int64)
        except TypeError:
            raise InvalidData(
                "The values must be a list or an array of numbers. A single number has no "
                "quantiles."
            ) from None
        steps = put_on_grid(values, self.step).steps
        first = (self.lowest / self.step + Fraction(1, 2)).__floor__()
        cells: Integers = np.clip(steps - first, 0, self.size - 1).astype(np.int64)
        return cells

    def _from_floats(self, values: npt.NDArray[np.float64]) -> Integers:
        # Only correctly rounded operations: a value has the same cell on every machine.
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
        """Reads cell numbers in ascending order and their counts, as an engine returns them."""
        places, numbers = _read_integers(cells), _read_integers(counts)
        if places.size != numbers.size:
            raise InvalidData("`cells` and `counts` must have the same length.")
        outside = places.size and (places[0] < 0 or places[-1] >= grid.size)
        if outside or (places[1:] <= places[:-1]).any():
            raise InvalidData(
                f"`cells` must be distinct cell numbers in ascending order, from 0 to "
                f"{grid.size - 1}. Clip and group the values first."
            )
        if numbers.size and (numbers.min() < 0 or float(numbers.sum(dtype=float)) > _MOST_ROWS):
            raise InvalidData("`counts` must be zero or more, and their sum at most 2**53.")
        occupied = numbers > 0
        if not occupied.all():
            places, numbers = places[occupied], numbers[occupied]
        return cls(grid.size, places, numbers)

    @cached_property
    def cumulative_counts(self) -> Integers:
        """For each occupied cell, how many records are in it or below it."""
        return np.cumsum(self.counts)

    @property
    def rows(self) -> int:
        """How many records there are."""
        return int(self.cumulative_counts[-1]) if self.cumulative_counts.size else 0


def _read_integers(values: Any) -> Integers:
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InvalidData("`cells` and `counts` must be lists or arrays of whole numbers.")
    return array.astype(np.int64, copy=False)
