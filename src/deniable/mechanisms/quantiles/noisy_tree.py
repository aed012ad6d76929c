"""A tree of noisy counts over the grid, made consistent: any number of quantiles at one cost.

Every level of a 16-ary tree over the cells is a histogram. A record is in one node of each
level, so adding it changes `levels` counts by one, and replacing it changes twice as many.
Every node gets discrete Laplace noise of scale levels / epsilon (twice that under replace). The
rest is post-processing: least squares over all consistent trees (Hay, Rastogi, Miklau & Suciu,
2010), the nearest monotone curve, and its inverse. The error does not grow with the number of
quantiles. For few quantiles it is larger than with other methods.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from deniable.errors import InvalidParameter
from deniable.exact import discrete_laplace
from deniable.exact.bits import BitSource
from deniable.mechanisms.histogram import Histogram
from deniable.mechanisms.quantiles.quantile_method import DrawnQuantiles, QuantileMethod
from deniable.privacy import Loss, PureLoss

BRANCHES = 16
MOST_CELLS = 1 << 24

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TreeQuantiles(QuantileMethod):
    """Noisy counts on every level."""

    name = "tree"

    def __post_init__(self) -> None:
        if self.size > MOST_CELLS:
            raise InvalidParameter(
                f'`method="tree"` counts every cell; at most 2**24 cells are allowed. Found '
                f"{self.size}. Choose a larger step, or another method."
            )

    @property
    def loss(self) -> Loss:
        return PureLoss(self.epsilon)

    @property
    def levels(self) -> int:
        """The number of levels below the root; the root is the sum of the first level."""
        levels = 1
        while BRANCHES**levels < self.size:
            levels += 1
        return levels

    @property
    def scale(self) -> Fraction:
        """The scale of the noise on every node."""
        return self.levels * (2 if self.neighbors == "replace" else 1) / self.epsilon

    def draw(self, data: Histogram, source: BitSource) -> DrawnQuantiles:
        curve = self.draw_curve(data, source)
        rows = max(0.0, float(curve[-1]))
        targets = np.array([float(q) * rows for q in self.quantiles])
        cells = np.searchsorted(curve, targets, side="left")
        return DrawnQuantiles(np.minimum(cells, self.size - 1).tolist(), round(rows))

    def draw_curve(self, data: Histogram, source: BitSource) -> Floats:
        """For every cell, a noisy number of the records in it or below it; never falling."""
        from scipy.optimize import isotonic_regression

        noisy = [
            count + discrete_laplace(self.scale, count.size, source=source).astype(np.float64)
            for count in count_levels(data, self.levels)
        ]
        leaves = fit_leaves(noisy)[: self.size]
        curve: Floats = isotonic_regression(np.cumsum(leaves)).x
        return curve

    def rank_margin(self, chance: float, rows: int) -> float:
        # A point of the curve is a sum of noises with weights of at most 1. The squares of the
        # weights add up to at most BRANCHES - 1 per level: this holds for the unadjusted sum,
        # and least squares has the least variance. Below is a Chernoff bound for Laplace noise
        # (ln E exp(aZ) <= 1.387 (a scale)**2 while a scale <= 0.7), for every cell.
        scale, nodes = float(self.scale), self.levels * (BRANCHES - 1)
        logs = math.log(2 * self.size / chance)
        tilt = min(0.7, math.sqrt(logs / (1.387 * nodes)))
        worst = scale * (logs / tilt + 1.387 * tilt * nodes)
        return 2 * worst  # the error of the curve, and of the number of rows


def count_levels(data: Histogram, levels: int) -> list[npt.NDArray[np.int64]]:
    """Counts the records of every level, widest nodes first."""
    leaves = np.zeros(BRANCHES**levels, dtype=np.int64)
    leaves[data.cells] = data.counts
    counts = [leaves]
    for _ in range(levels - 1):
        counts.append(counts[-1].reshape(-1, BRANCHES).sum(axis=1))
    return counts[::-1]


def fit_leaves(noisy: list[npt.NDArray[Any]]) -> Floats:
    """The leaves of the consistent tree that is nearest to the noisy counts (least squares).

    Upwards, a node becomes the best mean of its own count and the sum of its children.
    Downwards, the difference between a parent and its children is shared among the children.
    """
    below = noisy[-1]
    means = [below]
    for height, own in enumerate(reversed(noisy[:-1]), start=2):
        power = BRANCHES**height
        weight = (power - power // BRANCHES) / (power - 1)
        below = weight * own + (1 - weight) * below.reshape(-1, BRANCHES).sum(axis=1)
        means.append(below)
    fitted = means.pop()
    while means:
        children = means.pop().reshape(-1, BRANCHES)
        missing = (fitted - children.sum(axis=1)) / BRANCHES
        fitted = (children + missing[:, None]).ravel()
    return fitted
