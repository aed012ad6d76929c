"""Chernoff bounds on the tails of a sum of grid losses."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from deniable.privacy.arithmetic.floats import exp
from deniable.privacy.compose.grid_cells import GridCells

CountedCells: TypeAlias = tuple[tuple[GridCells, int], ...]


@dataclass(frozen=True)
class TailBounds:
    """Bounds on the tails of a sum of cells, from a few tilts greater and less than `tilt`."""

    cells: CountedCells
    tilt: float
    close: bool = False  # whether to try tilts near `tilt` too, which heavy tails need

    @cached_property
    def most(self) -> int:
        """The greatest index that the sum can reach."""
        return sum((cell.first + cell.mass.size - 1) * count for cell, count in self.cells)

    @cached_property
    def spread(self) -> float:
        variance = math.fsum(count * cell.moments[1] for cell, count in self.cells)
        return math.sqrt(variance) or self.cells[0][0].step

    @cached_property
    def heights(self) -> dict[float, float]:
        """K(tilt) at some tilts, rounded up."""
        t, s = self.tilt, self.spread
        tilts = [1.5 * t, 3 * t, t + 4 / s, t + 8 / s, -8 / s]
        if self.close:
            tilts += [t * (1 - 2.0**-k) for k in range(1, 4)]
            tilts += [t, *(t * (1 + 2.0**-k) for k in range(2, 9))]
        return {x: self._height(x) for x in tilts}

    def _height(self, tilt: float) -> float:
        logs = [count * cell.height(tilt) for cell, count in self.cells]
        return math.fsum(logs) + 1e-12 * math.fsum(map(abs, logs))

    def above(self, loss: float, raised: float = 0.0) -> float:
        """An upper bound on e**raised P(L >= loss)."""
        return min(exp(k - s * loss + raised) for s, k in self.heights.items() if s > 0)

    def below(self, loss: float) -> float:
        """An upper bound on P(L <= loss)."""
        return min(1.0, *(exp(k - s * loss) for s, k in self.heights.items() if s < 0))

    def top(self, log: float) -> float:
        """A loss above which the probability is at most e**log."""
        return min((k - log) / s for s, k in self.heights.items() if s > 0)

    def width(self, loss: float, log: float) -> float:
        """A window width at which mass wrapped from above onto `loss` is at most e**log."""
        t = self.tilt
        return min((k - s * loss - log) / (s - t) for s, k in self.heights.items() if s > t)

    def bottom(self, log: float) -> float:
        """A loss below which the probability is at most e**log."""
        return max((k - log) / s for s, k in self.heights.items() if s < 0)
