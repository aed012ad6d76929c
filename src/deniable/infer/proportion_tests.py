"""Tests of one share, and of two.

One share, with a known number of rows: the count is binomial, plus discrete Laplace noise. A
uniform number between -1/2 and 1/2 on top of it makes the noise "Tulap", and the test by the
exact law of their sum is then the most powerful of all private tests, at every level (Awan and
Slavkovic 2018). Without the uniform number (`randomized=False`) it is the same test with its
level rounded down, and needs no further chance. An unknown number of rows, and the unknown
common share of two groups, are worst cases (`worst_case`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, rational, whole
from deniable.exact.samplers import uniform_below
from deniable.infer.drawn_means import target_of
from deniable.infer.groups.group_means import GroupMeans, Key, find_group, find_pair
from deniable.infer.groups.local_shares import LocalShares, need_answer, one_group, read_local
from deniable.infer.groups.mean_intervals import population_ends
from deniable.infer.groups.readings import GroupAmounts, read, refuse_several_rows
from deniable.infer.significance import Significance
from deniable.infer.worst_case import SET_CHANCE, draw_noise, worst_p
from deniable.mechanisms.noise.additive import Noise
from deniable.query.margins.lattice_quantiles import cumulative
from deniable.query.margins.noise_quantiles import moments
from deniable.release.session.release import Release

Floats: TypeAlias = NDArray[np.float64]

_ALTERNATIVES = ("two-sided", "greater", "less")
_GRAIN = 1 << 40  # the uniform number is a multiple of one over this
_SHARES = 7  # common shares that are tried, from one end of their interval to the other


def proportion_test(
    release: Release | Mapping[Key, Any],
    share: Number,
    *,
    rows: int | str | None = None,
    value: str | int | None = None,
    group: Key | None = None,
    alternative: str = "two-sided",
    randomized: bool = False,
) -> Significance:
    """Tests whether the population's share is `share`, by a count of the rows that have it.

    `rows` is the known number of rows, or the released column that counts them. With a known
    number and `randomized`, no private test is more powerful; two calls then differ a little.
    Of a survey, each group knows how many it asked.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> visits = dp.protect(
    ...     pa.table({"sick": [1, 0, 0, 0] * 100}), bounds={"sick": (0, 1)}, epsilon=1
    ... )
    >>> count = visits.sql("SELECT COUNT(*) AS k FROM data WHERE sick = 1", epsilon=1)
    >>> dp.infer.proportion_test(count, 0.5, rows=400).rejects()
    True
    """
    expected = rational(share, "share")
    if not 0 < expected < 1:
        raise InvalidParameter(f"`share` must be above 0 and below 1. Found {share}.")
    _check_alternative(alternative)
    hypothesis = f"the share of {_named(group, value)} is {float(expected):g}"
    if isinstance(release, Mapping):
        answers = one_group(need_answer(read_local(release, value)), group)
        return Significance(hypothesis, *reports_p(answers, expected, alternative))
    if isinstance(rows, str):
        means = _shares(release, read(release, value, rows))
        estimate = means.at(_place(means, group))
        statistic, p = released_rows_p(estimate, expected, alternative)
        return Significance(hypothesis, statistic, p, target_of(release, estimate.groups[0]))
    result = _counted_p(release, float(expected), rows, value, group, alternative, randomized)
    return Significance(hypothesis, *result)


def proportions_test(
    release: Release | Mapping[Key, Any],
    first: Key,
    second: Key,
    *,
    value: str | int | None = None,
    rows: str | None = None,
) -> Significance:
    """Tests whether two groups have the same share in the population.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> rows = pa.table({"ward": ["A", "B"] * 400, "sick": [1, 0, 1, 1] * 200})
    >>> visits = dp.protect(rows, bounds={"sick": (0, 1)}, keys={"ward": ["A", "B"]}, epsilon=1)
    >>> question = "SELECT ward, COUNT(sick) AS n, AVG(sick) AS share FROM data GROUP BY ward"
    >>> dp.infer.proportions_test(visits.sql(question, epsilon=1), "A", "B").rejects()
    True
    """
    means = _shares(release, read(release, value, rows))
    pair = [means.at(place) for place in find_pair(means.groups, first, second)]
    statistic, p = two_shares_p(pair[0], pair[1])
    name = f"{means.what} is the same in {first} and {second}"
    return Significance(name, statistic, p, target_of(release, first))


def binomial_p(
    count: float,
    rows: int,
    share: float,
    noises: Sequence[Noise],
    alternative: str = "two-sided",
    *,
    spread: bool = False,
) -> float:
    """P(binomial + noise is as far as `count`), exactly; with `spread` a uniform number between
    -1/2 and 1/2 is part of the noise.

    >>> from deniable.mechanisms import Laplace
    >>> round(binomial_p(60, 100, 0.5, [Laplace(epsilon=100).noise()], "greater"), 4)
    0.0284
    """
    from scipy.stats import binom

    reach = int(10 * np.sqrt(rows * share * (1 - share))) + 40
    middle = round(rows * share)
    x = np.arange(max(0, middle - reach), min(rows, middle + reach) + 1, dtype=np.float64)
    above = _tails(noises, spread=spread)
    chances = binom.pmf(x, rows, share)
    greater = float(chances @ above(count - x))
    step = 0.0 if spread else 1.0
    less = 1.0 - float(chances @ above(count + step - x))
    if alternative == "two-sided":
        return float(min(1.0, 2 * min(greater, less)))
    return float(np.clip(greater if alternative == "greater" else less, 0.0, 1.0))


def _counted_p(
    release: Release,
    share: float,
    rows: int | None,
    value: str | int | None,
    group: Key | None,
    alternative: str,
    randomized: bool,
) -> tuple[float, float, str]:
    """A released count of one group, of a known number of rows; its exact p-value, and what it
    is about."""
    amounts = read(release, value, None)
    if not isinstance(amounts, GroupAmounts) or not amounts.count or rows is None:
        raise InvalidParameter(
            "`rows` is needed. With a known number of rows, `value` must be a count."
        )
    rows = whole(rows, "rows", least=1)
    refuse_several_rows(release.plan)
    shift = 0.0
    if randomized:
        shift = (int(uniform_below(_GRAIN, 1)[0]) + 0.5) / _GRAIN - 0.5
    place = _place(amounts, group)
    count = float(amounts.values[place])
    noises = _plain_noises(amounts)
    p = binomial_p(count + shift, rows, share, noises, alternative, spread=randomized)
    return count, p, target_of(release, amounts.groups[place])


def reports_p(
    local_shares: LocalShares, share: Fraction, alternative: str
) -> tuple[float, float]:
    """The reports of an answer in one group of a survey, and the exact p-value of its share."""
    report_shares, design = local_shares.report_shares(), local_shares.tallies[0].design
    rate = float(design.q + (design.p - design.q) * share)
    if design.p < design.q:  # then more reports speak for a smaller share
        alternative = {"greater": "less", "less": "greater"}.get(alternative, alternative)
    count, rows = float(report_shares.above[0]), int(report_shares.below[0])
    return count, binomial_p(count, rows, rate, [], alternative)


def two_shares_p(
    first: GroupMeans, second: GroupMeans, *, level: float | None = None
) -> tuple[float, float]:
    """The statistic of two groups' shares and its p-value, the worst over what is unknown."""
    pair = (first, second)
    above, below = (
        np.array([getattr(g, name)[0] for g in pair]) for name in ("above", "below")
    )
    observed = float(_distance(above[:, None], below[:, None], first)[0])

    def simulate(point: tuple[float, Floats], rng: np.random.Generator, many: int) -> Floats:
        share, rows = point
        over = rng.binomial(rows[:, None].astype(np.int64), share, (2, many)).astype(np.float64)
        under = np.repeat(rows[:, None], many, axis=1)
        for i, part in enumerate(first.parts):
            z = draw_noise(part.noise, (2, many), i)
            over, under = over + float(part.above) * z, under + float(part.below) * z
        return _distance(over, under, first)

    return observed, worst_p(observed, simulate, _unknowns(first, second), level=level)


