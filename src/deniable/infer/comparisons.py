"""Differences, ratios and trends of the groups of a release, with the error of both kinds.

Groups have independent noise and, if each person is in one group, independent rows. So the
interval of a weighted sum of their means follows from the intervals of each
(`mean_intervals.combine_ends`). A ratio is a difference of logarithms, an odds ratio one of
log odds: these are monotone, so an interval goes over to them by its ends. Amounts (counts and
sums) describe these rows alone (`sums`). Quantiles have intervals that cannot be
added in squares (`quantile_contrasts`).
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, confidence_level, rational
from deniable.infer.drawn_means import DrawnMeans
from deniable.infer.groups.group_means import GroupMeans, Key, find_group, find_pair
from deniable.infer.groups.local_shares import LocalShares
from deniable.infer.groups.mean_intervals import (
    EndsOf,
    combine_ends,
    contrast_ends,
    noise_ends,
    population_ends,
    sampling_ends,
)
from deniable.infer.groups.readings import GroupAmounts, read, refuse_noisy_order
from deniable.infer.inferred import THESE_ROWS, Ends, Inferred
from deniable.infer.quantile_contrasts import (
    GroupQuantiles,
    compare_quantiles,
    quotient,
    read_quantiles,
    weighted_sum,
)
from deniable.infer.significance import ladder_p
from deniable.infer.sums import ratio_of_amounts, sum_of_amounts
from deniable.release.session.release import Release

Floats: TypeAlias = NDArray[np.float64]
Scale: TypeAlias = Callable[[Floats], Floats]
GroupNumbers: TypeAlias = GroupMeans | GroupAmounts | LocalShares | GroupQuantiles


def difference(
    release: Release | Mapping[Key, Any],
    first: Key,
    second: Key,
    *,
    value: str | int | None = None,
    rows: str | None = None,
    sampling: bool = True,
    confidence: Number = 0.95,
) -> Inferred:
    """The first group's number less the second's.

    `value` names the column, `rows` the count that a count is a share of. A count or sum
    without `rows` gets the error of its noise alone.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> rows = pa.table({"ward": ["A", "B"] * 4000, "sick": [1, 0, 0, 0] * 2000})
    >>> visits = dp.protect(rows, bounds={"sick": (0, 1)}, keys={"ward": ["A", "B"]}, epsilon=1)
    >>> question = "SELECT ward, COUNT(sick) AS n, AVG(sick) AS share FROM data GROUP BY ward"
    >>> result = dp.infer.difference(visits.sql(question, epsilon=1), "A", "B")
    >>> result.low < 0.5 < result.high, result.p_value < 0.05
    (True, True)

    Groups of a survey, whose answers were randomized by the respondents, are given by their
    design and the numbers of no and yes:

    >>> coins = dp.RandomizedResponse(odds=3)
    >>> groups = {"A": (coins, (600, 400)), "B": (coins, (700, 300))}
    >>> round(dp.infer.difference(groups, "A", "B").value, 2)
    0.2
    """
    by_group = _read(release, value, rows)
    find_pair(by_group.groups, first, second)
    weights = {first: 1, second: -1}
    return contrast(by_group, weights, release, sampling=sampling, confidence=confidence)


def ratio(
    release: Release | Mapping[Key, Any],
    first: Key,
    second: Key,
    *,
    value: str | int | None = None,
    rows: str | None = None,
    sampling: bool = True,
    confidence: Number = 0.95,
) -> Inferred:
    """The first group's number over the second's.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> rows = pa.table({"ward": ["A"] * 4000 + ["B"] * 1000})
    >>> visits = dp.protect(rows, keys={"ward": ["A", "B"]}, epsilon=1)
    >>> counts = visits.sql("SELECT ward, COUNT(*) AS n FROM data GROUP BY ward", epsilon=1)
    >>> result = dp.infer.ratio(counts, "A", "B")
    >>> round(result.value), result.sampling is None
    (4, True)
    """
    level = confidence_level(confidence)
    by_group = _read(release, value, rows)
    places = find_pair(by_group.groups, first, second)
    name = f"{by_group.what} of {_name(first)} over that of {_name(second)}"
    if isinstance(by_group, GroupAmounts):
        return ratio_of_amounts(by_group, *places, name, level)
    if by_group.low < 0:
        raise InvalidParameter(
            f"A ratio needs values that are not negative, but {by_group.what} may be as low as "
            f"{by_group.low:g}. Use difference()."
        )
    if isinstance(by_group, GroupQuantiles):
        what = quotient(first, second, name)
        return compare_quantiles(by_group, what, sampling=sampling, level=level)
    drawn_means = DrawnMeans(by_group, release if sampling else None)
    return _on_scale(drawn_means, places, name, _logarithm, sampling, level)


def odds_ratio(
    release: Release | Mapping[Key, Any],
    first: Key,
    second: Key,
    *,
    value: str | int | None = None,
    rows: str | None = None,
    sampling: bool = True,
    confidence: Number = 0.95,
) -> Inferred:
    """The odds of a share in the first group over those in the second.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> rows = pa.table({"ward": ["A", "B"] * 4000, "sick": [1, 1, 0, 1, 0, 1, 1, 0] * 1000})
    >>> visits = dp.protect(rows, bounds={"sick": (0, 1)}, keys={"ward": ["A", "B"]}, epsilon=1)
    >>> question = "SELECT ward, COUNT(sick) AS n, AVG(sick) AS share FROM data GROUP BY ward"
    >>> result = dp.infer.odds_ratio(visits.sql(question, epsilon=1), "A", "B")
    >>> result.low < 1 / 3 < result.high
    True
    """
    level = confidence_level(confidence)
    by_group = read(release, value, rows)
    places = find_pair(by_group.groups, first, second)
    if isinstance(by_group, GroupAmounts) or (by_group.low, by_group.high) != (0.0, 1.0):
        raise InvalidParameter(
            "Odds need a share between 0 and 1. Name a count and the count that it is a part "
            'of, such as value="sick", rows="n", or ask for AVG of zeros and ones.'
        )
    name = f"odds of {by_group.what} of {_name(first)} over those of {_name(second)}"
    drawn_means = DrawnMeans(by_group, release if sampling else None)
    return _on_scale(drawn_means, places, name, _log_odds, sampling, level)


def all_pairs(
    release: Release | Mapping[Key, Any],
    *,
    value: str | int | None = None,
    rows: str | None = None,
    sampling: bool = True,
    confidence: Number = 0.95,
    correction: str = "bonferroni",
) -> tuple[Inferred, ...]:
    """The differences of all pairs of groups. All intervals hold together, with `confidence`.

    With correction="none" each holds by itself: of 45 pairs that do not differ, two or three
    will then seem to.
    """
    if correction not in ("bonferroni", "none"):
        raise InvalidParameter(f'correction is "bonferroni" or "none"; got {correction!r}.')
    by_group, level = _read(release, value, rows), confidence_level(confidence)
    pairs = list(itertools.combinations(by_group.groups, 2))
    together = correction == "bonferroni"
    if isinstance(by_group, GroupQuantiles):
        groups = len(by_group.groups) if together else 2
        sums = (weighted_sum({a: 1, b: -1}, _less(by_group, a, b)) for a, b in pairs)
        options: Any = {"sampling": sampling, "level": level, "groups": groups}
        return tuple(compare_quantiles(by_group, what, **options) for what in sums)
    times = max(len(pairs), 1) if together else 1
    options = {"sampling": sampling, "confidence": 1 - (1 - level) / times, "pairs": times}
    return tuple(contrast(by_group, {a: 1, b: -1}, release, **options) for a, b in pairs)


def trend(
    release: Release | Mapping[Key, Any],
    *,
    scores: Sequence[Number] | None = None,
    value: str | int | None = None,
    rows: str | None = None,
    sampling: bool = True,
    confidence: Number = 0.95,
) -> Inferred:
    """The slope of the groups' numbers over the groups, in the order of the release.

    `scores` says where each group lies; without it their keys, if these are numbers, or 0, 1,
    2, ... Every group has the same weight.
    """
    groups = _read(release, value, rows)
    group_scores = _scores(groups.groups) if scores is None else scores
    if isinstance(release, Release) and group_scores is not groups.groups:
        refuse_noisy_order(release.plan)
    places = np.array([float(rational(score, "scores")) for score in group_scores])
    if places.shape != (len(groups.groups),) or np.ptp(places) == 0:
        raise InvalidParameter(
            f"A trend needs one score for each of the {len(groups.groups)} groups, and at "
            "least two different ones."
        )
    centred = places - places.mean()
    weights = dict(zip(groups.groups, centred / (centred @ centred), strict=True))
    name = f"trend of {groups.what}"
    options: Any = {"sampling": sampling, "confidence": confidence, "name": name}
    return contrast(groups, weights, release, **options)


def contrast(
    by_group: GroupNumbers,
    weights: Mapping[Key, float],
    release: Release | Mapping[Key, Any] | None = None,
    *,
    sampling: bool = True,
    confidence: Number = 0.95,
    pairs: int = 1,
    name: str | None = None,
) -> Inferred:
    """The sum of weights * groups' numbers; its p-value is for a sum of 0, times `pairs`.

    The `release` says how its rows were drawn."""
    level = confidence_level(confidence)
    name = name or _less(by_group, *weights)
    if isinstance(by_group, GroupQuantiles):
        what = weighted_sum(weights, name)
        return compare_quantiles(by_group, what, sampling=sampling, level=level)
    places = [find_group(by_group.groups, key) for key in weights]
    factors = [float(weight) for weight in weights.values()]
    if isinstance(by_group, GroupAmounts):
        return sum_of_amounts(by_group, places, factors, name, level, pairs)
    drawn_means = DrawnMeans(by_group, release if sampling else None)

    def ends(of: EndsOf, at: Fraction) -> Ends:
        return contrast_ends(drawn_means.parts(places, at), factors, of, at)

    value = float(np.asarray(factors) @ by_group.values[places])
    target = drawn_means.target(places) if sampling else THESE_ROWS
    return _with_both_errors(name, value, ends, by_group, level, target, pairs=pairs)


def _with_both_errors(
    name: str,
    value: float,
    ends: Callable[[EndsOf, Fraction], Ends],
    by_group: GroupMeans | LocalShares,
    level: Fraction,
    target: str,
    *,
    null: float = 0.0,
    pairs: int = 1,
) -> Inferred:
    """A number and its intervals by noise, by sampling and by both; the p-value of `null`."""
    sampling = target != THESE_ROWS
    whole = population_ends if sampling else noise_ends
    return Inferred(
        name,
        value,
        ends(whole, level),
        ends(noise_ends, level),
        ends(sampling_ends, level) if sampling else None,
        float(level),
        target,
        p_value=ladder_p(lambda at: ends(whole, at), null, pairs),
        notes=variance_notes(by_group) if sampling else (),
        null=null,
    )


def variance_notes(means: GroupMeans | LocalShares) -> tuple[str, ...]:
    """What is assumed about rows of one unit, and what would make the intervals shorter."""
    notes: list[str] = []
    if isinstance(means, LocalShares):
        return ()
    if means.cluster > 1 and means.moments is None:
        notes.append(
            f"One unit may have {means.cluster:g} rows here, and they may be alike: sampling "
            f"errors are those of {means.cluster:g} equal rows. FOR POPULATION at the end of "
            "the question measures how alike they are."
        )
    if means.variance is not None or means.moments is not None:
        return tuple(notes)
    if (means.low, means.high) != (0.0, 1.0):
        inner = means.what.removeprefix("AVG(").removesuffix(")")
        notes.append(
            f"The variance was not released, so the public range {means.low:g} to "
            f"{means.high:g} bounds it. STDDEV({inner}) beside {means.what} makes the interval "
            "shorter."
        )
    return tuple(notes)


def _on_scale(
    drawn_means: DrawnMeans,
    places: Sequence[int],
    name: str,
    scale: Scale,
    sampling: bool,
    level: Fraction,
) -> Inferred:
    """A difference on a scale of logarithms, taken back from it."""
    by_group = drawn_means.means
    values = by_group.values[list(places)]

    def ends(of: EndsOf, at: Fraction) -> Ends:
        shared = by_group.shared and of is not noise_ends
        parts = drawn_means.parts(places, at)
        both = [of(part, 1 - (1 - at) / 2 if shared else at) for part in parts]
        low, high = (scale(np.concatenate([pair[i] for pair in both])) for i in (0, 1))
        return _combine_logarithms(scale(values), low, high, shared=shared)

    with np.errstate(all="ignore"):
        middle = float(np.exp(np.subtract(*scale(values))))
    target = drawn_means.target(places) if sampling else THESE_ROWS
    return _with_both_errors(name, middle, ends, by_group, level, target, null=1.0)


def _combine_logarithms(values: Floats, low: Floats, high: Floats, *, shared: bool) -> Ends:
    """The ends of exp(first - second). A number at the edge of its range, whose logarithm is
    infinite, counts as the nearer end of its interval that is not."""
    finite = np.isfinite(values)
    inner = np.where(values < 0, high, low)
    middle = np.where(finite, values, inner)
    if not np.isfinite(middle).all():
        return 0.0, math.inf
    least, most = combine_ends([1, -1], middle, low, high, shared=shared)
    return math.exp(least), math.exp(most) if most < 700 else math.inf


def _logarithm(x: Floats) -> Floats:
    with np.errstate(all="ignore"):
        return np.asarray(np.log(x))


def _log_odds(x: Floats) -> Floats:
    with np.errstate(all="ignore"):
        return np.asarray(np.log(x) - np.log1p(-x))


def _scores(groups: tuple[Key, ...]) -> Sequence[Number]:
    numbers = all(type(key) in (int, float) for key in groups)
    return groups if numbers else range(len(groups))


def _read(
    release: Release | Mapping[Key, Any], value: str | int | None, rows: str | None
) -> GroupNumbers:
    quantiles = read_quantiles(release, value, rows)
    return read(release, value, rows) if quantiles is None else quantiles


def _less(by_group: GroupNumbers, *groups: Key) -> str:
    return f"{by_group.what} of {' less that of '.join(map(_name, groups))}"


def _name(key: Key) -> str:
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)
