"""k-means by noisy counts and sums: a public start, then a fixed number of steps.

Rows are integer vectors k in a box with |k|² <= B². In a step each row adds (w, k) to the one
centre that is nearest. So adding or removing a row moves the step's integers by at most
sqrt(w² + B²). Replacing one moves them by sqrt(2 (w² + B²)) if the centre changes, and by 2 B
if it does not: the larger of the two. The weight w makes the errors by counts and by sums
about equal. (After Su, Cao, Li, Bertino & Jin, "Differentially private k-means clustering",
2016.)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from scipy.stats import qmc

from deniable.errors import InvalidParameter
from deniable.learn.fit.linear_fit import Vector
from deniable.learn.fit.noisy_moments import Matrix

_POINTS, _ROUNDS = 64, 30  # per centre, and of spreading them
_LEAST = 2.0  # standard deviations of a noisy count: a centre with fewer rows stays


def count_weight(reaches: Sequence[int]) -> int:
    """How much a row counts in its centre's number of rows: a whole number of grid steps.

    With noise of variance v on each number, a centre of n rows is off by (d + B²/(3 w²)) v / n²
    in squares, and v is proportional to w² + B²: the least product is at w⁴ = B⁴ / (3 d).

    >>> count_weight([100, 100, 100])
    100
    """
    square = sum(reach**2 for reach in reaches)
    return max(1, ceil(sqrt(square / sqrt(3 * len(reaches)))))


def step_square(weight: int, reaches: Sequence[int], neighbors: str) -> int:
    """The square of how far one row can move the integers of one step, together.

    >>> step_square(1, [2, 2], "add-remove"), step_square(1, [2, 2], "replace")
    (9, 32)
    """
    square = sum(reach**2 for reach in reaches)
    if neighbors == "add-remove":
        return weight**2 + square
    return max(2 * (weight**2 + square), 4 * square)


def public_start(clusters: int, reaches: Sequence[int]) -> Matrix:
    """Centres spread evenly over the box: the same for every table.

    >>> public_start(1, [10, 10]).round().tolist()
    [[0.0, 0.0]]
    """
    if clusters < 1:
        raise InvalidParameter(f"`clusters` must be at least 1. Found {clusters}.")
    points = qmc.Halton(len(reaches), scramble=False).random(_POINTS * clusters + 1)[1:]
    points = 2.0 * points - 1.0
    centres = points[:clusters]
    for _ in range(_ROUNDS):
        nearest = assign(points, centres)
        sums = np.stack([points[nearest == own].mean(axis=0) for own in range(clusters)])
        centres = sums
    if clusters == 1:
        centres = np.zeros((1, len(reaches)))
    return np.asarray(centres * np.asarray(reaches, dtype=np.float64))


def assign(rows: Matrix, centres: Matrix) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """The number of the nearest centre; of equal ones, the first."""
    distances = ((rows[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    return np.asarray(distances.argmin(axis=1))


@dataclass(frozen=True, slots=True)
class ClusterStep:
    """The noisy integers of one step: weighted counts, and sums of each coordinate."""

    counts: Vector  # one for each centre, times the weight
    sums: Matrix
    deviation: float
    weight: int

    def move(self, centres: Matrix, reaches: Sequence[int]) -> Matrix:
        """The next centres, inside the box. A centre with hardly any rows stays.

        >>> step = ClusterStep(np.array([40.0, 1.0]), np.array([[30.0], [9.0]]), 2.0, 4)
        >>> step.move(np.array([[0.0], [5.0]]), [10]).tolist()
        [[3.0], [5.0]]
        """
        rows = self.counts / self.weight
        least = max(_LEAST * self.deviation / self.weight, 1.0)
        moved = self.sums / np.maximum(rows, least)[:, None]
        box = np.asarray(reaches, dtype=np.float64)
        kept = np.where((rows >= least)[:, None], moved, centres)
        return np.clip(kept, -box, box)
