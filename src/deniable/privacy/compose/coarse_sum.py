"""An approximation of a sum of many losses, to choose tilt and grid for the certified one.

Nothing here is a bound. A poor choice makes the bounds of `numerical_curve` wider, not wrong.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from deniable.privacy.arithmetic.dominating_pairs import (
    ContinuousPair,
    DiscretePair,
    Floats,
)
from deniable.privacy.arithmetic.repeated_pairs import GridPair, GridPairs, RepeatedPair
from deniable.privacy.compose.grid_cells import RARE, discretize, effective_range

_COARSE, _FINER = 48, 2048  # cells of a pair, and of a few pairs, during the search for a tilt
_ALL, _PER_E = 64, 16  # pairs that are all considered; of more, 16 between each y and e y
_SMALLEST = 1e-9  # of the losses that are told apart, relative to the greatest
_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class CoarseSum:
    """Pairs on coarse grids, to see where the mass of their sum lies."""

    pairs: GridPairs
    rare: float  # the probability that a pair may have outside its grid, on each side

    @cached_property
    def _chosen(self) -> GridPairs:
        """The pairs; if there are many, one stands for all that are about as wide."""
        if len(self.pairs) <= _ALL:
            return self.pairs
        groups: dict[tuple[type, int], list[tuple[GridPair, int]]] = {}
        for pair, n in self.pairs:
            low, high = effective_range(pair, self.rare)
            width = round(_PER_E * math.log(max(high - low, 1e-300)))
            groups.setdefault((type(pair), width), []).append((pair, n))
        return tuple((group[0][0], sum(n for _, n in group)) for group in groups.values())

    @cached_property
    def _atoms(self) -> tuple[Floats, Floats, Floats, Floats, list[int]]:
        losses, weights, peaks, starts, place = [], [], [], [], 0
        number = max(_COARSE, _FINER // len(self._chosen))
        for pair, _ in self._chosen:
            if isinstance(pair, RepeatedPair):
                y, w = pair.each.arrays
            elif not isinstance(pair, DiscretePair):
                y, w = _spread_atoms(pair, effective_range(pair, self.rare), number)
            elif len(pair.losses) <= number:
                y, w = pair.arrays
            else:
                width = pair.losses[-1] - pair.losses[0]
                cells = discretize(pair, max(width / number, 1e-300), (0.0, 0.0))
                y, w = cells.losses, cells.mass
            losses.append(y)
            weights.append(w)
            peaks.append(np.full(y.size, y[-1]))
            starts.append(place)
            place += y.size
        tops = np.array([y[-1] for y in losses])
        return *(np.concatenate(a) for a in (losses, weights, peaks)), tops, starts  # type: ignore[return-value]

    @cached_property
    def _counts(self) -> Floats:
        return np.array(
            [
                float(n * pair.times if isinstance(pair, RepeatedPair) else n)
                for pair, n in self._chosen
            ]
        )

    def height(self, tilt: float) -> float:
        """Approximates K(tilt) = ln E e**(tilt L)."""
        losses, weights, peaks, tops, starts = self._atoms
        sums = np.add.reduceat(weights * np.exp(tilt * (losses - peaks)), starts)
        if not sums.all():
            return math.inf
        return float((self._counts * (np.log(sums) + tilt * tops)).sum())

    def epsilon(self, tilt: float, delta: float) -> float:
        """About the epsilon that Chernoff's bound gives at this delta."""
        return (self.height(tilt) + _log_greatest_weight(tilt) - math.log(delta)) / tilt

    def tilt_for_delta(self, delta: float) -> float:
        if delta not in self._tilts:  # asked for again and again by a search for a grid
            self._tilts[delta] = _minimize(lambda t: self.epsilon(t, delta), self._steepest)
        return self._tilts[delta]

    @cached_property
    def _tilts(self) -> dict[float, float]:
        return {}

    def bound(self, tilt: float, epsilon: float) -> float:
        """About ln of the delta that Chernoff's bound gives at this epsilon."""
        return self.height(tilt) - tilt * epsilon + _log_greatest_weight(tilt)

    def tilt_for_epsilon(self, epsilon: float) -> float:
        return _minimize(lambda t: self.bound(t, epsilon), self._steepest)

    @cached_property
    def _steepest(self) -> float:
        """A tilt so large that the tilted sum is already at its greatest value."""
        losses, weights, _, _, starts = self._atoms
        means = np.add.reduceat(weights * losses, starts)
        squares = np.add.reduceat(weights * losses * losses, starts)
        variance = float((self._counts * (squares - means * means)).sum())
        return 60 / math.sqrt(max(variance, 1e-12))


def _spread_atoms(
    pair: ContinuousPair, ends: tuple[float, float], number: int
) -> tuple[Floats, Floats]:
    """About `number` atoms: at losses of every magnitude, since most losses of a sampled
    mechanism are tiny and its greatest are not, and at even distances."""
    far = max(map(abs, ends))
    small = np.geomspace(far * _SMALLEST, far, number // 4)
    even = np.linspace(ends[0], ends[1], number // 2)
    losses = np.unique(np.clip(np.concatenate([-small, even, small]), *ends))
    middle = int(np.searchsorted(losses, 0.0))
    within, above = pair.within(losses[:middle])[0], pair.above(losses[middle:])[0]
    across = [1 - within[-1] - above[0]] if 0 < middle < losses.size else []
    inner = np.concatenate([np.diff(within), across, -np.diff(above)])
    centers = (losses[1:] + losses[:-1]) / 2
    first, last = pair.within(losses[:1])[0], pair.above(losses[-1:])[0]
    return (
        np.concatenate([losses[:1], centers, losses[-1:]]),
        np.maximum(np.concatenate([first, inner, last]), 0.0),
    )


def _log_greatest_weight(tilt: float) -> float:
    """ln of the greatest e**(-t z) (1 - e**-z) over all z."""
    return -tilt * math.log1p(1 / tilt) - math.log1p(tilt)


def _minimize(function: Callable[[float], float], steepest: float) -> float:
    """About where `function` is least, by golden-section search on a logarithmic scale."""
    low, high = -7.0, math.log(steepest)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(math.exp(left)), function(math.exp(right))
    while high - low > 0.02:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(math.exp(left))
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(math.exp(right))
    return math.exp((low + high) / 2)


@lru_cache(maxsize=64)
def coarse_sum(pairs: GridPairs, rare: float = RARE) -> CoarseSum:
    return CoarseSum(pairs, rare)
