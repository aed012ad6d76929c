"""Differences, ratios and trends of the groups of a release, with the error of both kinds.

Groups have independent noise and, if each person is in one group, independent rows. So the
interval of a weighted sum of their means follows from the intervals of each
(`mean_intervals.combine_ends`). A ratio is a difference of logarithms, an odds ratio one of
log odds: these are monotone, so an interval goes over to them by its ends. Amounts (counts and
sums) describe these rows alone: their noise has an exact law, and no sampling error is stated.
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
from deniable.infer.groups.group_means import GroupMeans, Key, find_group
from deniable.infer.groups.local_shares import LocalShares
from deniable.infer.groups.mean_intervals import (
    EndsOf,
    combine_ends,
    contrast_ends,
    noise_ends,
    population_ends,
    sampling_ends,
)
from deniable.infer.groups.readings import GroupAmounts, read
from deniable.infer.inferred import POPULATION, THESE_ROWS, Ends, Inferred
from deniable.infer.sums import ratio_ends
from deniable.query.margins.noise_quantiles import fixed_margin
from deniable.release.session.release import Release

Floats: TypeAlias = NDArray[np.float64]
Scale: TypeAlias = Callable[[Floats], Floats]

# Levels at which it is tried whether an interval excludes no difference.
LADDER = tuple(Fraction(1, k) for k in (2, 5, 10, 20, 50, 100, 200, 1000, 10000))


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
    >>> found = dp.infer.difference(visits.sql(question, epsilon=1), "A", "B")
    >>> found.low < 0.5 < found.high, found.p_value < 0.05
    (True, True)

    Groups of a survey, whose answers were randomized by the respondents, are given by their
    design and the numbers of no and yes:

    >>> coins = dp.RandomizedResponse(odds=3)
    >>> asked = {"A": (coins, (600, 400)), "B": (coins, (700, 300))}
    >>> round(dp.infer.difference(asked, "A", "B").value, 2)
    0.2
    """
    read_as = read(release, value, rows)
    return contrast(read_as, {first: 1, second: -1}, sampling=sampling, confidence=confidence)


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
    >>> found = dp.infer.ratio(counts, "A", "B")
    >>> round(found.value), found.sampling is None
    (4, True)
    """
    level = confidence_level(confidence)
    found = read(release, value, rows)
    if isinstance(found, GroupAmounts):
        return _ratio_of_amounts(found, first, second, level)
    if found.low < 0:
        raise InvalidParameter(
            f"A ratio needs values that are not negative, but {found.what} may be as low as "
            f"{found.low:g}. Use difference()."
        )
    name = f"{found.what} of {_name(first)} over that of {_name(second)}"
    return _on_scale(found, first, second, name, _logarithm, sampling, level)


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
    >>> found = dp.infer.odds_ratio(visits.sql(question, epsilon=1), "A", "B")
    >>> found.low < 1 / 3 < found.high
    True
    """
    level = confidence_level(confidence)
    found = read(release, value, rows)
    if isinstance(found, GroupAmounts) or (found.low, found.high) != (0.0, 1.0):
        raise InvalidParameter(
            "Odds need a share between 0 and 1. Name a count and the count that it is a part "
            'of, such as value="sick", rows="n", or ask for AVG of zeros and ones.'
        )
    name = f"odds of {found.what} of {_name(first)} over those of {_name(second)}"
    return _on_scale(found, first, second, name, _log_odds, sampling, level)


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
    found = read(release, value, rows)
    pairs = list(itertools.combinations(found.groups, 2))
    times = len(pairs) if correction == "bonferroni" else 1
    each = 1 - (1 - confidence_level(confidence)) / max(times, 1)
    return tuple(
        contrast(found, {first: 1, second: -1}, sampling=sampling, confidence=each, pairs=times)
        for first, second in pairs
    )


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
    found = read(release, value, rows)
    given = _scores(found.groups) if scores is None else scores
    places = np.array([float(rational(score, "scores")) for score in given])
    if places.shape != (len(found.groups),) or np.ptp(places) == 0:
        raise InvalidParameter(
            f"A trend needs one score for each of the {len(found.groups)} groups, and at least "
            "two different ones."
        )
    centred = places - places.mean()
    weights = dict(zip(found.groups, centred / (centred @ centred), strict=True))
    name = f"trend of {found.what}"
    return contrast(found, weights, sampling=sampling, confidence=confidence, name=name)


def contrast(
    found: GroupMeans | GroupAmounts | LocalShares,
    weights: Mapping[Key, float],
    *,
    sampling: bool = True,
    confidence: Number = 0.95,
    pairs: int = 1,
    name: str | None = None,
) -> Inferred:
    """The sum of weights * groups' numbers; its p-value is for a sum of 0, times `pairs`."""
    level = confidence_level(confidence)
    name = name or f"{found.what} of {' less that of '.join(_name(key) for key in weights)}"
    places = [find_group(found.groups, key) for key in weights]
    factors = [float(weight) for weight in weights.values()]
    if isinstance(found, GroupAmounts):
        return _contrast_of_amounts(found, places, list(weights.values()), name, level)
    parts = [found.at(place) for place in places]
    values = np.concatenate([part.values for part in parts])

    def ends(of: EndsOf, at: Fraction) -> Ends:
        return contrast_ends(parts, factors, of, at)

    value = float(np.asarray(factors) @ values)
    return _with_both_errors(name, value, ends, found, level, sampling, pairs=pairs)


