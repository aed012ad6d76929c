"""Answers on a scale: a report is more often near the true answer than far from it.

P(y | x) is proportional to r**|x - y|. r is rational, so all weights are integers. The loss is
exactly the largest ratio of two probabilities of one report. Given `epsilon` or `odds`, r is
the least (in parts of 2**20) whose loss fits. That is better than the
r = exp(-epsilon / (2 (k - 1))) of the exponential mechanism (McSherry & Talwar 2007), whose
proof assumes the worst normaliser. It is better than randomized response for the mean of a
scale, and worse for single shares.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from deniable.errors import InvalidParameter
from deniable.exact import categorical
from deniable.exact.bits import SYSTEM, BitSource
from deniable.exact.enclosures import Enclosure
from deniable.exact.rationals import Number, confidence_level, probability, rational, whole
from deniable.mechanisms import epsilon_or_odds
from deniable.mechanisms.local.answers import read_answers
from deniable.mechanisms.local.estimate import Estimate, Estimates, normal_estimate
from deniable.mechanisms.local.tally import Tally, read_tally
from deniable.mechanisms.named_arguments import check_arguments
from deniable.privacy import PureLoss

_PARTS = 1 << 20
_MOST = 101


@dataclass(frozen=True, slots=True, init=False)
class Ordinal:
    """Randomizes answers on a scale 0 to `categories` - 1, and estimates shares and means.

    >>> scale = Ordinal(epsilon=2, categories=5)
    >>> scale.loss.epsilon() <= 2
    True
    >>> len(scale.randomize([0, 2, 4]))
    3
    """

    ratio: Fraction  # r: the probability falls by this factor per step
    categories: int

    @check_arguments
    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        odds: Number | None = None,
        ratio: Number | None = None,
        categories: int,
    ) -> None:
        k = whole(categories, "categories", least=2)
        if k > _MOST:
            raise InvalidParameter(
                f"`categories` must be at most {_MOST}. Found {k}. For numbers with finer "
                "steps use Duchi, Hybrid or SquareWave."
            )
        if ratio is not None:
            if epsilon is not None or odds is not None:
                raise InvalidParameter("Give only one of `ratio`, `epsilon` and `odds`.")
            r = rational(ratio, "ratio")
            if not 0 < r < 1:
                raise InvalidParameter(f"`ratio` must lie between 0 and 1. Found {ratio}.")
        else:
            r = _least_ratio(epsilon_or_odds.odds_of(epsilon, odds), k)
        object.__setattr__(self, "ratio", r)
        object.__setattr__(self, "categories", k)

    @property
    def matrix(self) -> tuple[tuple[Fraction, ...], ...]:
        """The channel: row y, column x holds P(y | x).

        >>> Ordinal(ratio=0.5, categories=3).matrix[0]
        (Fraction(4, 7), Fraction(1, 4), Fraction(1, 7))
        """
        return _matrix(self.ratio, self.categories)

    @property
    def loss(self) -> PureLoss:
        """What one report costs: the largest ratio in the channel, exactly.

        >>> Ordinal(ratio=0.5, categories=3).loss
        PureLoss(odds=4)
        """
        return PureLoss(odds=_largest_ratio(self.ratio, self.categories))

    def pmf(self, report: int, answer: int) -> Fraction:
        """P(report | answer), exactly.

        >>> Ordinal(ratio=0.5, categories=3).pmf(0, 1)
        Fraction(1, 4)
        """
        (place,) = read_answers([answer], self.categories).numbers
        if not 0 <= int(report) < self.categories:
            return Fraction(0)
        return self.matrix[int(report)][int(place)]

    def pmf_bounds(self, report: int, answer: int, bits: int = 256) -> Enclosure:
        """2**bits * pmf(report, answer), rounded down and up to integers."""
        scaled = self.pmf(report, answer) * (1 << bits)
        return scaled.__floor__(), scaled.__ceil__()

    def randomize(self, answers: Any, *, source: BitSource = SYSTEM) -> Any:
        """The reports, in the shape and kind of the answers.

        >>> type(Ordinal(ratio=0.5, categories=3).randomize(2))
        <class 'int'>
        """
        numbered = read_answers(answers, self.categories)
        drawn = np.empty(numbered.numbers.size, dtype=np.int64)
        top, bottom, k = self.ratio.numerator, self.ratio.denominator, self.categories
        for x in range(k):
            people = np.flatnonzero(numbered.numbers == x)
            weights = [top ** abs(x - y) * bottom ** (k - 1 - abs(x - y)) for y in range(k)]
            drawn[people] = categorical(weights, [Fraction(0)] * k, people.size, source=source)
        return numbered.restore_shape(drawn)

    def aggregate(self, reports: Any) -> Tally:
        """How many reports each point of the scale has; tallies of batches add up.

        >>> Ordinal(ratio=0.5, categories=3).aggregate([0, 2, 2]).counts
        (1, 0, 2)
        """
        flat = read_answers(reports, self.categories).numbers
        counts = np.bincount(flat, minlength=self.categories)
        return Tally(self, tuple(counts.tolist()), flat.size)

    def estimate(
        self,
        responses: Any = None,
        *,
        counts: Sequence[int] | Tally | None = None,
        confidence: Number = 0.95,
    ) -> Estimates:
        """The share of each point: unbiased, with normal intervals for the population.

        >>> shares = Ordinal(ratio=0.5, categories=3).estimate(counts=(400, 300, 300))
        >>> [round(share, 3) for share in shares.raw]
        [0.583, 0.067, 0.35]
        """
        level, (raw, spread, n) = (
            confidence_level(confidence),
            self._estimate_shares(responses, counts),
        )
        errors = np.sqrt(np.maximum(np.diag(spread), 0))
        return Estimates(
            tuple(
                normal_estimate(float(x), float(e), n, level)
                for x, e in zip(raw, errors, strict=True)
            )
        )

    def estimate_mean(
        self,
        responses: Any = None,
        *,
        counts: Sequence[int] | Tally | None = None,
        scores: Sequence[float] | None = None,
        confidence: Number = 0.95,
    ) -> Estimate:
        """The mean of the scale's points, or of the `scores` given for them.

        >>> mean = Ordinal(ratio=0.5, categories=3).estimate_mean(counts=(400, 300, 300))
        >>> round(mean.value, 3)
        0.767
        """
        level, (raw, spread, n) = (
            confidence_level(confidence),
            self._estimate_shares(responses, counts),
        )
        points = np.arange(self.categories) if scores is None else np.asarray(scores, float)
        if points.shape != raw.shape:
            raise InvalidParameter(
                f"`scores` must have {self.categories} numbers. Found {points.size}."
            )
        error = math.sqrt(max(float(points @ spread @ points), 0.0))
        ends = float(points.min()), float(points.max())
        return normal_estimate(float(points @ raw), error, n, level, *ends)

    def variance(
        self, shares: Sequence[Number], *, respondents: int, population: bool = True
    ) -> tuple[float, ...]:
        """The variances of the unbiased estimates, if these are the true shares.

        They include sampling error if `population` is true. Unlike with randomized response,
        the variance of one share depends on the others.

        >>> scale = Ordinal(ratio=0.5, categories=3)
        >>> [round(v, 6) for v in scale.variance((0.5, 0.25, 0.25), respondents=1000)]
        [0.002302, 0.004882, 0.001906]
        """
        parts = [probability(share, "shares") for share in shares]
        if len(parts) != self.categories or sum(parts) != 1:
            raise InvalidParameter(
                f"`shares` must be {self.categories} numbers that add up to 1. Found "
                f"{len(parts)} that add up to {float(sum(parts)):g}."
            )
        channel, truth = np.array(self.matrix, dtype=float), np.array(parts, dtype=float)
        back = np.linalg.inv(channel)
        squares = back**2 @ (channel @ truth)  # E[reading**2]; the mean reading is the truth
        spread = squares - (truth**2 if population else truth)
        return tuple((spread / whole(respondents, "respondents")).tolist())

    def _estimate_shares(self, responses: Any, counts: Any) -> tuple[Any, Any, int]:
        """Unbiased shares, their covariance and the number of respondents."""
        if (responses is None) == (counts is None):
            raise InvalidParameter("Give either the responses or `counts=`, and not both.")
        if counts is None:
            tally = self.aggregate(responses)
        else:
            tally = read_tally(counts, self, self.categories)
        n = tally.respondents
        rates = np.array(tally.counts) / n
        back = np.linalg.inv(np.array(self.matrix, dtype=float))
        spread = back @ (np.diag(rates) - np.outer(rates, rates)) @ back.T / n
        return back @ rates, spread, n


@lru_cache(maxsize=32)
def _matrix(ratio: Fraction, k: int) -> tuple[tuple[Fraction, ...], ...]:
    powers = [ratio**d for d in range(k)]
    totals = [sum(powers[abs(x - y)] for y in range(k)) for x in range(k)]
    return tuple(tuple(powers[abs(x - y)] / totals[x] for x in range(k)) for y in range(k))


@lru_cache(maxsize=32)
def _largest_ratio(ratio: Fraction, k: int) -> Fraction:
    return max(max(row) / min(row) for row in _matrix(ratio, k))


@lru_cache(maxsize=128)
def _least_ratio(odds: Fraction, k: int) -> Fraction:
    """The least r, in parts of 2**20, whose channel has at most these odds."""
    low, high = 0, _PARTS
    while high - low > 1:  # a float proposes
        middle = (low + high) // 2
        r = middle / _PARTS
        totals = [sum(r ** abs(x - y) for y in range(k)) for x in range(k)]
        rows = [[r ** abs(x - y) / totals[x] for x in range(k)] for y in range(k)]
        fits = min(map(min, rows)) > 0 and max(max(row) / min(row) for row in rows) <= odds
        low, high = (low, middle) if fits else (middle, high)
    while high < _PARTS and _largest_ratio(Fraction(high, _PARTS), k) > odds:  # integers decide
        high += 1
    if high >= _PARTS:
        raise InvalidParameter(
            f"Odds of {float(odds):g} are too near to 1 for a scale of {k} points: the reports "
            "would say almost nothing. Allow a larger loss."
        )
    return Fraction(high, _PARTS)
