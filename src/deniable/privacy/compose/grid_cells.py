"""A worst pair on a grid of losses, never weaker than the pair itself.

Connect the dots (Doroshenko, Ghazi, Kamath, Kumar & Manurangsi, "Connect the dots", 2022):
what lies between two grid losses goes to both, in the proportion that keeps its probability
under P and under Q alike. Telling P from Q can only become easier, since the delta curve of
the result is the chord of the original's. With masses P and Q in a cell, the share of P that
goes to the right end is (P - e**left Q) / (1 - e**-step).

Floats are kept honest by moving a little more to the right than computed, as much as the
computed share may be wrong: larger losses under P are never easier to hide.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from deniable.privacy.arithmetic.dominating_pairs import (
    ACCURACY,
    Atoms,
    Floats,
    Tails,
)
from deniable.privacy.arithmetic.floats import UNIT

_HUGE = 700.0  # the greatest loss whose odds are a float


@dataclass(frozen=True)
class GridCells:
    """Probabilities under P at the losses (first, first + 1, ...) times `step`."""

    step: float
    first: int
    mass: Floats
    infinite: float  # the probability of losses beyond the grid
    doubt: Floats  # how much of each cell's mass may have been moved a step too far

    @property
    def losses(self) -> Floats:
        return self.step * np.arange(self.first, self.first + self.mass.size)

    def tilted(self, tilt: float) -> tuple[Floats, float, float]:
        """Masses times e**(tilt loss), made to add up to 1; ln of what they added up to; and
        how much of them is in doubt."""
        losses = self.losses
        peak = float(losses[-1])
        factor = np.exp(tilt * (losses - peak))
        raised = self.mass * factor
        total = float(raised.sum())
        doubt = float((self.doubt * factor).sum()) / total
        return raised / total, math.log(total) + tilt * peak, doubt

    def height(self, tilt: float) -> float:
        """ln E e**(tilt loss), about."""
        losses = self.losses
        peak = float(losses[-1] if tilt > 0 else losses[0])
        total = float((self.mass * np.exp(tilt * (losses - peak))).sum())
        if total > 0:
            return math.log(total) + tilt * peak
        kept = self.mass > 0  # so far from the peak that all else underflowed
        logs = np.log(self.mass[kept]) + tilt * losses[kept]
        most = float(logs.max())
        return math.log(float(np.exp(logs - most).sum())) + most

    @property
    def moments(self) -> tuple[float, float]:
        """Mean and variance, about."""
        mean = float((self.mass * self.losses).sum())
        return mean, float((self.mass * (self.losses - mean) ** 2).sum())


def cells(pair: Atoms | Tails, step: float, ends: tuple[float, float]) -> GridCells:
    """The pair on a grid of that step, from about ends[0] to ends[1]."""
    if isinstance(pair, Atoms):
        return _from_atoms(pair, step)
    return _from_tails(pair, step, ends)


def _from_atoms(pair: Atoms, step: float) -> GridCells:
    losses, weights = pair.arrays
    place = losses / step
    near = np.rint(place)
    if np.all(np.abs(place - near) <= 4e-14 * (1 + np.abs(near))):  # a lattice: nothing moves
        left, share = near.astype(np.int64), np.zeros_like(place)
        doubt = np.zeros_like(place)
    else:
        floor = np.floor(place)
        left = floor.astype(np.int64)
        doubt = (np.abs(place) + 1) * 16 * UNIT
        share = np.expm1(-(place - floor) * step) / math.expm1(-step) + doubt
    right = np.clip(share, 0.0, 1.0) * weights
    first = int(left.min())
    size = int(left.max()) - first + 2
    mass = np.bincount(left - first, weights - right, size)
    mass += np.bincount(left - first + 1, right, size)
    unsure = np.bincount(left - first + 1, 2 * np.minimum(doubt, 1.0) * weights, size)
    if mass[-1] == 0.0:
        mass, unsure = mass[:-1], unsure[:-1]
    return GridCells(step, first, mass * (1 + 8 * UNIT), pair.infinite * (1 + 8 * UNIT), unsure)


def _from_tails(pair: Tails, step: float, ends: tuple[float, float]) -> GridCells:
    first, last = math.floor(ends[0] / step) - 1, math.ceil(ends[1] / step) + 1
    losses = step * np.arange(first, last + 1)
    middle = min(max(-first, 0), losses.size - 1)
    within, above = pair.within(losses[: middle + 1]), pair.above(losses[middle:])
    p, p_error = _differences(within[0], above[0])
    q, q_error = _differences(within[1], above[1])
    odds = np.exp(np.minimum(losses[:-1], _HUGE))
    width = -math.expm1(-step)
    doubt = np.minimum(2 * (p_error + odds * q_error) / width, p)
    doubt[losses[:-1] > _HUGE] = p[losses[:-1] > _HUGE]  # there all of it goes to the right
    right = np.clip((p - odds * q) / width + doubt, 0.0, p)
    mass = np.zeros(losses.size)
    unsure = np.zeros(losses.size)
    mass[1:] += right
    mass[:-1] += p - right
    mass[0] += pair.within(losses[:1])[0][0]  # what loses less is counted as losing this
    unsure[1:] = 2 * doubt
    infinite = float(pair.above(losses[-1:])[0][0])
    sure = 1 + 4 * ACCURACY
    return GridCells(step, first, mass * sure, infinite * sure, unsure)


def _differences(within: Floats, above: Floats) -> tuple[Floats, Floats]:
    """The mass of each cell, below zero from the lower tail and above from the upper one, and
    by how much it may be wrong."""
    mass = np.concatenate([np.diff(within), -np.diff(above)])
    error = 2 * ACCURACY * np.concatenate([within[1:], above[:-1]])
    return np.maximum(mass, 0.0), error


@lru_cache(maxsize=4096)
def reach(pair: Atoms | Tails, rare: float) -> tuple[float, float]:
    """Losses outside of which the pair has, under P, at most a probability of `rare` a side."""
    if isinstance(pair, Atoms):
        return pair.losses[0], pair.losses[-1]
    least, greatest = pair.span
    if math.isinf(greatest):
        greatest = _far(lambda y: float(pair.above(np.array(y))[0]) <= rare, 1.0)
    if math.isinf(least):
        least = -_far(lambda y: float(pair.within(np.array(-y))[0]) <= rare, 1.0)
    return least, greatest


def _far(enough: Callable[[float], bool], far: float) -> float:
    """About the least number with `enough(number)`, and surely one."""
    near = 0.0
    while not enough(far):
        near, far = far, 2 * far
    for _ in range(12):
        middle = (near + far) / 2
        near, far = (near, middle) if enough(middle) else (middle, far)
    return far