def _with_both_errors(
    name: str,
    value: float,
    ends: Callable[[EndsOf, Fraction], Ends],
    found: GroupMeans | LocalShares,
    level: Fraction,
    sampling: bool,
    *,
    null: float = 0.0,
    pairs: int = 1,
) -> Inferred:
    """A number and its intervals by noise, by sampling and by both; the p-value of `null`."""
    whole = population_ends if sampling else noise_ends
    return Inferred(
        name,
        value,
        ends(whole, level),
        ends(noise_ends, level),
        ends(sampling_ends, level) if sampling else None,
        float(level),
        POPULATION if sampling else THESE_ROWS,
        p_value=_ladder_p(lambda at: ends(whole, at), null, pairs),
        notes=variance_notes(found) if sampling else (),
    )


def variance_notes(found: GroupMeans | LocalShares) -> tuple[str, ...]:
    """What is assumed about rows of one unit, and what would make the intervals shorter."""
    notes: list[str] = []
    if isinstance(found, LocalShares):
        return ()
    if found.cluster > 1 and found.moments is None:
        notes.append(
            f"One unit may have {found.cluster:g} rows here, and they may be alike: sampling "
            f"errors are those of {found.cluster:g} equal rows. FOR POPULATION at the end of "
            "the question measures how alike they are."
        )
    if found.variance is not None or found.moments is not None:
        return tuple(notes)
    if (found.low, found.high) != (0.0, 1.0):
        inner = found.what.removeprefix("AVG(").removesuffix(")")
        notes.append(
            f"The variance was not released, so the public range {found.low:g} to "
            f"{found.high:g} bounds it. STDDEV({inner}) beside {found.what} makes the interval "
            "shorter."
        )
    return tuple(notes)


def _ladder_p(ends: Callable[[Fraction], Ends], null: float, pairs: int = 1) -> float:
    """The least level of the ladder at which the interval excludes `null`; 1 if none does."""
    p = 1.0
    for level in LADDER:
        low, high = ends(1 - level)
        if low <= null <= high:
            break
        p = min(1.0, float(level) * pairs)
    return p


def _contrast_of_amounts(
    found: GroupAmounts, places: list[int], factors: list[float], name: str, level: Fraction
) -> Inferred:
    weights, noises = {}, {}
    for place, factor in zip(places, factors, strict=True):
        for feature, weight in found.weights.items():
            weights[f"{place} {feature}"] = weight * Fraction(factor).limit_denominator(10**9)
            noises[f"{place} {feature}"] = found.noises[feature]
    value = float(np.asarray([float(f) for f in factors]) @ found.values[places])

    def ends(at: Fraction) -> Ends:
        half = fixed_margin(weights, noises, at)
        return value - half, value + half

    both, p = ends(level), _ladder_p(ends, 0.0)
    return Inferred(name, value, both, both, None, float(level), THESE_ROWS, p)


def _ratio_of_amounts(
    found: GroupAmounts, first: Key, second: Key, level: Fraction
) -> Inferred:
    places = [find_group(found.groups, key) for key in (first, second)]
    over, under = (found.values[place] for place in places)

    def ends(at: Fraction) -> Ends:
        return ratio_ends(found, places[:1], places[1:], at)

    name = f"{found.what} of {_name(first)} over that of {_name(second)}"
    value = over / under if under else math.nan
    both, p = ends(level), _ladder_p(ends, 1.0)
    return Inferred(name, value, both, both, None, float(level), THESE_ROWS, p)


def _on_scale(
    found: GroupMeans | LocalShares,
    first: Key,
    second: Key,
    name: str,
    scale: Scale,
    sampling: bool,
    level: Fraction,
) -> Inferred:
    """A difference on a scale of logarithms, taken back from it."""
    parts = [found.at(find_group(found.groups, key)) for key in (first, second)]
    values = np.concatenate([part.values for part in parts])

    def ends(of: EndsOf, at: Fraction) -> Ends:
        shared = found.shared and of is not noise_ends
        both = [of(part, 1 - (1 - at) / 2 if shared else at) for part in parts]
        low, high = (scale(np.concatenate([pair[i] for pair in both])) for i in (0, 1))
        return _combine_logarithms(scale(values), low, high, shared=shared)

    with np.errstate(all="ignore"):
        middle = float(np.exp(np.subtract(*scale(values))))
    return _with_both_errors(name, middle, ends, found, level, sampling, null=1.0)


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


def _name(key: Key) -> str:
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)
