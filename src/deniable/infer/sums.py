"""Sums, differences and shares of released counts and sums: what a calculator needs.

Each group has noise of its own, whose law is known. The margin of a sum is a quantile of the
sum of these noises, so it is shorter than the sum of the margins. A share has noise above and
below the line that is partly the same, so Fieller's set is used (`query.margins.ratios`).
Everything describes the rows themselves; no sampling error is stated.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, confidence_level
from deniable.infer.groups.group_means import Key, find_group
from deniable.infer.groups.readings import GroupAmounts, mean_columns, read
from deniable.infer.inferred import THESE_ROWS, Ends, Inferred
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
    >>> found = dp.infer.total(counts)
    >>> found.value == sum(counts["n"]), round(found.high - found.value)
    (True, 4)
    """
    level = confidence_level(confidence)
    found = read_amounts(release, value)
    plus, minus = _places(found, groups), _places(found, less) if less else []
    if not plus or set(plus) & set(minus):
        raise InvalidParameter(
            "A sum needs a group, and a group cannot be both added and subtracted."
        )
    factors = dict.fromkeys(plus, Fraction(1)) | dict.fromkeys(minus, Fraction(-1))
    form, noises = _weigh(found, factors)
    middle = math.fsum(float(factor) * found.values[place] for place, factor in factors.items())
    half = fixed_margin(dict(form.weights), noises, level)
    ends = middle - half, middle + half
    name = f"{found.what} of {_name(found, plus)}"
    name += f" less that of {_name(found, minus)}" if minus else ""
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
    >>> found = dp.infer.share(counts, ["A"])
    >>> found.low < 0.8 < found.high < 0.81
    True
    """
    level = confidence_level(confidence)
    found = read_amounts(release, value)
    above, below = _places(found, part), _places(found, of)
    if not above or not below:
        raise InvalidParameter("A share needs a group above the line, and one below it.")
    ends = ratio_ends(found, above, below, level)
    over, under = (math.fsum(found.values[places]) for places in (above, below))
    middle = over / under if under else math.nan
    if found.count and set(above) <= set(below):  # a part of a number of rows
        ends = max(ends[0], 0.0), min(ends[1], 1.0)
        middle = min(max(middle, ends[0]), ends[1])
    line = f"{found.what} of {_name(found, above)} over that of {_name(found, below)}"
    return Inferred(line, middle, ends, ends, None, float(level), THESE_ROWS)


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
    found = read(release, only, None)
    assert isinstance(found, GroupAmounts)
    return found


def ratio_ends(
    found: GroupAmounts, above: Sequence[int], below: Sequence[int], level: Fraction
) -> Ends:
    """What the sum of some groups over that of others may be. Groups in both share noise."""
    over, over_noises = _weigh(found, dict.fromkeys(above, Fraction(1)))
    under, under_noises = _weigh(found, dict.fromkeys(below, Fraction(1)))
    lead = next(iter(found.weights))  # any integers with these sums will do
    features: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]] = {}
    for place in {*above, *below}:
        features |= {f"{place} {feature}": np.zeros(1) for feature in found.weights}
        amount = found.values[place] / float(found.weights[lead])
        features[f"{place} {lead}"] = np.array([amount])
    noises = over_noises | under_noises
    low, high = ratios.interval(RatioForm(over, under), noises, features, level)
    return float(low[0]), float(high[0])


def _weigh(
    found: GroupAmounts, factors: dict[int, Fraction]
) -> tuple[LinearForm, dict[str, Noise]]:
    """The sum of factors * groups as a linear form: each group has noises of its own."""
    names = [(place, feature) for place in factors for feature in found.weights]
    weights = {f"{p} {f}": factors[p] * found.weights[f] for p, f in names}
    noises = {f"{place} {feature}": found.noises[feature] for place, feature in names}
    return LinearForm.of(Fraction(0), weights), noises


def _places(found: GroupAmounts, keys: Sequence[Key] | None) -> list[int]:
    if keys is None:
        return list(range(len(found.groups)))
    return list(dict.fromkeys(find_group(found.groups, key) for key in keys))


def _name(found: GroupAmounts, places: Sequence[int]) -> str:
    if len(places) == len(found.groups) and len(places) > 1:
        return "all groups"
    keys = [found.groups[place] for place in places]
    names = [", ".join(map(str, key)) if isinstance(key, tuple) else str(key) for key in keys]
    if len(names) > _MOST_NAMES:
        return f"{', '.join(names[:_MOST_NAMES])} and {len(names) - _MOST_NAMES} more"
    return " and ".join(names)
