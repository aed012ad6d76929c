"""Releases of made-up groups, by the thousand: each group is one simulated release."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from deniable.infer.groups.group_means import GroupMeans, NoisePart, UnitMoments, Variances
from deniable.infer.groups.mean_intervals import combine_ends, covering, population_ends
from deniable.infer.groups.readings import GroupAmounts
from deniable.mechanisms import Laplace


def laplace(rng, epsilon, size):
    """Discrete Laplace noise, from numpy's generator."""
    chance = -np.expm1(-epsilon)
    return rng.geometric(chance, size) - rng.geometric(chance, size)


def share_parts(epsilon):
    """Rows with and without the outcome, each with noise: the sum is the first of them."""
    noise = Laplace(epsilon=Fraction(str(epsilon))).noise()
    none, whole = Fraction(0), Fraction(1)
    return (NoisePart(noise, whole, whole), NoisePart(noise, none, whole))


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


def released_values(rng, *, units, values, chances, epsilon, releases):
    """Means of `units` sampled persons with one of these values between 0 and 1 each, beside
    their number and variance."""
    x = np.asarray(values, dtype=float)
    people = rng.multinomial(units, chances, releases)
    above = people @ x + laplace(rng, epsilon, releases)
    others = people @ (1 - x) + laplace(rng, epsilon, releases)
    spread = (people @ x**2 - (people @ x) ** 2 / units) / (units - 1)
    rows = np.maximum(above + others, 1.0)
    noise = Laplace(epsilon=Fraction(str(epsilon)))
    known = Variances(
        np.maximum(spread + laplace(rng, epsilon, releases) / rows, 0.0),
        noise.margin() / rows,
        Fraction(19, 20),
    )
    keys = tuple(range(releases))
    return GroupMeans(keys, above, above + others, share_parts(epsilon), "mean", variance=known)


def at_most(rate, releases, allowed=0.05):
    """Whether an error rate is not above what is allowed, by more than four standard errors."""
    return rate <= allowed + 4 * np.sqrt(allowed * (1 - allowed) / releases)


def few_errors(figure, wrong, naive=None, allowed=0.05):
    """Whether not too many releases were wrong; states their share, and the naive test's."""
    text = f"wrong in {np.mean(wrong):.4f} of {np.size(wrong):,}"
    figure(text if naive is None else f"{text}, naive {np.mean(naive):.4f}")
    return at_most(np.mean(wrong), np.size(wrong), allowed)


def covers(means, r, level):
    """Whether the interval of each simulated release holds the mean r."""
    return covering(means, level)(r)


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


def together(groups, place):
    """One release of several simulated groups, as `read` gives them."""
    first, parts = groups[0], [group.at(place) for group in groups]
    above, below = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("above", "below")
    )
    known = first.variance and replace(
        first.variance,
        values=np.concatenate([part.variance.values for part in parts]),
        margins=np.concatenate([part.variance.margins for part in parts]),
    )
    keys = tuple(range(len(groups)))
    return replace(first, groups=keys, above=above, below=below, variance=known)


def group_ends(groups, level):
    """The values and the ends of simulated groups: three arrays of releases and groups."""
    ends = [population_ends(group, level) for group in groups]
    lows, highs = zip(*ends, strict=True)
    return tuple(np.array(a).T for a in ([group.values for group in groups], lows, highs))


def difference_ends(first, second, level):
    """For each pair of simulated groups, the ends of its difference."""
    return sum_ends((first, second), [1, -1], level)


def sum_ends(groups, weights, level):
    """For each release of simulated groups, the ends of the weighted sum of its means."""
    rows = zip(*group_ends(groups, level), strict=True)
    return np.array([combine_ends(weights, *row) for row in rows]).T


def excludes(ends, null=0.0):
    """For each release, whether an interval excludes what is true."""
    low, high = ends
    return (low > null) | (high < null)


def wrong_differences(first, second, level):
    """For each pair of simulated groups, whether the interval of its difference excludes 0."""
    return excludes(difference_ends(first, second, level))


def released_clusters(rng, *, kinds, units, most, epsilon, releases, moments=True):
    """Means over the rows of `units` sampled persons with up to `most` rows each.

    `kinds` are (chance, sum of a person's values between 0 and 1, number of rows). With
    `moments` the sums of squares over persons are released too; otherwise rows are taken as
    they come, and `cluster` says how many a person may have.
    """
    chance, y, n = (np.array(column, dtype=float) for column in zip(*kinds, strict=True))
    people = rng.multinomial(units, chance, releases)
    parts = 7 if moments else 1

    def noisy(amounts, most_of_one, share):
        rate = epsilon * share / parts / most_of_one
        drawn = people @ amounts + laplace(rng, rate, releases)
        return drawn, Laplace(
            epsilon=Fraction(str(epsilon)) * share / parts, sensitivity=most_of_one
        ).noise()

    none, whole = Fraction(0), Fraction(1)
    if not moments:
        having, noise = noisy(y, most, 1)
        others, _ = noisy(n - y, most, 1)
        both = (NoisePart(noise, whole, whole), NoisePart(noise, none, whole))
        return GroupMeans(
            tuple(range(releases)), having, having + others, both, "mean", cluster=float(most)
        )
    above, of_sum = noisy(y, most, 2)
    below, of_rows = noisy(n, most, 2)
    squares, noises = zip(
        *(noisy(product, most**2, 1) for product in (y * y, y * n, n * n)), strict=True
    )
    return GroupMeans(
        tuple(range(releases)),
        above,
        below,
        (NoisePart(of_sum, whole, none), NoisePart(of_rows, none, whole)),
        "mean",
        cluster=float(most),
        moments=UnitMoments(squares, tuple(((noise, 1.0),) for noise in noises)),
    )


def true_mean(kinds):
    """The population's mean over rows, for `released_clusters`."""
    chance, y, n = (np.array(column, dtype=float) for column in zip(*kinds, strict=True))
    return float(chance @ y / (chance @ n))


def equal_rows(most, share):
    """Persons with 1 to `most` rows; all rows of one person are equal."""
    return [
        (p / most, value * rows, rows)
        for rows in range(1, most + 1)
        for value, p in ((1, share), (0, 1 - share))
    ]
