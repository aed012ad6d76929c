"""Groups that fit together: least squares over several levels that were measured apart.

Every level holds sums of the same finest groups, each with noise of its own, whose variance is
public. The finest groups that fit all measurements best, each weighted by its variance, have
sums that are the best estimates of every level, and all levels add up. The normal equations
have a closed solution: averaging over a key and taking the rest commute, so they are solved in
each part (which keys vary, and which are averaged over) by a division. What no level measures
is 0. It is computed from released numbers and public variances: it costs nothing.
"""

from collections.abc import Sequence
from math import log, prod

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Level = tuple[int, ...]  # the places of its keys, in order
MOST_KEYS = 6  # each doubles the work


def least_squares(
    sizes: Sequence[int],
    levels: Sequence[Level],
    variances: Sequence[float],
    measured: Sequence[Floats],
) -> Floats:
    """The finest groups (draws x groups) from the measurements of levels (draws x groups each).

    `sizes` are the numbers of values of the keys; the last key varies fastest. It is linear in
    the measurements.

    >>> whole, parts = np.array([[9.0]]), np.array([[2.0, 4.0]])
    >>> least_squares([2], [(), (0,)], [1.0, 1.0], [whole, parts]).tolist()
    [[3.0, 5.0]]
    """
    draws = measured[0].shape[0]
    right = np.zeros((draws, *sizes))
    for level, variance, sums in zip(levels, variances, measured, strict=True):
        shape = [size if place in level else 1 for place, size in enumerate(sizes)]
        right += sums.reshape(draws, *shape) / variance

    def solve(part: Floats, axis: int, varying: Level) -> Floats:
        if axis == len(sizes):
            weight = _weight(sizes, levels, variances, varying)
            return part / weight if weight > 0 else np.zeros_like(part)
        mean = part.mean(axis=1 + axis, keepdims=True)
        averaged = solve(mean, axis + 1, varying)
        return averaged + solve(part - mean, axis + 1, (*varying, axis))

    return solve(right, 0, ()).reshape(draws, -1)


def estimate_variances(
    sizes: Sequence[int], levels: Sequence[Level], variances: Sequence[float]
) -> list[float]:
    """The variance of a group of each level, as least squares estimate it.

    >>> [round(v, 3) for v in estimate_variances([2], [(), (0,)], [1.0, 1.0])]
    [0.667, 0.667]
    """
    return [_variance(sizes, levels, variances, level) for level in levels]


def _variance(
    sizes: Sequence[int], levels: Sequence[Level], variances: Sequence[float], own: Level
) -> float:
    """Its estimate is a sum of parts with uncorrelated errors: one for each choice of the keys
    of the level that vary."""
    total = 0.0
    for bits in range(1 << len(own)):
        varying = tuple(place for i, place in enumerate(own) if bits >> i & 1)
        share = prod(
            1 - 1 / sizes[place] if place in varying else 1 / sizes[place] for place in own
        )
        weight = _weight(sizes, levels, variances, varying)
        total += share * _merged(sizes, own) / weight if share else 0.0
    return total


def _weight(
    sizes: Sequence[int], levels: Sequence[Level], variances: Sequence[float], varying: Level
) -> float:
    """How well the levels measure the part in which these keys vary."""
    return sum(
        _merged(sizes, level) / variance
        for level, variance in zip(levels, variances, strict=True)
        if set(varying) <= set(level)
    )


def _merged(sizes: Sequence[int], level: Level) -> int:
    """How many finest groups are one group of a level."""
    return prod(size for place, size in enumerate(sizes) if place not in level)


def gain_of_levels(
    sizes: Sequence[int], levels: Sequence[Level], apart: Sequence[float], finest: float
) -> float:
    """How much narrower the margins of levels are if each is measured with these variances,
    and not added up from the finest groups with theirs: a factor, the geometric mean of all
    levels.

    >>> gain_of_levels([1000], [(), (0,)], [8.0, 8.0], 2.0) > 2
    True
    >>> gain_of_levels([3], [(), (0,)], [8.0, 8.0], 2.0) < 1
    True
    """
    fitted = estimate_variances(sizes, levels, apart)
    added = [finest * _merged(sizes, level) for level in levels]
    logs = [log(a / b) / 2 for a, b in zip(added, fitted, strict=True)]
    return float(np.exp(sum(logs) / len(logs)))
