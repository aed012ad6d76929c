"""Releases of made-up groups, by the thousand: each group is one simulated release."""

from fractions import Fraction

import numpy as np

from deniable.infer.group_means import GroupMeans, NoisePart
from deniable.infer.mean_intervals import combine_ends, population_ends
from deniable.infer.readings import GroupAmounts
from deniable.mechanisms import Laplace


def laplace(rng, epsilon, size):
    """Discrete Laplace noise, from numpy's generator."""
    chance = -np.expm1(-epsilon)
    return rng.geometric(chance, size) - rng.geometric(chance, size)


def share_parts(epsilon):
    """Rows with and without the outcome, each with noise: the sum is the first of them."""
    noise = Laplace(epsilon=Fraction(str(epsilon))).noise()
    zero, one = Fraction(0), Fraction(1)
    return (NoisePart(noise, one, one), NoisePart(noise, zero, one))


def released_shares(rng, *, units, share, epsilon, releases):
    """Shares of `units` sampled persons; those with the outcome and the others have noise."""
    having = rng.binomial(units, share, releases)
    above = having + laplace(rng, epsilon, releases)
    others = units - having + laplace(rng, epsilon, releases)
    return GroupMeans(
        tuple(range(releases)),
        above.astype(float),
        (above + others).astype(float),
        share_parts(epsilon),
        "share",
    )


def at_most(rate, releases, allowed=0.05):
    """Whether an error rate is not above what is allowed, by more than four standard errors."""
    return rate <= allowed + 4 * np.sqrt(allowed * (1 - allowed) / releases)


def noisy_counts(rng, cells, epsilon):
    """Counts with noise, as `read` gives them."""
    drawn = np.asarray(cells) + laplace(rng, epsilon, np.shape(cells))
    noise = Laplace(epsilon=Fraction(str(epsilon))).noise()
    return GroupAmounts(
        tuple(range(drawn.size)),
        drawn.ravel().astype(float),
        {"f": Fraction(1)},
        {"f": noise},
        "COUNT(*)",
        count=True,
    )


def wrong_differences(first, second, level):
    """For each pair of simulated groups, whether the interval of its difference excludes 0."""
    ends = [population_ends(group, level) for group in (first, second)]
    values, lows, highs = (
        np.array(parts).T
        for parts in (
            (first.values, second.values),
            *zip(*ends, strict=True),
        )
    )
    pairs = (combine_ends([1, -1], *row) for row in zip(values, lows, highs, strict=True))
    return np.array([low > 0 or high < 0 for low, high in pairs])
