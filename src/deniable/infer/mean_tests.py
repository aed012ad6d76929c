"""Tests of means by their intervals: that two differ, and that they hardly differ.

A mean is tested by whether the interval at level 1 - p excludes the hypothesis. The p-value is
the least of a ladder of levels at which it does, so it is an upper limit. Equivalence is shown
if the interval at 1 - 2 p lies within the limits: two one-sided tests (Schuirmann 1987).
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, rational
from deniable.infer.comparisons import contrast, variance_notes
from deniable.infer.drawn_means import DrawnMeans
from deniable.infer.groups.group_means import GroupMeans, Key, find_pair
from deniable.infer.groups.local_shares import LocalShares
from deniable.infer.groups.mean_intervals import contrast_ends, population_ends
from deniable.infer.groups.readings import GroupAmounts, read
from deniable.infer.inferred import Ends
from deniable.infer.significance import LADDER, Significance, least_level
from deniable.release.session.release import Release


def t_test(
    release: Release | Mapping[Key, Any],
    first: Key,
    second: Key,
    *,
    value: str | int | None = None,
    rows: str | None = None,
) -> Significance:
    """Tests whether two groups have the same mean in the population.

    With the released standard deviation the test is Welch's, with the noise in its error.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> rows = pa.table({"ward": ["A", "B"] * 1000, "cost": [50.0, 40.0, 30.0, 20.0] * 500})
    >>> visits = dp.protect(
    ...     rows, bounds={"cost": (0, 100)}, keys={"ward": ["A", "B"]}, epsilon=1
    ... )
    >>> text = "SELECT ward, COUNT(cost) AS n, AVG(cost) AS m, STDDEV(cost) AS d FROM data"
    >>> dp.infer.t_test(visits.sql(f"{text} GROUP BY ward", epsilon=1), "A", "B").rejects()
    True
    """
    means = _means(read(release, value, rows))
    find_pair(means.groups, first, second)
    contrasted = contrast(means, {first: 1, second: -1}, release)
    name = f"{means.what} is the same in {first} and {second}"
    p = 1.0 if contrasted.p_value is None else contrasted.p_value
    return Significance(name, contrasted.value, p, contrasted.target, contrasted.notes)


def equivalence_test(
    release: Release | Mapping[Key, Any],
    first: Key,
    second: Key,
    *,
    within: Number,
    value: str | int | None = None,
    rows: str | None = None,
) -> Significance:
    """Tests whether two groups' means or shares differ by `within` or more.

    A small p-value says that they differ by less.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> rows = pa.table({"ward": ["A", "B"] * 4000, "sick": [1, 1, 0, 0] * 2000})
    >>> visits = dp.protect(rows, bounds={"sick": (0, 1)}, keys={"ward": ["A", "B"]}, epsilon=1)
    >>> question = "SELECT ward, COUNT(sick) AS n, AVG(sick) AS share FROM data GROUP BY ward"
    >>> release = visits.sql(question, epsilon=1)
    >>> dp.infer.equivalence_test(release, "A", "B", within=0.1).rejects()
    True
    """
    limit = float(rational(within, "within"))
    if limit <= 0:
        raise InvalidParameter(f"`within` must be positive. Found {within}.")
    means = _means(read(release, value, rows))
    places = find_pair(means.groups, first, second)
    drawn_means = DrawnMeans(means, release)

    def ends(confidence: Fraction) -> Ends:
        pair = drawn_means.parts(places, confidence)
        return contrast_ends(pair, [1, -1], population_ends, confidence)

    difference = float(means.values[places[0]] - means.values[places[1]])
    name = f"{means.what} of {first} and {second} differ by {limit:g} or more"
    target, notes = drawn_means.target(places), variance_notes(means)
    return Significance(name, difference, _inside_p(ends, limit), target, notes)


def _inside_p(ends: Callable[[Fraction], Ends], limit: float) -> float:
    def inside(level: Fraction) -> bool:
        low, high = ends(1 - 2 * level)
        return -limit < low and high < limit

    return least_level(inside, LADDER[1:])


def _means(reading: GroupMeans | GroupAmounts | LocalShares) -> GroupMeans | LocalShares:
    if isinstance(reading, GroupAmounts):
        raise InvalidParameter(
            "This test needs means or shares. Ask for AVG(x) with COUNT(x) beside it, or name "
            "the count that a count is a part of with `rows`."
        )
    return reading
