"""Sums, differences and shares of released counts and sums: what a calculator needs.

Each group has noise of its own, whose law is known. The margin of a sum is a quantile of the
sum of these noises, so it is shorter than the sum of the margins. A share has noise above and
below the line that is partly the same, so Fieller's set is used (`query.margins.ratios`).
Everything describes the rows themselves; no sampling error is stated.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, confidence_level
from deniable.infer.groups.group_means import Key, find_group
from deniable.infer.groups.readings import GroupAmounts, mean_columns, read
from deniable.infer.inferred import THESE_ROWS, Ends, Inferred
from deniable.infer.significance import ladder_p
from deniable.mechanisms.noise.additive import Noise
from deniable.query.margins import ratios
from deniable.query.margins.linear_forms import LinearForm, RatioForm
from deniable.query.margins.noise_quantiles import fixed_margin
from deniable.release.session.release import Release

_MOST_NAMES = 4


def total(
    release: Release,
    groups: Sequence[Key] | None = None,
    *,
    less: Sequence[Key] = (),
    value: str | None = None,
    confidence: Number = 0.95,
) -> Inferred:
    """The sum of the numbers of some groups, or of all, less that of others.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> rows = pa.table({"ward": ["A"] * 4000 + ["B"] * 1000})
    >>> visits = dp.protect(rows, keys={"ward": ["A", "B"]}, epsilon=1)
    >>> counts = visits.sql("SELECT ward, COUNT(*) AS n FROM data GROUP BY ward", epsilon=1)
    >>> inferred = dp.infer.total(counts)
    >>> inferred.value == sum(counts["n"]), round(inferred.high - inferred.value)
    (True, 4)
    """
    level = confidence_level(confidence)
    amounts = read_amounts(release, value)
    plus, minus = find_places(amounts, groups), find_places(amounts, less) if less else []
    if not plus or set(plus) & set(minus):
        raise InvalidParameter(
            "A sum needs a group, and a group cannot be both added and subtracted."
        )
    middle, ends = ends_of_sum([weigh(amounts, plus), weigh(amounts, minus, -1)], level)
    name = f"{amounts.what} of {name_groups(amounts, plus)}"
    name += f" less that of {name_groups(amounts, minus)}" if minus else ""
    return Inferred(name, middle, ends, ends, None, float(level), THESE_ROWS)


def share(
    release: Release,
    part: Sequence[Key],
    of: Sequence[Key] | None = None,
    *,
    value: str | None = None,
    confidence: Number = 0.95,
) -> Inferred:
    """The sum over some groups divided by that over others; over all groups without `of`.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> rows = pa.table({"ward": ["A"] * 4000 + ["B"] * 1000})
    >>> visits = dp.protect(rows, keys={"ward": ["A", "B"]}, epsilon=1)
    >>> counts = visits.sql("SELECT ward, COUNT(*) AS n FROM data GROUP BY ward", epsilon=1)
    >>> inferred = dp.infer.share(counts, ["A"])
    >>> inferred.low < 0.8 < inferred.high < 0.81
    True
    """
    level = confidence_level(confidence)
    amounts = read_amounts(release, value)
    above, below = find_places(amounts, part), find_places(amounts, of)
    if not above or not below:
        raise InvalidParameter("A share needs a group above the line, and one below it.")
    ends = ratio_ends(amounts, above, below, level)
    over, under = (math.fsum(amounts.values[places]) for places in (above, below))
    middle = over / under if under else math.nan
    if amounts.count and set(above) <= set(below):  # a part of a number of rows
        ends = max(ends[0], 0.0), min(ends[1], 1.0)
        middle = min(max(middle, ends[0]), ends[1])
    line = (
        f"{amounts.what} of {name_groups(amounts, above)} "
        f"over that of {name_groups(amounts, below)}"
    )
    return Inferred(line, middle, ends, ends, None, float(level), THESE_ROWS, null=1.0)


def read_amounts(release: Release, value: str | None) -> GroupAmounts:
    """The column as counts or sums, which can be added. Means cannot."""
    means = mean_columns(release)
    if value in means:
        raise InvalidParameter(
            f"{value} is a mean, and means of groups cannot be added. Ask for SUM and COUNT, "
            "or compare two groups with difference() or ratio()."
        )
    addable = [name for name in release.answer.margins if name not in means]
    only = addable[0] if value is None and len(addable) == 1 else value
    amounts = read(release, only, None)
    assert isinstance(amounts, GroupAmounts)
    return amounts


def sum_of_amounts(
    amounts: GroupAmounts,
    places: list[int],
    factors: list[float],
    name: str,
    level: Fraction,
    pairs: int = 1,
) -> Inferred:
    """The sum of factors * amounts; its p-value is for a sum of 0, times `pairs`."""
    weights, noises = {}, {}
    for place, factor in zip(places, factors, strict=True):
        for feature, weight in amounts.weights.items():
            weights[f"{place} {feature}"] = weight * Fraction(factor).limit_denominator(10**9)
            noises[f"{place} {feature}"] = amounts.noises[feature]
    value = float(np.asarray([float(f) for f in factors]) @ amounts.values[places])

    def ends(at: Fraction) -> Ends:
        half = fixed_margin(weights, noises, at)
        return value - half, value + half

    both, p = ends(level), ladder_p(ends, 0.0, pairs)
    return Inferred(name, value, both, both, None, float(level), THESE_ROWS, p)


def ratio_of_amounts(
    amounts: GroupAmounts, first: int, second: int, name: str, level: Fraction
) -> Inferred:
    """The amount at the first place over that at the second."""
    over, under = (amounts.values[place] for place in (first, second))

    def ends(at: Fraction) -> Ends:
        return ratio_ends(amounts, [first], [second], at)

    value = over / under if under else math.nan
    both, p = ends(level), ladder_p(ends, 1.0)
    return Inferred(name, value, both, both, None, float(level), THESE_ROWS, p, null=1.0)


def ratio_ends(
    amounts: GroupAmounts, above: Sequence[int], below: Sequence[int], level: Fraction
) -> Ends:
    """What the sum of some groups over that of others may be. Groups in both share noise."""
    return ends_of_ratio(weigh(amounts, above), weigh(amounts, below), level)


@dataclass(frozen=True, slots=True)
class WeighedSum:
    """A sum of groups: its form over noisy integers, their noises, integers that give it."""

    form: LinearForm
    noises: dict[str, Noise]
    integers: dict[str, float]
    value: float


def weigh(
    amounts: GroupAmounts, places: Sequence[int], sign: int = 1, *, of: str = ""
) -> WeighedSum:
    """The sum of some groups, or what is to be subtracted: each group has noises of its own.
    `of` tells the noises of one release from those of another."""
    names = [(place, feature) for place in places for feature in amounts.weights]
    weights = {f"{of}{p} {f}": sign * amounts.weights[f] for p, f in names}
    noises = {f"{of}{place} {feature}": amounts.noises[feature] for place, feature in names}
    integers = {f"{of}{place} {feature}": 0.0 for place, feature in names}
    lead = next(iter(amounts.weights))  # any integers with these sums will do
    for place in places:
        integers[f"{of}{place} {lead}"] = amounts.values[place] / float(amounts.weights[lead])
    value = sign * math.fsum(amounts.values[place] for place in places)
    return WeighedSum(LinearForm.of(Fraction(0), weights), noises, integers, value)


def ends_of_sum(parts: Sequence[WeighedSum], level: Fraction) -> tuple[float, Ends]:
    """The sum of sums that share no noise, and what it may be."""
    weights = {name: weight for part in parts for name, weight in part.form.weights}
    noises = {name: noise for part in parts for name, noise in part.noises.items()}
    middle, half = math.fsum(part.value for part in parts), fixed_margin(weights, noises, level)
    return middle, (middle - half, middle + half)


def ends_of_ratio(above: WeighedSum, below: WeighedSum, level: Fraction) -> Ends:
    """What one sum over another may be."""
    features = {
        name: np.array([value]) for name, value in (above.integers | below.integers).items()
    }
    noises = above.noises | below.noises
    form = RatioForm(above.form, below.form)
    low, high = ratios.interval(form, noises, features, level)
    return float(low[0]), float(high[0])


def find_places(amounts: GroupAmounts, keys: Sequence[Key] | None) -> list[int]:
    if keys is None:
        return list(range(len(amounts.groups)))
    return list(dict.fromkeys(find_group(amounts.groups, key) for key in keys))


def name_groups(amounts: GroupAmounts, places: Sequence[int]) -> str:
    """Some groups in words."""
    if len(places) == len(amounts.groups) and len(places) > 1:
        return "all groups"
    keys = [amounts.groups[place] for place in places]
    names = [", ".join(map(str, key)) if isinstance(key, tuple) else str(key) for key in keys]
    if len(names) > _MOST_NAMES:
        return f"{', '.join(names[:_MOST_NAMES])} and {len(names) - _MOST_NAMES} more"
    return " and ".join(names)
