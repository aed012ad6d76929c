"""Counts and sums of the population, from a sample of a known fraction or of a known frame.

With the fraction f a total is 1/f times that of the sample. By sampling, the sample's total
varies with (1 - f) times the sum of the squares of what each unit adds, at most: so for a count
with one row a unit (1 - f) times the count, and with up to m rows a unit at most m times that.
For sums the squares must be released; FOR POPULATION asks for them. With the size of the frame,
a sum is that size times the mean of what was drawn, whose interval is known (`frame_means`).
"""

import math
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist

from deniable.errors import InvalidParameter
from deniable.infer.groups.drawn_samples import Drawn
from deniable.infer.groups.frame_means import mean_of_drawn
from deniable.infer.groups.group_means import Key
from deniable.infer.groups.mean_intervals import noise_ends, population_ends, sampling_ends
from deniable.infer.groups.readings import (
    GroupAmounts,
    rows_per_unit,
)
from deniable.infer.groups.unit_squares import linear_outputs, numbers, plain_name
from deniable.infer.inferred import Ends, Inferred
from deniable.query.margins.linear_forms import LinearForm
from deniable.query.margins.margins import noise_of_features
from deniable.query.margins.noise_quantiles import fixed_margin
from deniable.release.session.release import Release

_UNKNOWN = Fraction(1, 50)  # of 1 - confidence, for the sum of squares


def infer_total(
    release: Release, amounts: GroupAmounts, place: int, draw: Drawn, level: Fraction
) -> Inferred:
    """The population's count or sum of one group."""
    if release.plan.thresholding is not None:
        raise InvalidParameter(
            "The groups of this release were found in the data, so those with few rows in the "
            "sample may be missing, and counts of the others are too high on average. Declare "
            "the keys."
        )
    if draw.fraction is None and draw.frame is not None:
        return _frame_total(release, amounts, place, draw, level)
    if draw.fraction is None:
        raise InvalidParameter(
            f"The population's {amounts.what} needs the sampling fraction, such as "
            "fraction=0.1, or [tables.x.sample] in the policy."
        )
    share, value = draw.fraction, float(amounts.values[place])
    noise = fixed_margin(dict(amounts.weights), dict(amounts.noises), level)
    plain = amounts.count and rows_per_unit(release.plan) == 1
    if plain:
        both, sampling = (projected_ends(value, n, share, level) for n in (noise, 0.0))
    else:
        squares = _squares(release, amounts, place, (1 - level) * _UNKNOWN)
        both, sampling = (total_ends(value, n, squares, share, level) for n in (noise, 0.0))
    return Inferred(
        f"{plain_name(amounts.what)}{named(amounts.groups[place])} of the population",
        value / share,
        both,
        _ends(value, noise, share, least=0.0 if amounts.count else -math.inf),
        sampling,
        float(level),
        draw.target,
    )


def _frame_total(
    release: Release, amounts: GroupAmounts, place: int, draw: Drawn, level: Fraction
) -> Inferred:
    """The size of the frame times the mean of what each row or unit adds."""
    assert draw.frame is not None
    part = mean_of_drawn(release, amounts).at(place)
    fewest = float(part.row_limits((1 - level) * _UNKNOWN)[0][0])
    part = replace(part, sampled=draw.sampled(fewest))
    whole, noise, sampling = (
        (draw.frame * float(low[0]), draw.frame * float(high[0]))
        for low, high in (
            of(part, level) for of in (population_ends, noise_ends, sampling_ends)
        )
    )
    name = f"{plain_name(amounts.what)}{named(amounts.groups[place])} of the population"
    value = draw.frame * float(part.values[0])
    return Inferred(name, value, whole, noise, sampling, float(level), draw.target)


def _ends(value: float, half: float, share: float, least: float = -math.inf) -> Ends:
    return max(value - half, least) / share, (value + half) / share


def total_ends(
    value: float, noise: float, squares: float, share: float, level: Fraction
) -> Ends:
    """Ends of the population's total, from the sample's, the margin of its noise and an upper
    limit of the sum of squares of what each unit adds.

    >>> [round(end) for end in total_ends(100.0, 0.0, 100.0, 0.1, Fraction(19, 20))]
    [813, 1187]
    """
    z = NormalDist().inv_cdf(float(1 + level + (1 - level) * _UNKNOWN) / 2)
    return _ends(value, math.hypot(noise, z * math.sqrt((1 - share) * squares)), share)


def _squares(release: Release, amounts: GroupAmounts, place: int, chance: Fraction) -> float:
    """An upper limit of the sum of squares of what each unit adds; fails with `chance`."""
    plan = release.plan
    most = rows_per_unit(plan)
    noises = noise_of_features(plan.blocks, plan.thresholding)
    if amounts.count:  # m rows of one unit add m * m at most, and m in number
        limit = fixed_margin(dict(amounts.weights), dict(amounts.noises), 1 - 2 * chance)
        return most * max(float(amounts.values[place]) + limit, 0.0)
    outputs = linear_outputs(plan)
    inner = amounts.what.removeprefix("SUM(").removesuffix(")")
    about = f"SUM(({inner} * {inner}))"
    if about not in outputs:
        raise InvalidParameter(
            f"How much {amounts.what} varies between units was not released. Put FOR "
            f"POPULATION at the end of the question, which asks for {about} beside it."
        )
    name, shape, _ = outputs[about]
    assert isinstance(shape, LinearForm)
    margin = fixed_margin(dict(shape.weights), noises, 1 - 2 * chance)
    return most * max(float(numbers(release, name)[place]) + margin, 0.0)


def projected_ends(count: float, noise: float, share: float, level: Fraction) -> Ends:
    """All K for which |count - share K| is within hypot(noise, z sqrt(K share (1 - share))).

    The number of sampled rows of K is binomial or varies less. Half a row is added.

    >>> low, high = projected_ends(100, 0.0, 0.1, Fraction(19, 20))
    >>> round(low), round(high)
    (826, 1209)
    """
    z = NormalDist().inv_cdf(float(1 + level) / 2)
    spread = z * z * (1 - share)
    ends = []
    for sign in (-1.0, 1.0):
        at = max(count + sign * 0.5, 0.0)
        # With m = share K: (at - m)**2 = noise**2 + spread m.
        middle = at + spread / 2
        ends.append(max(middle + sign * math.sqrt(spread * (at + spread / 4) + noise**2), 0.0))
    return ends[0] / share, ends[1] / share


def named(group: Key) -> str:
    """A group's name within a sentence.

    >>> named("A"), named(("A", 1)), named(())
    (' of A', ' of A, 1', '')
    """
    if group == ():
        return ""
    return f" of {', '.join(map(str, group)) if isinstance(group, tuple) else group}"
