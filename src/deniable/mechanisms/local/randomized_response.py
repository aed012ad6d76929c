"""Randomized response: every respondent flips coins, so the collector need not be trusted.

A true answer x becomes a report y with probability P(y | x). Reports of different people are
independent, so changing one person's answer changes the probability of all reports only by that
person's factor P(y | x) / P(y | x'). The loss is the largest such ratio over the whole channel
(for yes/no: the largest of p/q, q/p, (1-p)/(1-q), (1-q)/(1-p)); no symmetry is assumed. Warner,
"Randomized response", 1965. At given epsilon the symmetric channel is optimal for two answers:
Kairouz, Oh & Viswanath, "Extremal mechanisms for local differential privacy", 2014. All
probabilities are rationals and are drawn exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import TYPE_CHECKING, Any, Generic, Literal, cast, overload

import numpy as np

from deniable.errors import InvalidParameter
from deniable.exact import bernoulli, uniform_below
from deniable.exact.bits import SYSTEM, BitSource
from deniable.exact.enclosures import Enclosure
from deniable.exact.rationals import Number, confidence_level, probability, rational, whole
from deniable.mechanisms import epsilon_or_odds
from deniable.mechanisms.local.answers import read_answers
from deniable.mechanisms.local.estimate import (
    Estimate,
    Estimates,
    IntervalMethod,
    estimate_share,
    share_variance,
)
from deniable.mechanisms.local.tally import Tally, read_tally
from deniable.mechanisms.named_arguments import check_arguments, check_call
from deniable.privacy import PureLoss

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from deniable.privacy.arithmetic.dominating_pairs import DiscretePair

    EstimateKind = TypeVar("EstimateKind", bound=Estimate | Estimates, default=Estimate)
else:
    from typing import TypeVar  # before Python 3.13 it takes no default

    EstimateKind = TypeVar("EstimateKind")

_HALF = Fraction(1, 2)
_IF_UNKNOWN = "private only against those who do not know the innocuous trait"


@dataclass(frozen=True, slots=True, init=False)
class RandomizedResponse(Generic[EstimateKind]):
    """Randomizes answers, one by one, and estimates shares from the reports.

    Answers are booleans, or whole numbers from 0 to `categories` - 1 (0 is "no", 1 is "yes").
    A report is the truth with `odds` to 1 against any other answer. Given `epsilon=`, the odds
    are a rational just below e**epsilon, and the loss states them. For yes/no, `p` is
    P(yes | yes) and `q` is P(yes | no). With more categories `p` is the probability of the true
    answer and `q` that of each other answer.

    >>> coins = RandomizedResponse(odds=3)
    >>> coins.p, coins.q, coins.loss.epsilon()
    (Fraction(3, 4), Fraction(1, 4), 1.0986122886681098)
    >>> len(coins.randomize([True, False, True]))
    3
    """

    p: Fraction
    q: Fraction
    categories: int
    caveat: str  # a further condition for the loss; may be empty

    # For type checkers: yes/no designs estimate one share, others one for each category.
    @overload
    def __init__(
        self: "RandomizedResponse[Estimate]",
        *,
        epsilon: Number | None = None,
        odds: Number | None = None,
        categories: Literal[2] = 2,
    ) -> None: ...
    @overload
    def __init__(
        self: "RandomizedResponse[Estimates]",
        *,
        epsilon: Number | None = None,
        odds: Number | None = None,
        categories: int,
    ) -> None: ...
    @check_arguments
    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        odds: Number | None = None,
        categories: int = 2,
    ) -> None:
        ratio = epsilon_or_odds.odds_of(epsilon, odds)
        k = whole(categories, "categories", least=2)
        self._set(ratio / (ratio + k - 1), 1 / (ratio + k - 1), k)

    def _set(self, p: Fraction, q: Fraction, categories: int, caveat: str = "") -> None:
        object.__setattr__(self, "p", p)
        object.__setattr__(self, "q", q)
        object.__setattr__(self, "categories", categories)
        object.__setattr__(self, "caveat", caveat)

    @classmethod
    @check_call
    def channel(cls, p: Number, q: Number) -> "RandomizedResponse[Estimate]":
        """Yes/no answers through any channel: p = P(yes | yes), q = P(yes | no).

        >>> RandomizedResponse.channel(0.75, 0.5).loss.epsilon() == PureLoss(odds=2).epsilon()
        True
        """
        yes, no = probability(p, "p"), probability(q, "q")
        if yes == no:
            raise InvalidParameter(
                f"`p` and `q` must differ. Found {yes} for both: the reports would say nothing "
                "about the answers, with any number of respondents."
            )
        if not (0 < yes < 1 and 0 < no < 1):
            raise InvalidParameter(
                f"Every report must be possible under every answer. Found P(yes | yes) = {yes} "
                f"and P(yes | no) = {no}: one report would prove an answer, so epsilon would "
                "be infinite. Use probabilities above 0 and below 1. To analyse data that was "
                "collected with such a design, use `RevealingResponse`."
            )
        design = cast(RandomizedResponse[Estimate], object.__new__(cls))
        design._set(yes, no, 2)
        return design

    @classmethod
    @check_call
    def from_gamma(cls, gamma: Number) -> "RandomizedResponse[Estimate]":
        """Tells the truth with probability 1/2 + gamma, else the opposite.

        >>> RandomizedResponse.from_gamma(0.25) == RandomizedResponse.from_coins()
        True
        """
        exact = rational(gamma, "gamma")
        if not 0 < exact < _HALF:
            raise InvalidParameter(
                f"`gamma` must be above 0 and below 1/2. Found {gamma}. At 0 the reports say "
                "nothing; at 1/2 they are the true answers."
            )
        return cls.channel(_HALF + exact, _HALF - exact)

    @classmethod
    @check_call
    def from_coins(
        cls, truth: Number = 0.5, yes: Number = 0.5
    ) -> "RandomizedResponse[Estimate]":
        """Tells the truth with probability `truth`, else says yes with probability `yes`.

        >>> RandomizedResponse.from_coins().loss == PureLoss(odds=3)
        True
        >>> RandomizedResponse.from_coins(truth=0.1, yes=0.1).loss.epsilon()
        0.7472144018302211
        """
        first, second = probability(truth, "truth"), probability(yes, "yes")
        return cls.channel(first + (1 - first) * second, (1 - first) * second)

    @classmethod
    @check_call
    def warner(cls, p: Number) -> "RandomizedResponse[Estimate]":
        """Warner's cards: a share p of them asks "are you?", the others "are you not?".

        >>> RandomizedResponse.warner(0.75) == RandomizedResponse(odds=3)
        True
        """
        cards = probability(p, "p")
        return cls.channel(cards, 1 - cards)

    @classmethod
    @check_call
    def forced(cls, truth: Number, yes: Number, no: Number) -> "RandomizedResponse[Estimate]":
        """Tells the truth, or is forced to say yes or no, with these probabilities.

        >>> sixth = Fraction(1, 6)  # a die: 1 says no, 6 says yes, else the truth
        >>> RandomizedResponse.forced(4 * sixth, yes=sixth, no=sixth).loss
        PureLoss(odds=5)
        """
        parts = [
            probability(x, name) for x, name in ((truth, "truth"), (yes, "yes"), (no, "no"))
        ]
        if sum(parts) != 1:
            raise InvalidParameter(
                f"`truth`, `yes` and `no` must add up to 1. Found {sum(parts)}."
            )
        return cls.channel(parts[0] + parts[1], parts[1])

    @classmethod
    @check_call
    def unrelated(cls, truth: Number, rate: Number) -> "RandomizedResponse[Estimate]":
        """Answers the question with probability `truth`, else an innocuous question, to which
        a share `rate` of people says yes.

        >>> design = RandomizedResponse.unrelated(0.5, Fraction(1, 12))  # "born in May?"
        >>> round(design.loss.epsilon(), 6), design.caveat
        (2.564949, 'private only against those who do not know the innocuous trait')
        """
        coins = cls.from_coins(truth, rate)
        coins._set(coins.p, coins.q, 2, _IF_UNKNOWN)
        return coins

    @classmethod
    @check_call
    def crosswise(cls, rate: Number) -> "RandomizedResponse[Estimate]":
        """Reports only whether the answer equals that to an innocuous question, to which a
        share `rate` of people says yes. A report of 1 means "the same".

        >>> RandomizedResponse.crosswise(0.25).loss
        PureLoss(odds=3)
        """
        share = probability(rate, "rate")
        design = cls.channel(share, 1 - share)
        design._set(design.p, design.q, 2, _IF_UNKNOWN)
        return design

    def worst_pair(self, *, values: int = 1, real: bool = False) -> "DiscretePair | None":
        """The distributions of a report under two answers; a third output is all other reports.

        >>> len(RandomizedResponse(odds=3, categories=5).worst_pair().losses)
        3
        """
        from deniable.privacy.arithmetic.symmetric_pairs import symmetric_pair

        if values > 1:
            return None
        p, q, k = self.p, self.q, self.categories
        if k == 2:
            return symmetric_pair([p, 1 - p], [q, 1 - q])
        return symmetric_pair([p, q, (k - 2) * q], [q, p, (k - 2) * q])

    @property
    def loss(self) -> PureLoss:
        """What one randomized answer costs, as exact odds.

        >>> RandomizedResponse(epsilon=1).loss.epsilon()
        1.0
        """
        p, q = self.p, self.q
        ratio = p / q
        if self.categories == 2:
            ratio = max(p / q, q / p, (1 - p) / (1 - q), (1 - q) / (1 - p))
        return PureLoss(odds=ratio)

    def pmf(self, report: int, answer: int) -> Fraction:
        """P(report | answer), exactly.

        >>> RandomizedResponse(odds=6, categories=3).pmf(2, 0)
        Fraction(1, 8)
        """
        read_answers([answer], self.categories)
        if not isinstance(report, Integral | np.bool_) or not 0 <= report < self.categories:
            return Fraction(0)
        if self.categories == 2:
            yes = self.p if answer else self.q
            return yes if report else 1 - yes
        return self.p if report == answer else self.q

    def pmf_bounds(self, report: int, answer: int, bits: int = 256) -> Enclosure:
        """2**bits * pmf(report, answer), rounded down and up to integers.

        >>> RandomizedResponse(odds=2).pmf_bounds(1, 1, 8)
        (170, 171)
        """
        scaled = self.pmf(report, answer) * (1 << bits)
        return scaled.__floor__(), scaled.__ceil__()

    @property
    def matrix(self) -> tuple[tuple[Fraction, ...], ...]:
        """The channel: row y, column x holds P(y | x).

        >>> RandomizedResponse.channel(0.75, 0.5).matrix[1]
        (Fraction(1, 2), Fraction(3, 4))
        """
        k = range(self.categories)
        return tuple(tuple(self.pmf(y, x) for x in k) for y in k)

    def randomize(self, answers: Any, *, source: BitSource = SYSTEM) -> Any:
        """The reports, in the shape and kind of the answers: one, a list or an array.

        >>> RandomizedResponse(odds=3, categories=4).randomize(
        ...     np.zeros((2, 5), dtype=int)
        ... ).shape
        (2, 5)
        """
        numbered = read_answers(answers, self.categories)
        truth, n = numbered.numbers, numbered.numbers.size
        if self.categories == 2:
            yes, no = (bernoulli(rate, n, source=source) for rate in (self.p, self.q))
            drawn = np.where(truth == 1, yes, no).astype(np.int64)
        else:  # keep the answer with probability p - q, else a uniform category
            keep = bernoulli(self.p - self.q, n, source=source)
            drawn = np.where(keep, truth, uniform_below(self.categories, n, source=source))
        return numbered.restore_shape(drawn)

    def aggregate(self, reports: Any) -> Tally:
        """How many reports each category has, "no" first; tallies of batches add up.

        >>> RandomizedResponse(odds=3).aggregate([True, False, True]).counts
        (1, 2)
        """
        flat = read_answers(reports, self.categories).numbers
        counts = tuple(np.bincount(flat, minlength=self.categories).tolist())
        return Tally(self, counts, flat.size)

    def estimate(
        self,
        responses: Any = None,
        *,
        counts: Sequence[int] | Tally | None = None,
        confidence: Number = 0.95,
        method: IntervalMethod = "exact",
    ) -> EstimateKind:
        """The share of true yeses (or of each category), from reports or from their counts.

        The interval is the exact binomial one, or Wilson's (shorter, but right only on
        average), mapped through the channel.

        >>> estimate = RandomizedResponse.warner(0.75).estimate(counts=(600, 400))
        >>> round(estimate.value, 6), round(estimate.standard_error, 6)
        (0.3, 0.030984)
        """
        level = confidence_level(confidence)
        if (responses is None) == (counts is None):
            raise InvalidParameter("Give either the responses or `counts=`, and not both.")
        if counts is None:
            tally = self.aggregate(responses)
        else:
            tally = read_tally(counts, self, self.categories)
        counted = tally.counts[1:] if self.categories == 2 else tally.counts
        shares = tuple(
            estimate_share(
                count, tally.respondents, p=self.p, q=self.q, confidence=level, method=method
            )
            for count in counted
        )
        return cast(EstimateKind, shares[0] if self.categories == 2 else Estimates(shares))

    def variance(self, share: Number, *, respondents: int, population: bool = True) -> float:
        """The variance of the unbiased estimate of a share, with sampling error or without.

        >>> RandomizedResponse(odds=3).variance(0.3, respondents=1000)
        0.00096
        >>> RandomizedResponse(odds=3).variance(0.3, respondents=1000, population=False)
        0.00075
        """
        return share_variance(
            share, p=self.p, q=self.q, respondents=respondents, population=population
        )
