"""Chi-square tests of a table of noisy counts: of independence, and of fit.

The statistic is Pearson's with the noise in the denominator: the sum of (count - expected)**2 /
(expected + variance of the noise). What independence leaves open are the shares of the rows and
columns and the number of rows: the p-value is the largest over an interval of each
(`worst_case`). Reports of surveys are shuffled instead. Of fit, only the number of rows is
open.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, rational
from deniable.infer.drawn_means import target_of
from deniable.infer.groups.group_means import GroupMeans, Key, NoisePart
from deniable.infer.groups.local_shares import LocalShares, one_group, read_local
from deniable.infer.groups.mean_intervals import population_ends
from deniable.infer.groups.readings import (
    GroupAmounts,
    group_columns,
    read,
    refuse_noisy_order,
    refuse_several_rows,
)
from deniable.infer.significance import Significance
from deniable.infer.worst_case import SET_CHANCE, draw_noise, worst_p
from deniable.mechanisms.noise.additive import Noise
from deniable.query.margins.noise_quantiles import fixed_margin
from deniable.release.answer.answer_table import column_names
from deniable.release.session.release import Release

Floats: TypeAlias = NDArray[np.float64]


def independence_test(
    release: Release | Mapping[Key, Any], *, value: str | None = None
) -> Significance:
    """Tests whether the two keys of a release of counts are independent in the population.

    Of a survey: whether the groups answer alike.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> rows = pa.table({"ward": ["A", "B"] * 400, "sick": ["yes", "no", "yes", "yes"] * 200})
    >>> keys = {"ward": ["A", "B"], "sick": ["yes", "no"]}
    >>> visits = dp.protect(rows, keys=keys, epsilon=1)
    >>> question = "SELECT ward, sick, COUNT(*) AS n FROM data GROUP BY ward, sick"
    >>> dp.infer.independence_test(visits.sql(question, epsilon=1)).rejects()
    True
    """
    counts, table, names = read_table(release, value)
    statistic, p = independence_p(table, counts)
    name = f"{names[0]} and {names[1]} are independent"
    return Significance(name, statistic, p, target_of(release, counts.groups[0]))


def fit_test(
    release: Release | Mapping[Key, Any], shares: Sequence[Number], *, value: str | None = None
) -> Significance:
    """Tests whether the groups have these shares in the population, in the release's order.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> rows = pa.table({"ward": ["A", "B", "B", "B"] * 100})
    >>> visits = dp.protect(rows, keys={"ward": ["A", "B"]}, epsilon=1)
    >>> counts = visits.sql("SELECT ward, COUNT(*) AS n FROM data GROUP BY ward", epsilon=1)
    >>> dp.infer.fit_test(counts, [0.5, 0.5]).rejects()
    True
    """
    channel = None
    if isinstance(release, Mapping):
        local_shares = one_group(read_local(release), None)
        counts, channel = _as_counts(local_shares), local_shares.tallies[0].design.matrix
    else:
        counts = read_histogram(release, value) or read_counts(release, value)
        _refuse_strata(release)
        refuse_noisy_order(release.plan)
    expected = np.array([float(rational(share, "shares")) for share in shares])
    if expected.shape != counts.values.shape or (expected < 0).any():
        raise InvalidParameter(f"Give one share for each of the {len(counts.groups)} groups.")
    if not np.isclose(expected.sum(), 1.0):
        raise InvalidParameter(
            f"The shares must add up to 1. They add up to {expected.sum():g}."
        )
    expected = expected / expected.sum()
    if channel is not None:
        expected = np.array(channel, dtype=np.float64) @ expected
    statistic, p = fit_p(counts, expected)
    name = f"{counts.what} has the given shares"
    return Significance(name, statistic, p, target_of(release, counts.groups[0]))


def read_counts(release: Release, value: str | None) -> GroupAmounts:
    """The counts of a release whose groups are all shown and share no person."""
    counts = read(release, value, None)
    if not isinstance(counts, GroupAmounts) or not counts.count:
        raise InvalidParameter("This test needs counts, such as COUNT(*) AS n.")
    if release.plan.thresholding is not None:
        raise InvalidParameter(
            "The groups of this release were found in the data, so groups may be missing from "
            "it. Declare the keys in the policy, or name them in the question."
        )
    refuse_several_rows(release.plan)
    return counts


def read_histogram(release: Release, value: str | None) -> GroupAmounts | None:
    """The bins of HISTOGRAM(x, k), as if the release were grouped by them too; None if `value`
    is not one, or, without `value`, if there is more than that."""
    outputs = zip(column_names(release.plan), release.plan.outputs, strict=True)
    noisy = {names[0]: output for names, output in outputs if names[1] is not None}
    bins = [
        name
        for name, output in noisy.items()
        if output.about.startswith("HISTOGRAM(")
        and (value is None or name.startswith(f"{value}["))
    ]
    whole = len({noisy[name].about for name in bins}) == 1
    if not whole or (value is None and len(bins) < len(noisy)):
        return None
    parts = [read_counts(release, name) for name in bins]
    first = parts[0]
    features = [feature for part in parts for feature in part.weights]
    laws = {tuple((w, p.noises[name]) for name, w in p.weights.items()) for p in parts}
    if len(laws) > 1 or len(set(features)) < len(features):  # bins with noise of their own
        return None
    several = isinstance(first.groups[0], tuple)
    keys = tuple(
        (*(group if several else (group,)), name[name.index("[") + 1 : -1])
        for group in first.groups
        for name in bins
    )
    table = np.stack([part.values for part in parts], axis=1)
    return replace(first, groups=keys, values=table.ravel())


def _refuse_strata(release: Release) -> None:
    """How large groups are in the sample says nothing if the strata were sampled unequally."""
    if release.sample is not None and release.sample.by is not None:
        raise InvalidParameter(
            f"The sample was drawn in strata of {release.sample.by}, so shares of its rows are "
            "not those of the population. Test the shares within one stratum, with "
            "proportion_test() and its `group` and `rows`."
        )


def read_table(
    release: Release | Mapping[Key, Any], value: str | None
) -> tuple[GroupAmounts, Floats, Sequence[str]]:
    """The counts of two keys, as a table too, and the names of the keys."""
    if isinstance(release, Mapping):
        local_shares = read_local(release)
        table = local_shares.reports()
        if table.shape[0] < 2:
            raise InvalidParameter("This test needs two or more groups.")
        return _as_counts(local_shares), table, ("group", "answer")
    names: Sequence[str] = group_columns(release)
    bins = read_histogram(release, value)
    names = names if bins is None else (*names, bins.what)
    if len(names) != 2:
        raise InvalidParameter(
            f"This test needs a release that is grouped by two keys. It has {len(names)}. Or "
            "group by one, and name a HISTOGRAM with `value` if there are other numbers."
        )
    counts = read_counts(release, value) if bins is None else bins
    sides = [list(dict.fromkeys(key[i] for key in counts.groups)) for i in (0, 1)]
    table = np.full((len(sides[0]), len(sides[1])), np.nan)
    for key, number in zip(counts.groups, counts.values, strict=True):
        table[sides[0].index(key[0]), sides[1].index(key[1])] = number
    if np.isnan(table).any() or min(table.shape) < 2:
        raise InvalidParameter(
            "This test needs every combination of two or more values of each key."
        )
    return counts, table, names


def _as_counts(local_shares: LocalShares) -> GroupAmounts:
    """Reports as counts: they have no further noise."""
    reports = local_shares.reports()
    keys = tuple(itertools.product(local_shares.groups, range(reports.shape[1])))
    return GroupAmounts(keys, reports.ravel(), {}, {}, "the answer", count=True)


def independence_p(
    table: Floats, counts: GroupAmounts, *, level: float | None = None
) -> tuple[float, float]:
    """The statistic of independence, and the largest p-value over the unknown margins.

    Reports of a survey have no noise besides their coins. Given both margins, the law of a
    table of them is known whatever the shares are (Fisher), so nothing has to be searched."""
    variance = counts.variance
    observed = float(_independence(table[None], variance)[0])

    def simulate(
        point: tuple[Floats, Floats, int], rng: np.random.Generator, many: int
    ) -> Floats:
        rows, columns, total = point
        cells = np.outer(rows, columns).ravel()
        samples = draw_counts(counts, cells, total, rng, many)
        return _independence(samples.reshape(many, *table.shape), variance)

    def shuffle(_: object, rng: np.random.Generator, many: int) -> Floats:
        from scipy.stats import random_table

        margins = table.sum(1).astype(np.int64), table.sum(0).astype(np.int64)
        samples = random_table(*margins).rvs(many, random_state=rng)
        return _independence(samples.astype(np.float64), variance)

    if not counts.weights and table.any():
        return observed, worst_p(observed, shuffle, [None], level=level)
    points = _margin_points(table, counts)
    return observed, worst_p(observed, simulate, points, level=level)


def fit_p(
    counts: GroupAmounts, shares: Floats, *, level: float | None = None
) -> tuple[float, float]:
    """The statistic of fit, and the largest p-value over the unknown number of rows."""
    variance = counts.variance

    def statistic(cells: Floats) -> Floats:
        total = np.maximum(cells.sum(1, keepdims=True), 1.0)
        expected = total * shares
        return np.asarray(((cells - expected) ** 2 / (expected + variance)).sum(1))

    def simulate(total: int, rng: np.random.Generator, many: int) -> Floats:
        return statistic(draw_counts(counts, shares, total, rng, many))

    observed = float(statistic(counts.values[None])[0])
    fewest, middle, most = total_limits(counts, SET_CHANCE)
    points = dict.fromkeys((middle, fewest, most))
    return observed, worst_p(observed, simulate, points, level=level)


def draw_counts(
    counts: GroupAmounts,
    cells: Floats,
    total: int,
    rng: np.random.Generator,
    many: int,
    side: int = 0,
) -> Floats:
    """Simulated releases of a sample of `total` rows that fall into cells with these shares.
    Samples of different sides have noise of their own."""
    samples = rng.multinomial(total, cells / cells.sum(), many).astype(np.float64)
    for i, (name, weight) in enumerate(counts.weights.items(), side * len(counts.weights)):
        samples += float(weight) * draw_noise(counts.noises[name], samples.shape, i)
    return samples


def total_limits(counts: GroupAmounts, chance: Fraction) -> tuple[int, int, int]:
    """The fewest rows in all groups together, the likely number, and the most."""
    weights: dict[str, Fraction] = {}
    noises: dict[str, Noise] = {}
    for place in range(len(counts.groups)):
        weights |= {f"{place} {name}": w for name, w in counts.weights.items()}
        noises |= {f"{place} {name}": counts.noises[name] for name in counts.weights}
    half, total = fixed_margin(weights, noises, 1 - chance), float(counts.values.sum())
    fewest, middle, most = (max(1, round(total + off)) for off in (-half, 0.0, half))
    return fewest, middle, most


def _independence(tables: Floats, variance: float) -> Floats:
    rows, columns = (np.maximum(tables.sum(axis), 0.5) for axis in (2, 1))
    total = np.maximum(tables.sum((1, 2)), 1.0)
    expected = rows[:, :, None] * columns[:, None, :] / total[:, None, None]
    return np.asarray(((tables - expected) ** 2 / (expected + variance)).sum((1, 2)))


def _margin_points(table: Floats, counts: GroupAmounts) -> Iterator[tuple[Floats, Floats, int]]:
    """Margins from their intervals: in the middle, and with each share at either end."""
    likely = [np.clip(table.sum(axis) / max(table.sum(), 1.0), 1e-4, None) for axis in (1, 0)]
    yield *(share / share.sum() for share in likely), max(1, round(float(table.sum())))
    each = SET_CHANCE / (2 * sum(table.shape))
    fewest, middle, most = total_limits(counts, SET_CHANCE / 2)
    rows, columns = (share_points(table.sum(axis), table.size, counts, each) for axis in (1, 0))
    totals = (middle, fewest, most) if fewest < most else (middle,)
    yield from ((row, column, middle) for row in rows for column in columns)
    for total in totals[1:]:
        yield from ((row, column, total) for row in rows[:3] for column in columns[:3])


def share_points(
    sums: Floats, cells: int, counts: GroupAmounts, chance: Fraction
) -> list[Floats]:
    """Shares of the rows (or columns): the likely ones, then each at either end."""
    own = cells // sums.size
    zero = Fraction(0)
    parts = tuple(
        NoisePart(counts.noises[name], weight if place < own else zero, weight)
        for place in range(cells)
        for name, weight in counts.weights.items()
    )
    total = np.full(sums.size, sums.sum())
    means = GroupMeans(tuple(range(sums.size)), sums, total, parts, "share")
    low, high = population_ends(means, 1 - chance)
    likely = np.clip(means.values, 1e-4, None)
    points = [likely / likely.sum()]
    for place in range(sums.size):
        for end in (low[place], high[place]):
            share = float(np.clip(end, 1e-4, 1 - 1e-4))
            rest = np.delete(likely, place)
            point = np.insert(rest / rest.sum() * (1 - share), place, share)
            points.append(point)
    return points