def _unknowns(first: GroupMeans, second: GroupMeans) -> Iterator[tuple[float, Floats]]:
    """Common shares and numbers of rows, from a set that holds the right ones."""
    both = replace(
        first,
        above=first.above + second.above,
        below=first.below + second.below,
        parts=first.parts + second.parts,
    )
    middle = np.maximum(np.rint(np.array([first.below[0], second.below[0]])), 1.0)
    yield float(both.values[0]), middle  # the likeliest
    (low,), (high,) = population_ends(both, 1 - SET_CHANCE / 2)
    limits = [group.row_limits(SET_CHANCE / 8) for group in (first, second)]
    fewest, most = (np.array([pair[i][0] for pair in limits]) for i in (0, 1))
    mixed = [np.array([fewest[0], most[1]]), np.array([most[0], fewest[1]])]
    shares = np.linspace(low, high, _SHARES)
    for share in shares:
        yield from ((float(share), rows) for rows in (middle, fewest, most, *mixed))


def _distance(above: Floats, below: Floats, group: GroupMeans) -> Floats:
    """How many standard errors two shares are apart, with the noise in the error."""
    rows = np.maximum(below, 1.0)
    pooled = np.clip(above.sum(0) / rows.sum(0), 0.0, 1.0)
    pooled = np.clip(pooled, 1 / (rows.sum(0) + 2), 1 - 1 / (rows.sum(0) + 2))
    noise = np.zeros_like(pooled)
    for part in group.parts:
        noise += (float(part.above) - pooled * float(part.below)) ** 2 * moments(part.noise)[0]
    error = (pooled * (1 - pooled) / rows + noise / rows**2).sum(0)
    ratio = np.clip(above / rows, 0.0, 1.0)
    return np.asarray(np.abs(ratio[0] - ratio[1]) / np.sqrt(error))


