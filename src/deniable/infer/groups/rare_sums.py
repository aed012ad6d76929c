"""Ends for a weighted sum of shares, of which several may be off as far as they can at once.

Adding distances in squares takes errors for normal ones. Where an outcome is rare they are not:
if half of 1,000 persons and three quarters of 400 are sampled, all three and both persons with
the outcome are in the sample with a chance of 1/8 * 9/16. That is more than the error of an
interval, so the interval must reach as far as both errors together, and squares do not.

So the distance is at least the largest sum of distances that come together with a chance of at
least the tail: of the groups' own distances at tails whose product is the tail. Of normal
errors no such sum reaches as far as squares do, so intervals of frequent outcomes stay as they
are.
"""

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.infer.groups.group_means import GroupMeans
from deniable.infer.groups.share_quantiles import share_tails

Floats: TypeAlias = NDArray[np.float64]

_TAILS = 20  # at which the distances of a group are computed
_FURTHEST = 1.25  # the least of them: the tail to this power
_FREQUENT = 20.0  # if 20 rows of each kind were drawn, and 20 not, errors are normal
_FEWEST_STEPS, _MOST_STEPS = 64, 512  # into which the tail's logarithm is divided
_STEPS_OF_ONE = 8  # a group's tail is rounded by up to a step
_HALVINGS = 24


def reach_further(
    parts: Sequence[GroupMeans],
    weights: Sequence[float],
    middle: float,
    ends: tuple[float, float],
    tail: float,
) -> tuple[float, float]:
    """The ends of a sum of shares with these weights, none of them negative, moved out to where
    rare outcomes take it."""
    shares = [part for part in parts if _is_share(part)]
    if len(shares) < max(len(parts), 2) or all(map(_is_frequent, shares)):
        return ends
    steps = min(max(_FEWEST_STEPS, _STEPS_OF_ONE * len(shares)), _MOST_STEPS)
    both = [_distances(part, tail, steps) for part in shares]
    further = []
    for side, end in enumerate(ends):
        rows = zip(weights, both, strict=True)
        curves = np.array([weight * distances[side] for weight, distances in rows])
        squares = float(np.square(curves[:, steps]).sum())
        more = max(most_together(curves, steps) ** 2 - squares, 0.0)
        further.append(math.hypot(end - middle, math.sqrt(more)))
    return min(ends[0], middle - further[0]), max(ends[1], middle + further[1])


def most_together(curves: Floats, steps: int) -> float:
    """The largest sum of one number of each row whose places add up to at most `steps`, and to
    half a step more for each row: places were rounded.

    >>> most_together(np.array([[0.0, 1.0, 1.5, 1.6, 1.7], [0.0, 2.0, 2.5, 2.6, 2.7]]), 2)
    3.5
    """
    limit = min(steps + len(curves) // 2, curves.shape[1] - 1)
    total = curves[0, : limit + 1]
    for row in curves[1:, : limit + 1]:
        total = np.array([(total[: j + 1] + row[j::-1]).max() for j in range(limit + 1)])
    return float(total[limit])


def _is_share(part: GroupMeans) -> bool:
    """Whether its values count as if each were at one of its limits."""
    return part.variance is None and part.moments is None


def _is_frequent(part: GroupMeans) -> bool:
    """Whether both outcomes are frequent, in the sample and in the rest of the population."""
    share = (float(part.values[0]) - part.low) / (part.high - part.low)
    draws = float(part.below[0]) / part.cluster
    rest = (1 - part.sampled) / part.sampled if part.sampled else 1.0
    return draws * min(share, 1 - share) * min(rest, 1.0) >= _FREQUENT


def _distances(part: GroupMeans, tail: float, steps: int) -> tuple[Floats, Floats]:
    """How far the right mean may be below and above the released one, by sampling, at the tails
    tail ** (0 / steps), tail ** (1 / steps) and on, to a little more than all steps."""
    width = part.high - part.low
    share = (float(part.values[0]) - part.low) / width
    draws = max(float(part.below[0]), 1.0) / part.cluster
    powers = np.linspace(0.0, _FURTHEST, _TAILS)
    tails = np.maximum(tail**powers, 1e-300)

    def holds(p: Floats, side: int) -> NDArray[np.bool_]:
        off = draws * (share - p)
        return share_tails(np.full_like(p, draws), p, off, part.sampled)[1 - side] >= tails

    places = np.arange(int(_FURTHEST * steps) + 1) / steps
    ends = []
    for side, limit in enumerate((0.0, 1.0)):
        inner, outer = np.full(_TAILS, share), np.full(_TAILS, limit)
        whole = holds(outer, side)
        for _ in range(_HALVINGS):
            between = (inner + outer) / 2
            inside = holds(between, side)
            inner, outer = np.where(inside, between, inner), np.where(inside, outer, between)
        away = width * np.abs(np.where(whole, limit, outer) - share)
        ends.append(np.interp(places, powers, np.maximum.accumulate(away)))
    return ends[0], ends[1]
