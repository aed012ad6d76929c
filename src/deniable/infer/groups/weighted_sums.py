"""Ends of a sum of means whose weights are not negative, such as a mean over strata.

Distances from means to their ends are added in squares, as in `mean_intervals.combine_ends`. In
a sum of one sign that needs two things. A mean near its public limit is not cut to it, nor is
its end: cut means are too high on average, and cut distances too short, so that of two rare
shares at epsilon 0.1 an interval would miss in 18 %. The sum is cut instead. A group of which
the noise leaves nearly nothing known keeps its limits, and its distance is added as it is. And
rare outcomes may reach further than squares do (`rare_sums`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from deniable.infer.groups.group_means import GroupMeans
from deniable.infer.groups.mean_intervals import (
    EndsOf,
    combine_ends,
    contrast_ends,
    noise_ends,
    sampling_ends,
    uncut_ends,
)
from deniable.infer.groups.rare_sums import reach_further

_SURE = Fraction(49, 50)  # of the error: the rest is for the number of rows


@dataclass(frozen=True, slots=True)
class WeightedSum:
    """A weighted sum of means, and its ends."""

    value: float
    ends: tuple[float, float]


def weighted_ends(
    parts: Sequence[GroupMeans], factors: Sequence[float], of: EndsOf, level: Fraction
) -> WeightedSum:
    """The sum, with ends `of` one kind of error, or of both.

    >>> from deniable.infer.groups.group_means import NoisePart
    >>> from deniable.mechanisms import Laplace
    >>> noise = Laplace(epsilon=Fraction(1, 10)).noise()
    >>> parts = (NoisePart(noise, Fraction(1), Fraction(1)), NoisePart(noise, 0, Fraction(1)))
    >>> ward = GroupMeans(("A",), np.array([20.0]), np.array([900.0]), parts, "share")
    >>> total = weighted_ends([ward, ward], [0.5, 0.5], noise_ends, Fraction(19, 20))
    >>> round(total.value, 3), [round(end, 3) for end in total.ends]
    (0.022, [0.0, 0.045])
    """
    # Parts without weight are left out: their ends may be infinite.
    parts = [part for part, factor in zip(parts, factors, strict=True) if factor]
    factors = [factor for factor in factors if factor]
    shared = any(part.shared for part in parts)  # then sampling errors depend on each other
    if of is sampling_ends or (of is not noise_ends and shared):
        middle = float(np.asarray(factors) @ np.concatenate([part.values for part in parts]))
        low, high = contrast_ends(parts, factors, of, level)
    else:
        middle, (low, high) = _in_squares(parts, factors, level, sampling=of is not noise_ends)
    if of is not noise_ends and not shared:
        tail = float((1 - level) * _SURE) / 2
        low, high = reach_further(parts, factors, middle, (low, high), tail)
    least, most = (
        sum(w * limit for w, limit in zip(factors, limits, strict=True))
        for limits in zip(*((part.low, part.high) for part in parts), strict=True)
    )
    low, high = (float(np.clip(end, least, most)) for end in (low, high))
    return WeightedSum(float(np.clip(middle, low, high)), (low, high))


def _in_squares(
    parts: Sequence[GroupMeans], factors: Sequence[float], level: Fraction, *, sampling: bool
) -> tuple[float, tuple[float, float]]:
    """The sum and its ends; what is not known of a group is added as it is."""
    weights, rows = [], []
    middle = down = up = 0.0
    for part, factor in zip(parts, factors, strict=True):
        value, (low, high) = uncut_ends(part, level, sampling=sampling)
        if float((high - low)[0]) < part.high - part.low:
            weights.append(factor)
            rows.append((float(value[0]), float(low[0]), float(high[0])))
            continue
        middle += factor * float(part.values[0])
        down += factor * float(part.values[0] - np.clip(low, part.low, part.high)[0])
        up += factor * float(np.clip(high, part.low, part.high)[0] - part.values[0])
    values, lows, highs = np.array(rows).reshape(-1, 3).T
    ends = combine_ends(weights, values, lows, highs)
    known = float(np.asarray(weights) @ values)
    return middle + known, (middle - down + ends[0], middle + up + ends[1])