def released_rows_p(
    group: GroupMeans, share: Fraction, alternative: str, *, level: float | None = None
) -> tuple[float, float]:
    """The statistic T = count - share * rows of one group, whose law depends on the number of
    rows alone, and its p-value."""
    sign = {"greater": 1.0, "less": -1.0}.get(alternative)
    p = float(share)
    observed = float(group.above[0] - p * group.below[0])

    def simulate(rows: float, rng: np.random.Generator, many: int) -> Floats:
        deviations = rng.binomial(int(rows), p, many) - p * rows
        for i, part in enumerate(group.parts):
            z = draw_noise(part.noise, (many,), i)
            deviations = deviations + (float(part.above) - p * float(part.below)) * z
        return np.asarray(np.abs(deviations) if sign is None else sign * deviations, np.float64)

    fewest, most = group.row_limits(SET_CHANCE / 2)
    points = np.unique(np.rint(np.linspace(fewest[0], most[0], _SHARES)))
    far = abs(observed) if sign is None else sign * observed
    return observed, worst_p(far, simulate, list(points), level=level)


def _tails(noises: Sequence[Noise], *, spread: bool) -> Callable[[Floats], Floats]:
    """P(sum of the noises, and a uniform number if `spread`, >= z) as a function of z."""
    if len(noises) == 1:
        noise = noises[0]

        def beyond(z: Floats) -> Floats:
            return cumulative(noise, -z)  # symmetric: P(Z >= z) = P(Z <= -z)
    else:
        weights, reach = _sum_law(noises)
        sums = np.append(np.cumsum(weights[::-1])[::-1], 0.0)

        def beyond(z: Floats) -> Floats:
            return sums[np.clip(z + reach, 0, sums.size - 1).astype(np.intp)]

    if not spread:
        return lambda z: beyond(np.ceil(z))

    def smooth(z: Floats) -> Floats:
        whole = np.rint(z)
        rest = 0.5 - (z - whole)
        return beyond(whole + 1) * (1 - rest) + beyond(whole) * rest

    return smooth


def _sum_law(noises: Sequence[Noise]) -> tuple[Floats, int]:
    """Probabilities of a sum of noises at -reach, ..., reach."""
    law, reach = np.ones(1), 0
    for noise in noises:
        half = int(16 * np.sqrt(moments(noise)[0])) + 8
        edges = cumulative(noise, np.arange(-half - 1, half + 1, dtype=np.float64))
        law, reach = np.convolve(law, np.diff(edges)), reach + half
    return law, reach


def _plain_noises(amounts: GroupAmounts) -> list[Noise]:
    if any(abs(weight) != 1 for weight in amounts.weights.values()):
        raise InvalidParameter(
            "This count was measured together with sums, so its noise is not a whole number. "
            "Ask for the count in a question of its own, or name a column in `rows`."
        )
    return [amounts.noises[name] for name in amounts.weights]


def _check_alternative(alternative: str) -> None:
    if alternative not in _ALTERNATIVES:
        known = ", ".join(f'"{name}"' for name in _ALTERNATIVES)
        raise InvalidParameter(f"`alternative` is one of {known}. Found {alternative!r}.")


def _shares(
    release: Release | Mapping[Key, Any], reading: GroupMeans | GroupAmounts | LocalShares
) -> GroupMeans:
    if isinstance(reading, LocalShares):
        return reading.report_shares()
    if isinstance(release, Release):
        refuse_several_rows(release.plan)
    if isinstance(reading, GroupAmounts) or (reading.low, reading.high) != (0.0, 1.0):
        raise InvalidParameter(
            "This test needs shares between 0 and 1. Name a count and the count that it is a "
            'part of, such as value="sick", rows="n", or ask for AVG of zeros and ones.'
        )
    return reading


def _place(reading: GroupMeans | GroupAmounts, group: Key | None) -> int:
    if group is not None:
        return find_group(reading.groups, group)
    if len(reading.groups) != 1:
        raise InvalidParameter(f"Name one of the {len(reading.groups)} groups with `group`.")
    return 0


def _named(group: Key | None, value: str | int | None) -> str:
    value = f"answer {value}" if isinstance(value, int) else value
    return f"{value or 'the outcome'}{'' if group is None else f' in {group}'}"
