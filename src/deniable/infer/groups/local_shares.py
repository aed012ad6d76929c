"""Shares of groups whose answers were randomized by the respondents themselves.

The noise is local: each report is random by itself, so the interval of a group's share already
holds the error of the noise and of sampling (`mechanisms/local`). Apart, sampling is the error
that the same number of direct answers would have, and the noise is the rest.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.infer.groups.group_means import Key
from deniable.mechanisms import RandomizedResponse
from deniable.mechanisms.local.estimate import Estimate

Floats: TypeAlias = NDArray[np.float64]
Ends: TypeAlias = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True)
class LocalShares:
    """The design and the (no, yes) counts of randomized answers, for each group.

    >>> coins = RandomizedResponse(odds=3)
    >>> asked = LocalShares(("A",), (coins,), ((600, 400),))
    >>> [end.round(2).tolist() for end in asked.population_ends(Fraction(19, 20))]
    [[0.24], [0.36]]
    """

    groups: tuple[Key, ...]
    designs: tuple[RandomizedResponse[Any], ...]
    counts: tuple[tuple[int, int], ...]
    what: str = "share"
    low: float = 0.0
    high: float = 1.0
    shared: bool = False

    @property
    def values(self) -> Floats:
        """The estimated shares, between 0 and 1."""
        return np.array([found.value for found in self._estimates(Fraction(19, 20))])

    def at(self, place: int) -> "LocalShares":
        """One group by itself."""
        one = slice(place, place + 1)
        groups, designs, counts = self.groups[one], self.designs[one], self.counts[one]
        return replace(self, groups=groups, designs=designs, counts=counts)

    def population_ends(self, confidence: Fraction) -> Ends:
        """Ends that cover the population's share."""
        pairs = [found.interval for found in self._estimates(confidence)]
        low, high = np.array(pairs).T
        # A share that the design cannot give has no interval: then nothing is known.
        return np.where(np.isnan(low), 0.0, low), np.where(np.isnan(high), 1.0, high)

    def sampling_ends(self, confidence: Fraction) -> Ends:
        """Ends for the error that direct answers would have."""
        z = NormalDist().inv_cdf(float(1 + confidence) / 2)
        rows = np.array([float(sum(counts)) for counts in self.counts])
        half = z * np.sqrt(np.maximum(self.values * (1 - self.values), 0.0) / rows)
        return np.maximum(self.values - half, 0.0), np.minimum(self.values + half, 1.0)

    def noise_ends(self, confidence: Fraction) -> Ends:
        """Ends for what the randomization adds: what the share of these people may be."""
        z = NormalDist().inv_cdf(float(1 + confidence) / 2)
        halves = []
        for found, counts in zip(self._estimates(confidence), self.counts, strict=True):
            direct = found.value * (1 - found.value) / sum(counts)
            halves.append(z * math.sqrt(max(found.standard_error**2 - direct, 0.0)))
        half = np.array(halves)
        return np.maximum(self.values - half, 0.0), np.minimum(self.values + half, 1.0)

    def _estimates(self, confidence: Fraction) -> list[Estimate]:
        pairs = zip(self.designs, self.counts, strict=True)
        return [
            design.estimate(counts=counts, confidence=confidence) for design, counts in pairs
        ]


def read_local(groups: Mapping[Key, Any]) -> LocalShares:
    """Groups as (design, (no, yes)), such as {"A": (coins, (600, 400))}."""
    designs, counts = [], []
    for key, pair in groups.items():
        fits = isinstance(pair, tuple) and len(pair) == 2 and len(tuple(pair[1])) == 2
        if not fits or not isinstance(pair[0], RandomizedResponse):
            raise InvalidParameter(
                "Groups of a survey are given as their design and the numbers of no and yes, "
                f'such as {{"A": (coins, (600, 400))}}. Found {key!r} with another value.'
            )
        designs.append(pair[0])
        no, yes = (int(count) for count in pair[1])
        counts.append((no, yes))
    if not designs:
        raise InvalidParameter("There is no group to compare.")
    return LocalShares(tuple(groups), tuple(designs), tuple(counts))
