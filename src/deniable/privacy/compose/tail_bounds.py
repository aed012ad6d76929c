"""Chernoff bounds on the tails of a sum of grid losses.

With K(s) = ln E e**(s L), P(L >= y) <= e**(K(s) - s y) for s > 0, and P(L <= y) for s < 0.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.privacy.arithmetic.dominating_pairs import Floats
from deniable.privacy.arithmetic.floats import exp
from deniable.privacy.compose.grid_cells import GridCells

CountedCells: TypeAlias = tuple[tuple[GridCells, int], ...]
_BLOCK = 8
_NEGLIGIBLE = 0.1  # eight times what K may grow by


@dataclass(frozen=True)
class Heights:
    """K(s) of a sum of cells or, with `jumps`, of its part with one or two of them.

    Let b_i be the cells, j_i the jumps, B(s) the product of E e**(s b_i) and S(s) the sum of
    E e**(s j_i) / E e**(s b_i), both over all pairs. One of the j_i instead of its b_i gives
    B S, and two of them give at most B S**2 / 2.
    """

    cells: CountedCells
    jumps: CountedCells = ()

    def __call__(self, tilt: float) -> float:
        """K(tilt), rounded up."""
        logs, counts = self._atoms.logs(tilt), self._counts
        total = math.fsum(counts * logs) + 1e-12 * math.fsum(counts * np.abs(logs))
        if self.jumps:
            larger = self._jump_atoms.logs(tilt) - logs
            most = float(larger.max())
            ratios = np.exp(larger - most)
            log = math.log(math.fsum(counts * ratios)) + most
            total += log + (math.log1p(math.exp(log) / 2) if log < 600 else log) + 1e-12
        return total

    @cached_property
    def _counts(self) -> Floats:
        return np.array([float(n) for _, n in self.cells])

    @cached_property
    def _atoms(self) -> "_Atoms":
        return _Atoms(self.cells)

    @cached_property
    def _jump_atoms(self) -> "_Atoms":
        return _Atoms(self.jumps)

    @cached_property
    def _reach(self) -> list[tuple[int, int, int]]:
        """The least and greatest index of each pair, and its count."""
        ranges = [(c.first, c.first + c.mass.size - 1, n) for c, n in self.cells]
        tops = [c.first + c.mass.size - 1 for c, _ in self.jumps] or [0] * len(ranges)
        return [
            (low, max(high, top), n) for (low, high, n), top in zip(ranges, tops, strict=True)
        ]

    @cached_property
    def most(self) -> int:
        """An index that the sum cannot exceed."""
        return sum(high * n for _, high, n in self._reach)

    @cached_property
    def least(self) -> int:
        """An index that the sum cannot fall below."""
        return sum(low * n for low, _, n in self._reach)

    @cached_property
    def spread(self) -> float:
        variance = math.fsum(count * cell.moments[1] for cell, count in self.cells)
        return math.sqrt(variance) or self.cells[0][0].step


@dataclass(frozen=True)
class _Atoms:
    """All cells, to compute ln E e**(tilt L) of each pair, rounded up a little.

    e**(tilt y) is convex in y. So if the mass of each cell is divided between the ends of its
    block of `_BLOCK` cells, in the proportion that keeps its mean, the result is greater, by a
    relative (tilt width)**2 / 8 at most. That is used if it is negligible for all pairs.
    """

    cells: CountedCells

    def logs(self, tilt: float) -> Floats:
        count = sum(n for _, n in self.cells)
        if count * (tilt * self.cells[0][0].step * _BLOCK) ** 2 > _NEGLIGIBLE:
            return np.array([cell.height(tilt) for cell, _ in self.cells])
        losses, masses, starts = self._blocks
        ends = starts if tilt < 0 else np.append(starts[1:], losses.size) - 1
        peaks = losses[ends]
        raised = np.exp(tilt * (losses - np.repeat(peaks, np.diff(starts, append=losses.size))))
        sums = np.add.reduceat(raised * masses, starts)
        if not sums.all():  # all that is far from a peak underflowed
            return np.array([cell.height(tilt) for cell, _ in self.cells])
        logs: Floats = np.log(sums) + tilt * peaks
        return logs

    @cached_property
    def _blocks(self) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """The ends of the blocks of all pairs, their masses, and where each pair starts."""
        sizes = np.array([cell.mass.size for cell, _ in self.cells])
        blocks = -(-sizes // _BLOCK)
        padded = np.zeros((int(blocks.sum()), _BLOCK))
        gaps = np.cumsum(blocks * _BLOCK) - blocks * _BLOCK - (np.cumsum(sizes) - sizes)
        places = np.arange(int(sizes.sum())) + np.repeat(gaps, sizes)
        padded.reshape(-1)[places] = np.concatenate([cell.mass for cell, _ in self.cells])
        right = padded @ (np.arange(_BLOCK) / _BLOCK)
        ends = np.arange(blocks.sum()) + np.repeat(np.arange(blocks.size), blocks)
        masses = np.zeros(int(blocks.sum()) + blocks.size)
        masses[ends] = padded.sum(axis=1) - right
        masses[ends + 1] += right
        starts = np.cumsum(blocks + 1) - (blocks + 1)
        firsts = np.array([cell.first for cell, _ in self.cells])
        within = np.arange(masses.size) - np.repeat(starts, blocks + 1)
        indices = np.repeat(firsts, blocks + 1) + _BLOCK * within
        return self.cells[0][0].step * indices, masses, starts


@dataclass(frozen=True)
class TailBounds:
    """Bounds on the tails of a sum, from a few tilts greater and less than `tilt`."""

    height: Heights
    tilt: float
    others: tuple[float, ...]  # further tilts, for much smaller probabilities

    @cached_property
    def heights(self) -> dict[float, float]:
        """K(tilt) at some tilts."""
        t, s = self.tilt, self.height.spread
        up = (t, *self.others, 1.2 * t, 2 * t, t + 6 / s)
        return {x: self.height(x) for x in (*up, -3 / s, -8 / s)}

    def above(self, loss: float) -> float:
        """An upper bound on P(L >= loss)."""
        return min(1.0, *(exp(k - s * loss) for s, k in self.heights.items() if s > 0))

    def below(self, loss: float) -> float:
        """An upper bound on P(L <= loss)."""
        return min(1.0, *(exp(k - s * loss) for s, k in self.heights.items() if s < 0))

    def wrapped(self, loss: float, first: float, width: float) -> float:
        """How much mass from outside the window [first, first + width) may be counted above
        `loss`, after tilting, wrapping and untilting.

        A mass at y, wrapped down j times, is multiplied by e**(t j width), which is at most
        e**(t (y - loss)) if it lands above `loss`. So all of them are at most
        E e**(t (L - loss)) over L > loss + width, and for s > t that is at most
        e**(K(s) - s loss - (s - t) width). From below, each is divided by e**(t width).
        """
        t = self.tilt
        down = min(
            exp(k - s * loss - (s - t) * width) for s, k in self.heights.items() if s > t
        )
        return down + exp(-t * width) * self.below(first)

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
