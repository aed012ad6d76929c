"""A release read as means of groups: a noisy sum over a noisy number of rows, in each group.

The plan says which noisy integers an answer was computed from, and the exact law of their
noise. So a mean and the number of its rows, both released, give back the noisy sum, and how its
noise goes together with that of the number. A share is the mean of zeros and ones.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.mechanisms.noise.additive import Noise
from deniable.query.margins.noise_quantiles import (
    LATTICE_STEP,
    fixed_margin,
    moments,
    spread_quantile,
)

Floats: TypeAlias = NDArray[np.float64]
Key: TypeAlias = Any  # the value of a group's key, or a tuple of several
NoiseLaw: TypeAlias = Callable[[Floats, Fraction], Floats]


@dataclass(frozen=True, slots=True)
class NoisePart:
    """One noisy integer, and how often it counts in the sum and in the number of rows."""

    noise: Noise
    above: Fraction
    below: Fraction


@dataclass(frozen=True, slots=True)
class Variances:
    """The released variance of one row's value in each group, with its margins.

    The tails of the noise are log-concave, so an interval at 1 - a, made t times as wide, fails
    with a chance of at most a**t.
    """

    values: Floats
    margins: Floats
    confidence: Fraction  # of the margins
    rooted: bool = False  # whether they are standard deviations
    # Margins of the variances before they were cut at 0. Of one that was, the shown margin says
    # only how far it reaches above 0, and times of that are too little.
    uncut: Floats | None = None

    def most(self, chance: Fraction) -> Floats:
        """Upper limits, which fail with at most this chance.

        >>> Variances(np.array([4.0]), np.array([1.0]), Fraction(9, 10)).most(Fraction(1, 100))
        array([6.])
        """
        times = max(math.log(chance) / math.log(1 - self.confidence), 1.0)
        limits = self.values + times * self.margins
        limits = limits**2 if self.rooted else limits
        if self.uncut is None:
            return limits
        return np.where(self.values > 0, limits, np.maximum(limits, times * self.uncut))

    def at(self, place: int) -> "Variances":
        """Those of one group."""
        return replace(
            self,
            values=self.values[place : place + 1],
            margins=self.margins[place : place + 1],
            uncut=None if self.uncut is None else self.uncut[place : place + 1],
        )


@dataclass(frozen=True, slots=True)
class UnitMoments:
    """Noisy sums over the units of Y * Y, Y * N and N * N, in each group: Y is the sum of a
    unit's values and N the number of its rows, or the sum of its weights.

    Units are independent draws, so the sum of (Y - r N)**2 estimates how much Y - r N varies
    over samples, whatever the rows of one unit have in common.
    """

    sums: tuple[Floats, Floats, Floats]
    noises: tuple[tuple[tuple[Noise, float], ...], ...]  # of each sum, with weights

    def most(self, r: Floats, chance: Fraction) -> Floats:
        """Upper limits of the sum of (Y - r N)**2, which fail with at most this chance.

        >>> from deniable.mechanisms import Laplace
        >>> noise = ((Laplace(epsilon=1).noise(), 1.0),)
        >>> squares = UnitMoments(
        ...     (np.array([90.0]), np.array([50.0]), np.array([40.0])), (noise,) * 3
        ... )
        >>> squares.most(np.array([1.0]), Fraction(1, 1000)).round()
        array([45.])
        """
        factors = np.ones_like(r), -2 * r, r * r
        total = sum(factor * number for factor, number in zip(factors, self.sums, strict=True))
        parts = [
            (noise, factor * weight)
            for factor, noises in zip(factors, self.noises, strict=True)
            for noise, weight in noises
        ]
        spreads = np.array([moments(noise) for noise, _ in parts])
        margin = sum_quantile(spreads, np.array([w for _, w in parts]), 1 - 2 * chance)
        return np.asarray(np.maximum(total, 0.0) + margin)

    def at(self, place: int) -> "UnitMoments":
        """Those of one group."""
        first, second, third = (number[place : place + 1] for number in self.sums)
        return replace(self, sums=(first, second, third))


@dataclass(frozen=True, slots=True)
class GroupMeans:
    """The mean of a bounded value in each group, as it was released.

    >>> from deniable.mechanisms import Laplace
    >>> noise = Laplace(epsilon=1).noise()
    >>> parts = (NoisePart(noise, Fraction(1), Fraction(1)), NoisePart(noise, 0, Fraction(1)))
    >>> wards = GroupMeans(("A",), np.array([40.0]), np.array([100.0]), parts, "share of sick")
    >>> wards.values.tolist(), [end.tolist() for end in wards.row_limits(Fraction(1, 1000))]
    ([0.4], [[92.0], [108.0]])
    """

    groups: tuple[Key, ...]
    above: Floats  # noisy sums
    below: Floats  # noisy numbers of rows
    parts: tuple[NoisePart, ...]
    what: str
    low: float = 0.0  # public limits of one row's value
    high: float = 1.0
    variance: Variances | None = None  # of one row's value
    sampled: float = 0.0  # the share of the population that was sampled
    cluster: float = 1.0  # the most that one unit adds to the number of rows of a group
    moments: UnitMoments | None = None
    shared: bool = False  # whether one unit may have rows in several groups
    weighed: bool = False  # whether `below` is a sum of weights, and no number of rows
    sparse: bool = False  # whether few of all that were drawn may make up the sum

    @property
    def values(self) -> Floats:
        """The noisy means, cut to the public limits; the middle if nothing is known."""
        with np.errstate(all="ignore"):
            ratio = self.above / self.below
        middle = (self.low + self.high) / 2 if math.isfinite(self.high - self.low) else 0.0
        return np.where(self.below > 0, np.clip(ratio, self.low, self.high), middle)

    def row_limits(self, chance: Fraction) -> tuple[Floats, Floats]:
        """The fewest and most rows of each group; either fails with at most this chance."""
        if not self.parts:  # no noise
            rows = np.maximum(self.below, 1.0)
            return rows, rows
        weights = {str(i): part.below for i, part in enumerate(self.parts) if part.below}
        noises = {str(i): part.noise for i, part in enumerate(self.parts)}
        margin = fixed_margin(weights, noises, 1 - 2 * chance)
        fewest, most = np.floor(self.below - margin), np.ceil(self.below + margin)
        return np.maximum(fewest, 1.0), np.maximum(most, 1.0)

    def at(self, place: int) -> "GroupMeans":
        """One group by itself."""
        return replace(
            self,
            groups=(self.groups[place],),
            above=self.above[place : place + 1],
            below=self.below[place : place + 1],
            variance=None if self.variance is None else self.variance.at(place),
            moments=None if self.moments is None else self.moments.at(place),
        )

    def noise_law(self) -> NoiseLaw:
        """By r and a confidence, how far the noise may move (noisy sum) - r * (number of rows).

        What does not depend on r is computed once: an interval's end is found by trying many.
        """
        weights = np.array([[float(p.above), float(p.below)] for p in self.parts])
        above, below = weights.reshape(-1, 2, 1).transpose(1, 0, 2)
        spreads = np.array([moments(p.noise) for p in self.parts])

        def quantile(r: Floats, confidence: Fraction) -> Floats:
            return sum_quantile(spreads, above - r * below, confidence)

        return quantile


def sum_quantile(spreads: Floats, weights: Floats, confidence: Fraction) -> Floats:
    """How far a sum of weights * noises may be from 0, in each group.

    `spreads` has a row of `moments` for each noise, `weights` a row of weights.

    >>> from deniable.mechanisms import Laplace
    >>> spreads = np.array([moments(Laplace(epsilon=0.1).noise())])
    >>> sum_quantile(spreads, np.array([[1.0, 2.0]]), Fraction(19, 20)).round()
    array([31., 61.])
    """
    size = np.abs(weights)
    own, cumulants = spreads.reshape(-1, 2).T
    variance, fourth = own @ size**2, cumulants @ size**4
    step = size.max(0, initial=0.0)
    return np.asarray(spread_quantile(variance, fourth, confidence) + LATTICE_STEP * step)


def find_group(groups: tuple[Key, ...], group: Key) -> int:
    """The place of a group by its key.

    >>> find_group(("A", "B"), "B")
    1
    """
    if isinstance(group, list):
        group = tuple(group)
    for place, candidate in enumerate(groups):
        if type(candidate) is type(group) and candidate == group:
            return place
    known = ", ".join(repr(key) for key in groups[:8])
    raise InvalidParameter(
        f"The release has no group {group!r}. Its groups are {known}"
        f"{', ...' if len(groups) > 8 else ''}. Write a tuple if there are several keys."
    )


def find_pair(groups: tuple[Key, ...], first: Key, second: Key) -> tuple[int, int]:
    """The places of two different groups.

    >>> find_pair(("A", "B"), "B", "A")
    (1, 0)
    """
    places = find_group(groups, first), find_group(groups, second)
    if places[0] == places[1]:
        raise InvalidParameter(
            f"Two different groups are needed. Both are {first!r}, which has one noise."
        )
    return places
