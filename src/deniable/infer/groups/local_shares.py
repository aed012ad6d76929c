"""Groups of a survey, whose answers were randomized by the respondents themselves.

The noise is local: each report is random by itself, so the interval of a group's share or mean
already holds the error of the noise and of sampling (`mechanisms/local`). Apart, sampling is
the error that the same number of direct answers would have, and the noise is the rest.

Tests read the reports. If the answers of two groups have the same distribution, and both were
asked through the same design, so have their reports, and these have no further noise.
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
from deniable.exact.rationals import whole
from deniable.infer.groups.group_means import GroupMeans, Key, find_group
from deniable.mechanisms import Ordinal, RandomizedResponse, Tally
from deniable.mechanisms.local.estimate import Estimate
from deniable.mechanisms.local.frequency_oracle import FrequencyOracle

Floats: TypeAlias = NDArray[np.float64]
Ends: TypeAlias = tuple[Floats, Floats]
Design: TypeAlias = RandomizedResponse[Any] | Ordinal | FrequencyOracle

_DESIGNS = (RandomizedResponse, Ordinal, FrequencyOracle)
_FORM = (
    "Groups of a survey are given as their design and how often each answer was reported, such "
    'as {"A": (coins, (600, 400))}, or as tallies, such as {"A": coins.aggregate(reports)}.'
)


@dataclass(frozen=True, slots=True)
class LocalShares:
    """Counted reports of each group: its share of one answer, or its mean on a scale.

    >>> coins = RandomizedResponse(odds=3)
    >>> shares = LocalShares(("A",), (Tally(coins, (600, 400), 1000),))
    >>> [end.round(2).tolist() for end in shares.population_ends(Fraction(19, 20))]
    [[0.24], [0.36]]
    """

    groups: tuple[Key, ...]
    tallies: tuple[Tally, ...]
    answer: int | None = None  # None: "yes", or the mean of a scale
    what: str = "share"
    high: float = 1.0
    low: float = 0.0
    shared: bool = False

    @property
    def values(self) -> Floats:
        """The estimates, between the limits."""
        return np.array([estimate.value for estimate in self._estimates(Fraction(19, 20))])

    def at(self, place: int) -> "LocalShares":
        """One group by itself."""
        return replace(self, groups=(self.groups[place],), tallies=(self.tallies[place],))

    def population_ends(self, confidence: Fraction) -> Ends:
        """Ends that cover the population's share or mean."""
        pairs = [estimate.interval for estimate in self._estimates(confidence)]
        low, high = np.array(pairs).T
        # A share that the design cannot give has no interval: then nothing is known.
        return np.where(np.isnan(low), self.low, low), np.where(np.isnan(high), self.high, high)

    def sampling_ends(self, confidence: Fraction) -> Ends:
        """Ends for the error that direct answers would have."""
        z = NormalDist().inv_cdf(float(1 + confidence) / 2)
        return self._around(z * np.sqrt([self._direct(tally) for tally in self.tallies]))

    def noise_ends(self, confidence: Fraction) -> Ends:
        """Ends for what the randomization adds: what may be true of these people."""
        z = NormalDist().inv_cdf(float(1 + confidence) / 2)
        halves = [
            z * math.sqrt(max(estimate.standard_error**2 - self._direct(tally), 0.0))
            for estimate, tally in zip(self._estimates(confidence), self.tallies, strict=True)
        ]
        return self._around(np.array(halves))

    def reports(self) -> Floats:
        """How often each group reported each answer, if one design asked them all."""
        designs = {tally.design for tally in self.tallies}
        if len(designs) > 1 or isinstance(next(iter(designs)), FrequencyOracle):
            raise InvalidParameter(
                "This test compares reports, so all groups must be asked through one design, "
                "RandomizedResponse or Ordinal. Otherwise use difference() or t_test()."
            )
        return np.array([tally.counts for tally in self.tallies], dtype=np.float64)

    def report_shares(self) -> GroupMeans:
        """The shares of one reported answer; they are equal if the true ones are."""
        reported = self.reports()
        if not isinstance(self.tallies[0].design, RandomizedResponse):
            raise InvalidParameter(
                "On a scale the reports of one answer also depend on the others. Use "
                "independence_test(), rank_test() or t_test()."
            )
        counts = reported[:, 1 if self.answer is None else self.answer]
        return GroupMeans(self.groups, counts, reported.sum(1), (), self.what)

    def _around(self, half: Floats) -> Ends:
        values = self.values
        return np.maximum(values - half, self.low), np.minimum(values + half, self.high)

    def _estimates(self, confidence: Fraction) -> list[Estimate]:
        return [self._estimate(tally, confidence) for tally in self.tallies]

    def _estimate(self, tally: Tally, confidence: Fraction) -> Estimate:
        design: Design = tally.design
        if isinstance(design, Ordinal) and self.answer is None:
            return design.estimate_mean(counts=tally, confidence=confidence)
        estimate = design.estimate(counts=tally, confidence=confidence)
        return estimate if isinstance(estimate, Estimate) else estimate.shares[self.answer or 0]

    def _direct(self, tally: Tally) -> float:
        """The variance that the estimate would have from direct answers."""
        value = self._estimate(tally, Fraction(19, 20)).value
        if isinstance(tally.design, Ordinal) and self.answer is None:
            shares = np.array(tally.design.estimate(counts=tally).value)
            off = np.arange(shares.size) - value
            return float(shares @ off**2 / max(shares.sum(), 1.0)) / tally.respondents
        return max(value * (1 - value), 0.0) / tally.respondents


