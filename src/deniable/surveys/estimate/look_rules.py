"""How intervals are made: for one look that was fixed in advance, or for every look at once.

At one look: the exact binomial interval for yes/no channels. Ratios of means have Fieller's,
which is approximate, or, where few reports decide (see `has_many`), an exact one by betting. At
every look at once: the sequences of `confidence_sequence` and `betting_sequence`, all exact.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from deniable.mechanisms import Estimate
from deniable.mechanisms.local.estimate import estimate_share
from deniable.surveys.estimate.betting_sequence import (
    Outcomes,
    bet_at_one_look,
    fieller_interval,
    has_many,
    one_look_scale,
    ratio_sequence,
    stake_scale,
)
from deniable.surveys.estimate.confidence_sequence import (
    PLANNED,
    prior_strength,
    share_sequence,
)

Method = Literal["binomial", "fieller", "beta-binomial", "betting"]


@dataclass(frozen=True, slots=True)
class FoundNumber:
    """A share or a mean with its interval and the method that made it. "binomial" and "fieller"
    hold at one look, "beta-binomial" at every look at once, and "betting" at either.

    `influence` is how far one false report could move the number, on average over the coins;
    for ratios to first order. `tuning` is what does not depend on any answer: the strength of a
    mixture, or the scale of stakes and the farthest stake.
    """

    estimate: Estimate
    method: Method
    influence: float
    tuning: tuple[float, ...] = ()

    def between(self, low: float, high: float) -> "FoundNumber":
        """The number if 0 stands for `low` and 1 for `high`: a mean from a share.

        >>> half = LookRule(anytime=False).share(500, 1000, Fraction(3, 4), Fraction(1, 4))
        >>> half.between(0, 10).estimate.value
        5.0
        """
        share, width = self.estimate, high - low
        mean = replace(
            share,
            value=low + width * share.value,
            raw=low + width * share.raw,
            standard_error=width * share.standard_error,
            interval=(low + width * share.interval[0], low + width * share.interval[1]),
        )
        return replace(self, estimate=mean, influence=width * self.influence)


@dataclass(frozen=True, slots=True)
class LookRule:
    """How intervals are made: for one look that was fixed in advance, or for any look.

    `planned` is the number of people that the survey plans for; it tunes sequences.
    """

    anytime: bool = True
    confidence: Fraction = Fraction(19, 20)
    planned: int = PLANNED

    def among(self, groups: int) -> "LookRule":
        """The rule for one of several groups, to which fewer people belong."""
        return LookRule(self.anytime, self.confidence, max(1, self.planned // groups))

    def share(self, yes: int, respondents: int, p: Fraction, q: Fraction) -> FoundNumber:
        """A share from a count of reports through a yes/no channel.

        >>> reading = LookRule(anytime=False).share(400, 1000, Fraction(3, 4), Fraction(1, 4))
        >>> print(reading.estimate, reading.method, reading.influence)
        0.300 ± 0.062 (95 %: 0.239 to 0.362) binomial 0.0015
        """
        how: dict[str, Any] = {"p": p, "q": q, "confidence": self.confidence}
        influence = float(max(p, q, 1 - p, 1 - q) / abs(p - q) / respondents)
        if self.anytime:
            sequence = share_sequence(yes, respondents, **how, planned=self.planned)
            strength = prior_strength(self.planned, self.confidence)
            return FoundNumber(sequence, "beta-binomial", influence, (strength,))
        return FoundNumber(estimate_share(yes, respondents, **how), "binomial", influence)

    def ratio(self, outcomes: Outcomes) -> FoundNumber:
        """A ratio of means that lies between 0 and 1. If the bottom is not above 0, nothing is
        known about it."""
        method, interval, tuning = self._bound(outcomes)
        known = math.isfinite(outcomes.ratio)
        raw = outcomes.ratio if known else 0.5
        consistent = not math.isnan(interval[0])
        estimate = Estimate(
            value=min(max(raw, 0.0), 1.0),
            raw=raw,
            standard_error=_ratio_error(outcomes, raw) if known else math.inf,
            interval=interval,
            confidence=float(self.confidence),
            respondents=outcomes.respondents,
            consistent=consistent,
            p_value=1.0 if consistent else 1 - float(self.confidence),  # at most
        )
        return FoundNumber(estimate, method, _influence(outcomes, estimate.value), tuning)

    def _bound(
        self, outcomes: Outcomes
    ) -> tuple[Method, tuple[float, float], tuple[float, ...]]:
        """The method for a ratio, its interval and its tuning."""
        level = self.confidence
        if self.anytime:
            interval = ratio_sequence(outcomes, confidence=level, planned=self.planned)
            return "betting", interval, stake_scale(outcomes, level, self.planned)
        if has_many(outcomes):
            return "fieller", fieller_interval(outcomes, confidence=level), ()
        interval = bet_at_one_look(outcomes, confidence=level)
        return "betting", interval, one_look_scale(outcomes)


def _influence(outcomes: Outcomes, ratio: float) -> float:
    """How far one false report could move a ratio: an honest one adds -r to 1 - r to the sum of
    t - r b, on average."""
    least_top, most_top, least_bottom, most_bottom = outcomes.possible
    most = max(most_top - ratio * bottom for bottom in (least_bottom, most_bottom))
    least = min(least_top - ratio * bottom for bottom in (least_bottom, most_bottom))
    bottom = abs(float(outcomes.counts @ outcomes.bottoms))
    return max(most + ratio, 1 - ratio - least) / bottom if bottom else math.inf


def _ratio_error(outcomes: Outcomes, ratio: float) -> float:
    """The standard error of the ratio, to first order."""
    rest = outcomes.tops - ratio * outcomes.bottoms
    bottom = abs(float(outcomes.counts @ outcomes.bottoms))
    return math.sqrt(float(outcomes.counts @ rest**2)) / bottom if bottom else math.inf
