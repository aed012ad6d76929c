"""Cells that are often full get more room, by a rule that does not look at the data.

A tuple of quantiles is chosen among all tuples of places, and a cell's prior weight is its
share of the places. On a grid of 20,000 cells a quantile that belongs in one cell must make up
for odds of 20,000 to 1, and each of fourteen quantiles in the same atom must do so again. That
is why a column of zeros costs a joint choice so much (24 ranks for 29 quantiles; a smooth
column costs 11). The prior weight of a cell may be anything that does not depend on the data.
Many columns have an atom at zero, so zero gets as much room as a sixteenth of all cells.
Clipping makes atoms at the two bounds, so each bound gets a thirty-second. In return the share
of all other cells shrinks by a factor of 8 / 9.

The privacy proof is that of `order_statistics`: a cell is cut into places and each of its
records goes to a random place; the proof allows any number of places per cell.
"""

from dataclasses import dataclass

import numpy as np

from deniable.mechanisms.histogram import ColumnGrid, Integers

_AT_ZERO = 16
_AT_BOUNDS = 32


@dataclass(frozen=True, slots=True)
class StretchedCells:
    """A grid of `size` cells. `atoms` are wider cells: (cell, width in cells), ascending."""

    size: int
    atoms: tuple[tuple[int, int], ...] = ()

    @property
    def width(self) -> int:
        """The total width, in cells.

        >>> StretchedCells(10, ((0, 3),)).width
        12
        """
        return self.size + sum(width - 1 for _, width in self.atoms)

    def starts(self, cells: Integers) -> Integers:
        """Where each cell begins, in the stretched grid.

        >>> StretchedCells(10, ((2, 3),)).starts(np.array([1, 2, 3])).tolist()
        [1, 2, 5]
        """
        starts = cells.astype(np.int64, copy=True)
        for atom, width in self.atoms:
            starts += (width - 1) * (cells > atom)
        return starts

    def cell(self, room: int) -> int:
        """The cell at a position of the stretched grid.

        >>> [StretchedCells(10, ((2, 3),)).cell(room) for room in (1, 2, 4, 5)]
        [1, 2, 2, 3]
        """
        for atom, width in reversed(self.atoms):
            start = int(self.starts(np.array([atom]))[0])
            if room >= start + width:
                return atom + 1 + room - (start + width)
            if room >= start:
                return atom
        return room


def usual_atoms(grid: ColumnGrid) -> tuple[tuple[int, int], ...]:
    """Zero and the bounds, from public facts only.

    >>> usual_atoms(ColumnGrid.of((-100, 100), 0.01))
    ((0, 625), (10000, 1250), (20000, 625))
    >>> usual_atoms(ColumnGrid.of((0, 9), 1))
    ()
    """
    widths = {0: grid.size // _AT_BOUNDS, grid.size - 1: grid.size // _AT_BOUNDS}
    zero = -grid.lowest / grid.step
    if 0 <= zero < grid.size and zero.denominator == 1:
        widths[int(zero)] = grid.size // _AT_ZERO
    return tuple(sorted((cell, width) for cell, width in widths.items() if width > 1))