def read_local(groups: Mapping[Key, Any], value: str | int | None = None) -> LocalShares:
    """Groups as tallies, or as (design, counts), such as {"A": (coins, (600, 400))}.

    `value` is the number of the answer whose share is meant. Without it, yes/no questions have
    the share of "yes", and scales their mean.
    """
    if not groups:
        raise InvalidParameter("There is no group to compare.")
    tallies = tuple(_tally(key, group) for key, group in groups.items())
    kinds = {(isinstance(t.design, Ordinal), t.design.categories) for t in tallies}
    if len(kinds) > 1:
        raise InvalidParameter(
            "All groups must be asked the same question, with equal answers."
        )
    ((scale, categories),) = kinds
    if value is None:
        if scale:
            return LocalShares(tuple(groups), tallies, None, "mean", float(categories - 1))
        return LocalShares(tuple(groups), tallies)
    if not isinstance(value, int) or not 0 <= value < categories:
        raise InvalidParameter(
            f"`value` is the number of an answer, from 0 to {categories - 1}. Found {value!r}."
        )
    if categories == 2 and value == 0 and not scale:
        raise InvalidParameter("Of a yes/no question, take the share of yes, value=1.")
    return LocalShares(tuple(groups), tallies, value, f"share of answer {value}")


def need_answer(shares: LocalShares) -> LocalShares:
    """Refuses several answers of which none was named."""
    design = shares.tallies[0].design
    if shares.answer is None and design.categories > 2 and not isinstance(design, Ordinal):
        raise InvalidParameter(
            f"Say which answer is meant, with value=0 to value={design.categories - 1}."
        )
    return shares


def one_group(shares: LocalShares, group: Key | None) -> LocalShares:
    """The group that is named, or the only one."""
    if group is None and len(shares.groups) > 1:
        raise InvalidParameter(f"Name one of the {len(shares.groups)} groups.")
    return shares.at(0 if group is None else find_group(shares.groups, group))


def _tally(key: Key, tally: Any) -> Tally:
    if isinstance(tally, tuple) and len(tally) == 2 and isinstance(tally[0], _DESIGNS):
        design, counts = tally
        fits = hasattr(counts, "__len__") and len(counts) == design.categories
        if fits and not isinstance(design, FrequencyOracle):
            exact = tuple(whole(count, "count", least=0) for count in counts)
            tally = Tally(design, exact, sum(exact))
    if not isinstance(tally, Tally) or not isinstance(tally.design, _DESIGNS):
        raise InvalidParameter(f"{_FORM} Found {key!r} with another value.")
    if not tally.respondents:
        raise InvalidParameter(f"Nobody of {key!r} has answered.")
    return tally
