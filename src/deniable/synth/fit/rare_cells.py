"""Cells with few rows are merged into one: their noise would be larger than they are.

Which cells are rare is decided by noisy counts, so it is public.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_LEAST = 2.0  # standard deviations: a cell with fewer rows is rare


@dataclass(frozen=True, slots=True)
class MergedCells:
    """For each cell of a column, its number after rare cells were merged into the last one."""

    place: tuple[int, ...]
    size: int

    @classmethod
    def of_counts(cls, counts: NDArray[np.float64], deviation: float) -> "MergedCells":
        """By noisy counts and the standard deviation of their noise.

        >>> MergedCells.of_counts(np.array([90.0, 2.0, 50.0, -3.0]), 5.0).place
        (0, 2, 1, 2)
        """
        kept = counts >= _LEAST * deviation
        if (~kept).sum() < 2 or not kept.any():
            return cls(tuple(range(counts.size)), int(counts.size))
        place = np.where(kept, np.cumsum(kept) - 1, kept.sum())
        return cls(tuple(place.tolist()), int(kept.sum()) + 1)

    @property
    def merges(self) -> bool:
        """Whether any cells were merged."""
        return self.size < len(self.place)

    @property
    def members(self) -> list[NDArray[np.int64]]:
        """The cells that each merged cell stands for."""
        places = np.array(self.place)
        return [np.flatnonzero(places == number) for number in range(self.size)]

    def add_up(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The counts of the merged cells."""
        sums = np.bincount(self.place, weights=counts, minlength=self.size)
        return np.asarray(sums, dtype=np.float64)

    def spread(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Counts of all cells: those of merged ones are spread evenly over their members."""
        sizes = np.bincount(self.place, minlength=self.size)
        return np.asarray((counts / sizes)[list(self.place)])
