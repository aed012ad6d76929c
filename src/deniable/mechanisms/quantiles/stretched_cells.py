"""Cells that are known to be full: given more room before anybody looks at the data.

A tuple of quantiles is chosen among all tuples of places, and a cell's share of the places is
what it starts with. On a grid of 20,000 cells a quantile that belongs into one of them has to
make up for odds of 20,000 to 1, and each of fourteen quantiles in the same atom has to do so
again: that is why a column of zeros costs a joint choice dear (24 ranks for 29 quantiles where
a smooth column costs 11). What a cell starts with may be anything that does not depend on the
data. So zero, where so many columns have an atom, gets as much room as a sixteenth of all
cells, and the two bounds, where clipping puts one, a thirty-second each. All other cells pay
for it with a factor of 8 / 9.

Privacy is that of `order`: a cell is cut into places and each of its records goes to a random
one, however many places that cell has.
"""

from dataclasses import dataclass

import numpy as np

from deniable.mechanisms.histogram import ColumnGrid, Integers

_AT_ZERO = 16
_AT_BOUNDS = 32


@dataclass(frozen=True, slots=True)
class Stretch:
    """A grid of `size` cells of which some are as wide as several: (cell, width), ascending."""

    size: int
    atoms: tuple[tuple[int, int], ...] = ()

    @property
    def width(self) -> int:
        """How many cells' room there is in all.

        >>> Stretch(10, ((0, 3),)).width
        12
        """
        return self.size + sum(width - 1 for _, width in self.atoms)

    def first(self, cells: Integers) -> Integers:
        """Where the room of each cell begins.

        >>> Stretch(10, ((2, 3),)).first(np.array([1, 2, 3])).tolist()
        [1, 2, 5]
        """
        found = cells.astype(np.int64, copy=True)
        for atom, width in self.atoms:
            found += (width - 1) * (cells > atom)
        return found

    def cell(self, room: int) -> int:
        """The cell that has a room.

        >>> [Stretch(10, ((2, 3),)).cell(room) for room in (1, 2, 4, 5)]
        [1, 2, 2, 3]
        """
        for atom, width in reversed(self.atoms):
            start = int(self.first(np.array([atom]))[0])
            if room >= start + width:
                return atom + 1 + room - (start + width)
            if room >= start:
                return atom
        return room


def usual(grid: ColumnGrid) -> tuple[tuple[int, int], ...]:
    """Zero and the bounds, by public facts alone.

    >>> usual(ColumnGrid.of((-100, 100), 0.01))
    ((0, 625), (10000, 1250), (20000, 625))
    >>> usual(ColumnGrid.of((0, 9), 1))
    ()
    """
    widths = {0: grid.size // _AT_BOUNDS, grid.size - 1: grid.size // _AT_BOUNDS}
    zero = -grid.lowest / grid.step
    if 0 <= zero < grid.size and zero.denominator == 1:
        widths[int(zero)] = grid.size // _AT_ZERO
    return tuple(sorted((cell, width) for cell, width in widths.items() if width > 1))
