"""Differences, ratios and trends of the groups' quantiles.

The interval of a quantile holds at one level, and its ends are released values: nothing says
that half of the error lies half as far away. Where values leave a gap, the quantile and its
estimate are often at opposite ends of it. Then squares of distances, as are added for means,
are too short: of two such groups they miss in up to a quarter of all samples. So each of k
groups gets a k-th of the error, and the ends are added as they are. That holds for any column,
and for people in several groups. It is up to 1.6 times as wide.

The noise of a quantile takes a part of the error that was fixed when the question was asked.
The rest of a group's part is for sampling.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from deniable.errors import InvalidParameter
from deniable.infer.groups.drawn_samples import draw_of
from deniable.infer.groups.group_means import Key, find_group
from deniable.infer.groups.readings import groups_of, mean_columns, refuse_chosen_groups
from deniable.infer.inferred import THESE_ROWS, Ends, Inferred
from deniable.infer.quantile_ends import (
    asked_columns,
    infer_quantile,
    noise_of_quantile,
    quantile_levels,
)
from deniable.infer.significance import least_level
from deniable.release.session.release import Release

# A number of several groups: its lowest or highest value, from an interval of each group.
Corner: TypeAlias = Callable[[Sequence[Ends]], float]


@dataclass(frozen=True, slots=True)
class GroupQuantiles:
    """A quantile of each group of a release."""

    release: Release
    column: str
    groups: tuple[Key, ...]
    what: str  # such as "MEDIAN(x)"
    low: float  # the column's lower bound

    @property
    def noise_error(self) -> Fraction:
        """The part of a group's error that its noise takes."""
        return 1 - self.release.plan.confidence

    def infer(self, place: int, level: Fraction, *, sampling: bool) -> Inferred:
        """The quantile of one group."""
        group = self.groups[place]
        if sampling:
            draw = draw_of(self.release, group, None)
            return infer_quantile(self.release, self.column, place, group, draw, level)
        value, ends = noise_of_quantile(self.release, self.column, place)
        return Inferred(self.what, value, ends, ends, None, float(level), THESE_ROWS)


@dataclass(frozen=True, slots=True)
class Combination:
    """A number of several groups, as the corners of what it may be."""

    keys: tuple[Key, ...]
    name: str
    least: Corner
    most: Corner
    null: float = 0.0


def read_quantiles(
    release: Release | Mapping[Key, Any], value: str | int | None, rows: str | None
) -> GroupQuantiles | None:
    """The column `value`, if it is a quantile of each group.

    Without `value` the only quantile is meant, if there is no mean.
    """
    if not isinstance(release, Release) or rows is not None:
        return None
    levels = quantile_levels(release.plan)
    if value is None and levels and not mean_columns(release):
        columns = asked_columns(list(levels))
        value = columns[0] if len(columns) == 1 else None
    if not isinstance(value, str) or value not in levels:
        return None
    refuse_chosen_groups(release.plan)
    output = levels[value][1]
    return GroupQuantiles(
        release, value, groups_of(release), output.about, float(output.low or 0)
    )


def weighted_sum(weights: Mapping[Key, float], name: str) -> Combination:
    """The sum of weights * groups' quantiles.

    >>> less = weighted_sum({"A": 1, "B": -1}, "A less B")
    >>> less.least([(3, 5), (1, 2)]), less.most([(3, 5), (1, 2)])
    (1.0, 4.0)
    """
    factors = [float(weight) for weight in weights.values()]

    def corner(pairs: Sequence[Ends], side: int) -> float:
        terms = (
            factor * pair[side if factor > 0 else 1 - side]
            for factor, pair in zip(factors, pairs, strict=True)
        )
        return math.fsum(terms)

    return Combination(
        tuple(weights), name, lambda pairs: corner(pairs, 0), lambda pairs: corner(pairs, 1)
    )


def quotient(first: Key, second: Key, name: str) -> Combination:
    """The first group's quantile over the second's; neither may be negative.

    >>> over = quotient("A", "B", "A over B")
    >>> over.least([(3, 5), (0, 2)]), over.most([(3, 5), (0, 2)])
    (1.5, inf)
    """

    def least(pairs: Sequence[Ends]) -> float:
        above, below = pairs[0][0], pairs[1][1]
        return above / below if below else (math.inf if above else 0.0)

    def most(pairs: Sequence[Ends]) -> float:
        above, below = pairs[0][1], pairs[1][0]
        return above / below if below else math.inf

    return Combination((first, second), name, least, most, null=1.0)


def compare_quantiles(
    by_group: GroupQuantiles,
    what: Combination,
    *,
    sampling: bool,
    level: Fraction,
    groups: int | None = None,
) -> Inferred:
    """The number and its intervals. `groups` share the error: by default its own, or those of
    all numbers that hold together."""
    places = [find_group(by_group.groups, key) for key in what.keys]
    parts = len(places) if groups is None else groups

    def infer(at: Fraction) -> list[Inferred]:
        each = 1 - (1 - at) / parts
        return [by_group.infer(place, each, sampling=sampling) for place in places]

    def both(pairs: Sequence[Ends]) -> Ends:
        return what.least(pairs), what.most(pairs)

    def excludes(p: Fraction) -> bool:
        if not _has_room(by_group, p / parts, sampling=sampling):
            return False
        low, high = both([quantile.interval for quantile in infer(1 - p)])
        return not low <= what.null <= high

    if not _has_room(by_group, (1 - level) / parts, sampling=sampling):
        raise _no_room(by_group, parts, level, sampling=sampling)
    inferred = infer(level)
    value, other = both([(quantile.value, quantile.value) for quantile in inferred])
    return Inferred(
        what.name,
        value if value == other else math.nan,  # 0 over 0
        both([quantile.interval for quantile in inferred]),
        both([quantile.noise for quantile in inferred]),
        both([quantile.sampling or quantile.noise for quantile in inferred])
        if sampling
        else None,
        float(1 - len(places) * (1 - level) / parts),
        inferred[0].target,
        p_value=least_level(excludes),
        notes=tuple(dict.fromkeys(note for quantile in inferred for note in quantile.notes)),
        null=what.null,
    )


def confidence_to_ask(groups: int, level: Fraction, *, sampling: bool) -> Fraction:
    """The confidence to ask a question with, so that numbers of this many groups have room.

    With `sampling` it is asked FOR POPULATION, which gives a quarter of the error to the noise
    of each group.

    >>> float(confidence_to_ask(4, Fraction(19, 20), sampling=True))
    0.975
    """
    return 1 - (2 if sampling else 1) * (1 - level) / groups


def _has_room(groups: GroupQuantiles, error: Fraction, *, sampling: bool) -> bool:
    """Whether the error of one group is enough for its noise, and for sampling besides."""
    return error > groups.noise_error if sampling else error >= groups.noise_error


def _no_room(
    groups: GroupQuantiles, parts: int, level: Fraction, *, sampling: bool
) -> InvalidParameter:
    noise, error = groups.noise_error, 1 - level
    enough = confidence_to_ask(parts, level, sampling=sampling)
    request = f"{'FOR POPULATION with ' if sampling else ''}confidence={_short(enough)}"
    left = 1 - parts * noise * (2 if sampling else 1)
    here = f", or take confidence={_short(left)} here" if left > 0 else ""
    share = f"{_short(noise)}, so nothing is left for sampling" if sampling else _short(noise)
    return InvalidParameter(
        f"{groups.column}: {parts} groups share an error of {_short(error)}, and the noise of "
        f"each takes {share}. Ask {request}{here}."
    )


def _short(number: Fraction) -> str:
    return f"{float(number):.4g}"
