"""Analysis of variance: do all groups have the same mean?

The statistic is the sum over groups of (noisy sum - r * noisy number of rows)**2 over the
variance of that difference: by sampling, and by the noise, whose part is known. r is the
common mean. The groups may vary differently, as in Welch's test: where small groups vary more,
the F test, with one variance for all, rejects a true hypothesis in a quarter of all cases and
more. What is unknown (the common mean, the numbers of rows, the variances of one row's value)
is a worst case (`worst_case`). Shares are simulated as binomial numbers, other means as normal:
with few rows and very uneven values the test holds less exactly, as without noise.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.infer.comparisons import variance_notes
from deniable.infer.drawn_means import target_of
from deniable.infer.groups.group_means import GroupMeans, Key
from deniable.infer.groups.local_shares import LocalShares
from deniable.infer.groups.mean_intervals import population_ends
from deniable.infer.groups.readings import read, refuse_several_rows
from deniable.infer.significance import Significance
from deniable.infer.worst_case import SET_CHANCE, draw_noise, worst_p
from deniable.query.margins.noise_quantiles import moments
from deniable.release.session.release import Release

Floats: TypeAlias = NDArray[np.float64]
Point: TypeAlias = tuple[
    float, Floats, Floats
]  # common mean; of each group the variance of a row, and the number of rows


def anova_test(
    release: Release | Mapping[Key, Any],
    *,
    value: str | int | None = None,
    rows: str | None = None,
) -> Significance:
    """Tests whether all groups have the same mean, or share, in the population.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> rows = pa.table({"ward": ["A", "B", "C"] * 400, "sick": [1, 0, 0, 1, 1, 0] * 200})
    >>> keys = {"ward": ["A", "B", "C"]}
    >>> visits = dp.protect(rows, bounds={"sick": (0, 1)}, keys=keys, epsilon=1)
    >>> question = "SELECT ward, COUNT(sick) AS n, AVG(sick) AS share FROM data GROUP BY ward"
    >>> dp.infer.anova_test(visits.sql(question, epsilon=1)).rejects()
    True
    """
    means = read(release, value, rows)
    if isinstance(means, LocalShares):
        means = means.report_shares()
    if not isinstance(means, GroupMeans) or len(means.groups) < 2:
        raise InvalidParameter(
            "An analysis of variance needs the means or shares of two or more groups: AVG(x), "
            "COUNT(x) and STDDEV(x), grouped by a declared key."
        )
    if isinstance(release, Release) and release.plan.thresholding is not None:
        raise InvalidParameter(
            "The groups of this release were found in the data, so groups may be missing from "
            "it. Declare the keys in the policy, or name them in the question."
        )
    if isinstance(release, Release):
        refuse_several_rows(release.plan)
    if means.moments is not None:
        raise InvalidParameter(
            "An analysis of variance needs means of single rows, and here rows have weights. "
            "Compare two groups with difference() or t_test()."
        )
    statistic, p = anova_p(means)
    name = f"{means.what} is the same in all {len(means.groups)} groups"
    target = target_of(release, means.groups[0])
    return Significance(name, statistic, p, target, variance_notes(means))


def anova_p(means: GroupMeans, *, level: float | None = None) -> tuple[float, float]:
    """The statistic, and the largest p-value over what is unknown."""
    known = means.variance
    pooled = _pooled(means.above, means.below, means)
    largest = np.full(len(means.groups), _range_variance(pooled, means))
    if known is not None:
        limits = known.most(SET_CHANCE / (4 * len(means.groups)))
        largest = np.minimum(largest, limits)
    observed = float(_statistic(means.above, means.below, largest, means))
    binomial = known is None

    def simulate(point: Point, rng: np.random.Generator, many: int) -> Floats:
        _, variance, rows = point
        over = _draw_sums(means, point, rng, many, binomial=binomial)
        under = np.repeat(rows[:, None], many, axis=1)
        for i, part in enumerate(means.parts):
            z = draw_noise(part.noise, over.shape, i)
            over, under = over + float(part.above) * z, under + float(part.below) * z
        estimate = _range_variance(_pooled(over, under, means), means)
        if not binomial:
            freedom = np.maximum(rows - 1, 1.0)[:, None]
            estimate = variance[:, None] * rng.chisquare(freedom, over.shape) / freedom
        return _statistic(over, under, estimate, means)

    return observed, worst_p(observed, simulate, _points(means, largest), level=level)


def _points(means: GroupMeans, largest: Floats) -> Iterator[Point]:
    """Common means, variances and numbers of rows, from a set that holds the right ones."""
    rows = np.maximum(np.rint(means.below), 1.0)
    both = replace(
        means,
        groups=("all",),
        above=means.above.sum(keepdims=True),
        below=means.below.sum(keepdims=True),
        parts=means.parts * len(means.groups),
        variance=None,
    )
    yield float(both.values[0]), largest, rows
    (low,), (high,) = population_ends(both, 1 - SET_CHANCE / 4)
    fewest, most = means.row_limits(SET_CHANCE / Fraction(8 * len(means.groups)))
    variances = [largest]
    if means.variance is not None:
        # A smaller variance is worse where the noise dominates.
        variances += [largest / 2, largest / 8]
    for mean, variance, size in itertools.product(
        (low, (low + high) / 2, high), variances, (rows, fewest, most)
    ):
        yield float(mean), variance, size


def _draw_sums(
    means: GroupMeans, point: Point, rng: np.random.Generator, many: int, *, binomial: bool
) -> Floats:
    mean, variance, rows = point
    shape = (rows.size, many)
    if binomial:
        width = means.high - means.low
        share = np.clip((mean - means.low) / width, 0.0, 1.0)
        counts = rng.binomial(rows[:, None].astype(np.int64), share, shape)
        return np.asarray(means.low * rows[:, None] + width * counts)
    return rng.normal(rows[:, None] * mean, np.sqrt(rows * variance)[:, None], shape)


def _pooled(above: Floats, below: Floats, means: GroupMeans) -> Floats:
    """The mean of all groups together, inside of its range."""
    rows = np.maximum(below.sum(0), 1.0)
    edge = (means.high - means.low) / (rows + 2)
    return np.asarray(np.clip(above.sum(0) / rows, means.low + edge, means.high - edge))


def _range_variance(mean: Floats, means: GroupMeans) -> Floats:
    return np.asarray((mean - means.low) * (means.high - mean))


def _statistic(above: Floats, below: Floats, variance: Floats, means: GroupMeans) -> Floats:
    """For arrays of groups, or of groups and simulations."""
    mean = _pooled(above, below, means)
    noise = np.zeros_like(mean)
    for part in means.parts:
        noise = (
            noise + (float(part.above) - mean * float(part.below)) ** 2 * moments(part.noise)[0]
        )
    rows = np.maximum(below, 1.0)
    return np.asarray(((above - mean * below) ** 2 / (rows * variance + noise)).sum(0))
