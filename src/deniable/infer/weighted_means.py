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
from deniable.release.session.release import Release


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
    up to 1. Without them they are the declared sizes of the frame.

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
    factors = _factors(release, means.groups, weights)
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
        draw_of(release, means.groups[0], None).target,
        notes=variance_notes(means),
    )


def _factors(
    release: Release, groups: tuple[Key, ...], weights: Mapping[Key, Number] | None
) -> list[float]:
    """The weights of the groups, which add up to 1."""
    sample = release.sample
    declared = None if sample is None else sample.frame
    sizes: Mapping[Key, Number] | None = declared if isinstance(declared, Mapping) else None
    sizes = sizes if weights is None else weights
    if weights is None and sample is not None and sample.clustered:
        _check_units(release)
    if sizes is None:
        raise InvalidParameter(
            "Give the size of each group in the population, such as weights={'N': 5000, 'S': "
            "8000}, or declare the frame of the sample in the policy."
        )
    names = tuple(sizes)
    group_sizes = [sizes[names[find_group(names, key)]] for key in groups]
    factors = [float(rational(size, "weights")) for size in group_sizes]
    if min(factors) < 0 or not sum(factors) > 0:
        raise InvalidParameter("Weights must not be negative, and some must be positive.")
    return [factor / sum(factors) for factor in factors]


def _check_units(release: Release) -> None:
    """Refuses a mean over rows with weights that count units."""
    if rows_of_unit(release.plan) > 1:
        raise InvalidParameter(
            f"The frame of this sample counts {release.plan.unit}s, and this mean is over "
            "rows. Give how many rows each group has in the population as `weights`."
        )
