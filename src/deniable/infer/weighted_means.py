"""The mean over groups whose sizes in the population are known, such as strata of a sample.

Weights that are the same within a group are post-processing: they cost nothing. Weights of
single rows are values like others: ask for SUM(w * x) / SUM(w) FOR POPULATION.
"""

from collections.abc import Mapping

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, confidence_level, rational
from deniable.infer.comparisons import variance_notes
from deniable.infer.groups.drawn_samples import draw_of, sampled_part
from deniable.infer.groups.group_means import GroupMeans, Key, find_group
from deniable.infer.groups.mean_intervals import noise_ends, population_ends, sampling_ends
from deniable.infer.groups.readings import read
from deniable.infer.groups.unit_squares import rows_of_unit
from deniable.infer.groups.weighted_sums import weighted_ends
from deniable.infer.inferred import Inferred
from deniable.query.plan.plan import Plan
from deniable.release.session.release import Release

_CONDITION = " AS clean WHERE "  # how the statement of a plan leaves out rows


def weighted(
    release: Release,
    weights: Mapping[Key, Number] | None = None,
    *,
    value: str | None = None,
    rows: str | None = None,
    confidence: Number = 0.95,
) -> Inferred:
    """The mean over all groups, each with a weight: post-processing, which costs nothing.

    `weights` are the groups' sizes in the population, such as its strata's; they need not add
    up to 1. Without them they are the declared sizes of the frame, if means are over whole
    strata. Rows without a value are in it, too: give how many have one if strata differ in it.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> rows = pa.table({"region": ["N", "S"] * 4000, "ill": [1, 0, 0, 0] * 2000})
    >>> people = dp.protect(
    ...     rows, bounds={"ill": (0, 1)}, keys={"region": ["N", "S"]}, epsilon=1
    ... )
    >>> text = "SELECT region, COUNT(ill) AS n, AVG(ill) AS share FROM data GROUP BY region"
    >>> mean = dp.infer.weighted(people.sql(text, epsilon=1), {"N": 10_000, "S": 90_000})
    >>> mean.low < 0.05 < mean.high
    True
    """
    level = confidence_level(confidence)
    means = read(release, value, rows)
    if not isinstance(means, GroupMeans):
        raise InvalidParameter("weighted() needs means or shares: ask for AVG(x) and COUNT(x).")
    factors = _factors(release, means, weights)
    parts = [sampled_part(release, means, place, None, level) for place in range(len(factors))]
    both, noise, sampling = (
        weighted_ends(parts, factors, of, level)
        for of in (population_ends, noise_ends, sampling_ends)
    )
    return Inferred(
        f"{means.what}, weighted",
        both.value,
        both.ends,
        noise.ends,
        sampling.ends,
        float(level),
        _target(release, means, weights is None),
        notes=variance_notes(means),
    )


def _target(release: Release, means: GroupMeans, by_frame: bool) -> str:
    source = "its size in the frame" if by_frame else "the weight that was given"
    target = draw_of(release, means.groups[0], None).target
    return f"{target}; it is the mean of the groups' means, each weighted by {source}"


def _factors(
    release: Release, means: GroupMeans, weights: Mapping[Key, Number] | None
) -> list[float]:
    """The weights of the groups, which add up to 1."""
    sizes = _sizes_of_frame(release, means) if weights is None else weights
    names = tuple(sizes)
    group_sizes = [sizes[names[find_group(names, key)]] for key in means.groups]
    factors = [float(rational(size, "weights")) for size in group_sizes]
    if min(factors) < 0 or not sum(factors) > 0:
        raise InvalidParameter("Weights must not be negative, and some must be positive.")
    return [factor / sum(factors) for factor in factors]


def _sizes_of_frame(release: Release, means: GroupMeans) -> Mapping[Key, Number]:
    """The declared sizes of strata, if these are what the means are over."""
    declared = None if release.sample is None else release.sample.frame
    if not isinstance(declared, Mapping):
        raise InvalidParameter(
            "Give the size of each group in the population, such as weights={'N': 5000, 'S': "
            "8000}, or declare the frame of the sample in the policy."
        )
    assert release.sample is not None
    if release.sample.clustered and rows_of_unit(release.plan) > 1:
        raise InvalidParameter(
            f"The frame of this sample counts {release.plan.unit}s, and this mean is over "
            "rows. Give how many rows each group has in the population as `weights`."
        )
    if means.weighed:
        raise InvalidParameter(
            f"{means.what} is no mean over rows: its strata do not count as much as the frame "
            "has rows. Give the sum below the line of each group's population as `weights`."
        )
    if _leaves_rows_out(release.plan):
        raise InvalidParameter(
            "The frame counts all rows of each stratum, and this question leaves out some, "
            "perhaps more in one than in another. Give how many of those that it is about each "
            "group has in the population as `weights`."
        )
    return declared


def _leaves_rows_out(plan: Plan) -> bool:
    """Whether the question had a WHERE, or is about a part of the table: then the rows of its
    keys are no whole strata."""
    return bool(plan.part) or _CONDITION in plan.engine_sql
