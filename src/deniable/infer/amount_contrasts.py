"""Differences and ratios of counts and sums: of these rows, with the error of the noise alone.

The noise of each group is independent and its law is exact, so no sampling error is stated.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from deniable.infer.groups.readings import GroupAmounts
from deniable.infer.inferred import THESE_ROWS, Ends, Inferred
from deniable.infer.significance import least_level
from deniable.infer.sums import ratio_ends
from deniable.query.margins.noise_quantiles import fixed_margin


def sum_of_amounts(
    found: GroupAmounts,
    places: list[int],
    factors: list[float],
    name: str,
    level: Fraction,
    pairs: int = 1,
) -> Inferred:
    """The sum of factors * amounts; its p-value is for a sum of 0, times `pairs`."""
    weights, noises = {}, {}
    for place, factor in zip(places, factors, strict=True):
        for feature, weight in found.weights.items():
            weights[f"{place} {feature}"] = weight * Fraction(factor).limit_denominator(10**9)
            noises[f"{place} {feature}"] = found.noises[feature]
    value = float(np.asarray([float(f) for f in factors]) @ found.values[places])

    def ends(at: Fraction) -> Ends:
        half = fixed_margin(weights, noises, at)
        return value - half, value + half

    both, p = ends(level), ladder_p(ends, 0.0, pairs)
    return Inferred(name, value, both, both, None, float(level), THESE_ROWS, p)


def ratio_of_amounts(
    found: GroupAmounts, first: int, second: int, name: str, level: Fraction
) -> Inferred:
    """The amount at the first place over that at the second."""
    over, under = (found.values[place] for place in (first, second))

    def ends(at: Fraction) -> Ends:
        return ratio_ends(found, [first], [second], at)

    value = over / under if under else math.nan
    both, p = ends(level), ladder_p(ends, 1.0)
    return Inferred(name, value, both, both, None, float(level), THESE_ROWS, p)


def ladder_p(ends: Callable[[Fraction], Ends], null: float, pairs: int = 1) -> float:
    """The least level of the ladder at which the interval excludes `null`, times the number of
    pairs; 1 if none does."""

    def excludes(level: Fraction) -> bool:
        low, high = ends(1 - level)
        return not low <= null <= high

    return min(1.0, least_level(excludes) * pairs)
