"""A dominating pair on a grid of losses. The result dominates the pair.

Connect the dots (Doroshenko, Ghazi, Kamath, Kumar & Manurangsi, "Connect the dots", 2022): the
mass between two grid losses is divided between both, in the proportion that keeps its
probability under P and under Q. It can only become easier to distinguish P from Q, since the
delta curve of the result is made of chords of the original curve. With masses P and Q in a
cell, the share of P that goes to the right end is (P - e**left Q) / (1 - e**-step).

Float errors. Let the relative error of every P(L > y) and Q(L > y) be at most a. The masses of
cells are differences of these, so the delta curve of the result at y is wrong by at most
a (P(L > y) + e**y Q(L > y)) = a delta(y) + 2 a e**y Q(L > y). To make up for it, all masses are
multiplied by 1 + a, which adds a delta(y), and a share of 2 a / (1 - e**-step) of each is moved
one step to the right, which adds the rest. In a cell whose share is not certain to lie between
nothing and all, the greatest share that it may be goes to the right: that raises the curve at
every grid loss to its left. So an atom that only rounding puts beside the grid stays there.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable.privacy.arithmetic.dominating_pairs import (
    ContinuousPair,
    DiscretePair,
    Floats,
    LaplacePair,
    LaplaceRows,
    tail_accuracy,
)
from deniable.privacy.arithmetic.floats import UNIT
from deniable.privacy.arithmetic.repeated_pairs import GridPair, RepeatedPair

RARE = 1e-30  # the least probability that a pair may have outside its grid, on each side
_ROWS = 16  # pairs that are discretized at once
_UNDERFLOW = 750.0  # e**-750 is 0
_HUGE = 700.0  # for a greater loss, e**loss may not be a float


@dataclass(frozen=True)
class GridCells:
    """Probabilities under P at the losses (first, first + 1, ...) times `step`."""

    step: float
    first: int
    mass: Floats
    infinite: float  # the probability of losses beyond the grid
    doubt: Floats  # how much mass of each cell may have been moved a step too far
    raised: float = 0.0  # the probability of losses below the grid, counted as its first one
    error: float = 0.0  # the relative error of the masses before rounding

    @cached_property
    def losses(self) -> Floats:
        return self.step * np.arange(self.first, self.first + self.mass.size)

    def tilted(self, tilt: float) -> tuple[Floats, float, float]:
        """Masses times e**(tilt loss), scaled to add up to 1; ln of their sum before scaling;
        and how much of them is in doubt."""
        losses = self.losses
        peak = float(losses[-1])
        factor = np.exp(tilt * (losses - peak))
        raised = self.mass * factor
        total = float(raised.sum())
        doubt = float((self.doubt * factor).sum()) / total
        return raised / total, math.log(total) + tilt * peak, doubt

    def height(self, tilt: float) -> float:
        """Approximates ln E e**(tilt loss)."""
        losses = self.losses
        peak = float(losses[-1] if tilt > 0 else losses[0])
        near = math.ceil(_UNDERFLOW / (abs(tilt) * self.step)) if tilt else losses.size
        part = slice(max(losses.size - near, 0), None) if tilt > 0 else slice(near)
        total = float((self.mass[part] * np.exp(tilt * (losses[part] - peak))).sum())
        if total > 0:
            return math.log(total) + tilt * peak
        positive = self.mass > 0  # everything else underflowed
        if not positive.any():
            return -math.inf
        logs = np.log(self.mass[positive]) + tilt * losses[positive]
        most = float(logs.max())
        return math.log(float(np.exp(logs - most).sum())) + most

    def split(self, rare: float) -> "tuple[GridCells, GridCells]":
        """The losses up to a point, and the greater ones, which have at most the probability
        `rare`. Neither has all the mass."""
        tails = np.cumsum(self.mass[::-1])[::-1]
        cut = max(int(np.searchsorted(-tails, -rare)), 1)
        rest = np.zeros_like(self.mass)
        rest[cut:] = self.mass[cut:]
        unsure = np.zeros_like(self.doubt)
        unsure[cut:] = self.doubt[cut:]
        bulk = replace(self, mass=self.mass[:cut], infinite=0.0, doubt=self.doubt[:cut])
        return bulk, replace(self, mass=rest, infinite=0.0, doubt=unsure)

    @cached_property
    def moments(self) -> tuple[float, float]:
        """Approximates mean and variance."""
        mean = float((self.mass * self.losses).sum())
        return mean, float((self.mass * (self.losses - mean) ** 2).sum())


def discretize(pair: GridPair, step: float, ends: tuple[float, float]) -> GridCells:
    """Puts the pair on a grid of that step, from about ends[0] to ends[1]."""
    if isinstance(pair, DiscretePair):
        losses, weights = pair.arrays
        return _discretize_discrete(losses[None], weights[None], step, [pair.infinite])[0]
    if isinstance(pair, RepeatedPair):
        law = pair.law
        (cells,) = _discretize_discrete(
            law.losses[None], law.weights[None], step, [law.infinite]
        )
        return replace(
            cells, mass=cells.mass * (1 + law.error), raised=law.raised, error=2 * law.error
        )
    return _discretize_rows(pair, step, ends)[0]


def discretize_all(pairs: Sequence[GridPair], step: float, rare: float) -> list[GridCells]:
    """Puts each pair on a grid. Laplace pairs of about the same epsilon are done at once, and
    so are discrete pairs with the same number of losses."""
    laplace = [
        (pair.epsilon, i) for i, pair in enumerate(pairs) if isinstance(pair, LaplacePair)
    ]
    laplace.sort()
    by_place: dict[int, GridCells] = {}
    for start in range(0, len(laplace), _ROWS):
        epsilons, places = zip(*laplace[start : start + _ROWS], strict=True)
        ends = -epsilons[-1], epsilons[-1]
        rows = _discretize_rows(LaplaceRows(np.array(epsilons)[:, None]), step, ends)
        by_place.update(zip(places, rows, strict=True))
    discrete: dict[int, list[tuple[int, DiscretePair]]] = {}
    for i, pair in enumerate(pairs):
        if isinstance(pair, DiscretePair):
            discrete.setdefault(len(pair.losses), []).append((i, pair))
        elif i not in by_place:
            by_place[i] = discretize(pair, step, effective_range(pair, rare))
    for alike in discrete.values():
        losses = np.array([pair.losses for _, pair in alike])
        weights = np.array([pair.weights for _, pair in alike])
        rows = _discretize_discrete(losses, weights, step, [pair.infinite for _, pair in alike])
        by_place.update(zip((i for i, _ in alike), rows, strict=True))
    return [by_place[i] for i in range(len(pairs))]


def _discretize_discrete(
    losses: Floats, weights: Floats, step: float, infinite: Sequence[float]
) -> list[GridCells]:
    """Several pairs with the same number of losses; one row of each array is one pair."""
    place = losses / step
    near = np.rint(place)
    on_grid = np.all(
        np.abs(place - near) <= 4e-14 * (1 + np.abs(near)), axis=1, keepdims=True
    )  # if all losses of a pair lie on the grid, nothing moves
    floor = np.where(on_grid, near, np.floor(place))
    doubt = np.where(on_grid, 0.0, (np.abs(place) + 1) * 16 * UNIT)
    share = np.expm1(-(place - floor) * step) / math.expm1(-step) + doubt
    right = np.where(on_grid, 0.0, np.clip(share, 0.0, 1.0)) * weights
    unsure = 2 * np.minimum(doubt, 1.0) * weights
    first = floor.min(axis=1, keepdims=True)
    left = (floor - first).astype(np.int64)
    rows = zip(first[:, 0], left, weights - right, right, unsure, infinite, strict=True)
    return [_fill_cells(step, int(start), *row) for start, *row in rows]


def _fill_cells(
    step: float,
    first: int,
    left: NDArray[np.int64],
    stay: Floats,
    right: Floats,
    unsure: Floats,
    infinite: float,
) -> GridCells:
    """The masses of one pair: some stay in the cells `left`, others move one to the right."""
    size = int(left.max()) + 2
    mass = np.bincount(left, stay, size)
    mass += np.bincount(left + 1, right, size)
    doubt = np.bincount(left + 1, unsure, size)
    if mass[-1] == 0.0:
        mass, doubt = mass[:-1], doubt[:-1]
    return GridCells(step, first, mass * (1 + 8 * UNIT), infinite * (1 + 8 * UNIT), doubt)


def _discretize_rows(
    pair: ContinuousPair | LaplaceRows, step: float, ends: tuple[float, float]
) -> list[GridCells]:
    """One pair, or several of them, on the same grid."""
    first, last = math.floor(ends[0] / step) - 1, math.ceil(ends[1] / step) + 1
    losses = step * np.arange(first, last + 1)
    middle = min(max(-first, 0), losses.size - 1)
    within = [np.atleast_2d(tail) for tail in pair.within(losses[: middle + 1])]
    above = [np.atleast_2d(tail) for tail in pair.above(losses[middle:])]
    p, p_error = _cell_masses(within[0], above[0])
    q, q_error = _cell_masses(within[1], above[1])
    huge = losses[:-1] > _HUGE
    odds, width = np.exp(np.minimum(losses[:-1], _HUGE)), -math.expm1(-step)
    share = (p - odds * q) / width
    error = np.where(huge, np.inf, (p_error + odds * q_error) / width)
    unsure = error >= np.minimum(share, p - share)
    right = np.where(unsure, np.minimum(np.maximum(share, 0.0) + error, p), share)
    short = np.where(unsure & ~huge, np.maximum(share - p, 0.0), 0.0).sum(axis=1) * width
    mass, doubt = np.zeros((2, len(p), losses.size))
    mass[:, 1:] += right
    mass[:, :-1] += p - right
    doubt[:, 1:] = np.where(unsure, 2 * np.minimum(2 * error, p), 0.0)
    raised = within[0][:, 0]
    mass[:, 0] += raised  # smaller losses are counted as this one
    accuracy = _curve_accuracy(above, middle)
    moved = np.minimum(2 * accuracy / width, 1.0) * mass
    doubt += 4 * moved
    mass -= moved
    mass[:, 1:] += moved[:, :-1]
    mass *= 1 + accuracy
    infinite = 2 * above[0][:, -1] + short + moved[:, -1]
    return [
        GridCells(step, first, *row)
        for row in zip(
            mass, infinite.tolist(), doubt, (raised * (1 + 1e-9)).tolist(), strict=True
        )
    ]


def _cell_masses(within: Floats, above: Floats) -> tuple[Floats, Floats]:
    """The mass of each cell, from the lower tail below zero and from the upper tail above, and
    a bound on its error."""
    within, above = np.maximum.accumulate(within, axis=1), np.minimum.accumulate(above, axis=1)
    mass = np.concatenate([np.diff(within), -np.diff(above)], axis=1)
    tails = np.concatenate([within[:, 1:], above[:, :-1]], axis=1)
    return mass, 2 * tails * tail_accuracy(tails)


def _curve_accuracy(above: list[Floats], middle: int) -> Floats:
    """A bound on the relative error of P(L > y) + e**y Q(L > y) at each loss y. Below zero it
    is relative to P(L > 0), since the masses there come from the other tail. It grows with y.
    """
    worst = tail_accuracy(np.minimum(*above))
    least = 160 * UNIT / np.maximum(above[0][:, :1], 1e-300)
    worst = np.pad(worst, ((0, 0), (middle, 0)))
    return np.maximum.accumulate(np.minimum(np.maximum(worst, least), 1.0), axis=1)


def effective_range(pair: GridPair, rare: float) -> tuple[float, float]:
    """An interval of losses: outside, P has at most the probability `rare` on each side."""
    if isinstance(pair, DiscretePair):
        return pair.losses[0], pair.losses[-1]
    if isinstance(pair, RepeatedPair):
        return float(pair.law.losses[0]), float(pair.law.losses[-1])
    return _continuous_range(pair, rare)


@lru_cache(maxsize=4096)
def _continuous_range(pair: ContinuousPair, rare: float) -> tuple[float, float]:
    least, greatest = pair.span
    if math.isinf(greatest):
        greatest = _search_bound(lambda y: float(pair.above(np.array(y))[0]) <= rare, 1.0)
    if math.isinf(least):
        least = -_search_bound(lambda y: float(pair.within(np.array(-y))[0]) <= rare, 1.0)
    return least, greatest


def _search_bound(enough: Callable[[float], bool], far: float) -> float:
    """A number with `enough(number)`, about the least."""
    near = 0.0
    while not enough(far):
        near, far = far, 2 * far
    for _ in range(12):
        middle = (near + far) / 2
        near, far = (near, middle) if enough(middle) else (middle, far)
    return far
