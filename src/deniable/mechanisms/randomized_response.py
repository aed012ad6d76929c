"""Randomized response: every respondent flips coins, and nobody has to be trusted.

A true answer x becomes a report y with probability P(y | x). Reports of different people are
independent, so changing one person's answer changes the probability of all reports by that
person's P(y | x) / P(y | x') alone: the loss is the largest such ratio over the whole channel
(for yes/no: the largest of p/q, q/p, (1-p)/(1-q), (1-q)/(1-p)), never a formula that assumes
symmetry. Warner, "Randomized response", 1965; at given epsilon the symmetric channel is optimal
for two answers: Kairouz, Oh & Viswanath, "Extremal mechanisms for local differential privacy",
2014. All probabilities are rationals and are drawn exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact import bernoulli, uniform_below
from deniable.exact.enclosures import Enclosure, exp_neg
from deniable.exact.rationals import Number, probability, rational, whole
from deniable.mechanisms import pure
from deniable.mechanisms.estimate import Estimate, Estimates, share
from deniable.privacy import PureLoss

_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True, init=False)
class RandomizedResponse:
    """Randomizes answers, one by one, and estimates shares from the reports.

    Answers are booleans, or whole numbers from 0 to `categories` - 1 (0 is "no", 1 is "yes").
    A report is the truth with `odds` to 1 against any other answer. From `epsilon=` the odds
    are derived as a rational just below e**epsilon, and the loss states them. For yes/no, `p`
    is P(yes | yes) and `q` is P(yes | no); with more categories `p` is the probability of the
    truth and `q` that of each other answer.

    >>> coins = RandomizedResponse(odds=3)
    >>> coins.p, coins.q, coins.loss.epsilon()
    (Fraction(3, 4), Fraction(1, 4), 1.0986122886681098)
    >>> len(coins.randomize([True, False, True]))
    3
    """

    p: Fraction
    q: Fraction
    categories: int

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        odds: Number | None = None,
        categories: int = 2,
    ) -> None:
        exact_epsilon, exact_odds = pure.one_of(epsilon, odds)
        if exact_odds is None:
            assert exact_epsilon is not None
            exact_odds = _odds_below(exact_epsilon)
        k = whole(categories, "categories", least=2)
        self._set(exact_odds / (exact_odds + k - 1), 1 / (exact_odds + k - 1), k)

    def _set(self, p: Fraction, q: Fraction, categories: int) -> None:
        object.__setattr__(self, "p", p)
        object.__setattr__(self, "q", q)
        object.__setattr__(self, "categories", categories)

    @classmethod
    def channel(cls, p: Number, q: Number) -> "RandomizedResponse":
        """Yes/no answers through any channel: p = P(yes | yes), q = P(yes | no).

        >>> RandomizedResponse.channel(0.75, 0.5).loss.epsilon() == PureLoss(odds=2).epsilon()
        True
        """
        yes, no = probability(p, "p"), probability(q, "q")
        if yes == no:
            raise InvalidParameter(
                f"`p` and `q` must differ. Found {yes} for both: the reports would say nothing "
                "about the answers, and no number of respondents could mend that."
            )
        if not (0 < yes < 1 and 0 < no < 1):
            raise InvalidParameter(
                f"Every report must be possible under every answer. Found P(yes | yes) = {yes} "
                f"and P(yes | no) = {no}: some report would prove an answer, so epsilon would "
                "be infinite. Keep all probabilities strictly between 0 and 1."
            )
        made = object.__new__(cls)
        made._set(yes, no, 2)
        return made

    @classmethod
    def from_gamma(cls, gamma: Number) -> "RandomizedResponse":
        """Tells the truth with probability 1/2 + gamma, else the opposite.

        >>> RandomizedResponse.from_gamma(0.25) == RandomizedResponse.from_coins()
        True
        """
        exact = rational(gamma, "gamma")
        if not 0 < exact < _HALF:
            raise InvalidParameter(
                f"`gamma` must lie strictly between 0 and 1/2. Found {gamma}: at 0 the reports "
                "say nothing, at 1/2 they are the answers themselves."
            )
        return cls.channel(_HALF + exact, _HALF - exact)

    @classmethod
    def from_coins(cls, truth: Number = 0.5, yes: Number = 0.5) -> "RandomizedResponse":
        """Tells the truth with probability `truth`, else says yes with probability `yes`.

        >>> RandomizedResponse.from_coins().loss == PureLoss(odds=3)
        True
        >>> RandomizedResponse.from_coins(truth=0.1, yes=0.1).loss.epsilon()
        0.7472144018302211
        """
        first, second = probability(truth, "truth"), probability(yes, "yes")
        return cls.channel(first + (1 - first) * second, (1 - first) * second)

    @classmethod
    def warner(cls, p: Number) -> "RandomizedResponse":
        """Warner's cards: a share p ask "are you?", the others "are you not?".

        >>> RandomizedResponse.warner(0.75) == RandomizedResponse(odds=3)
        True
        """
        cards = probability(p, "p")
        return cls.channel(cards, 1 - cards)

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
        self._check(np.array([answer], dtype=object))
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

    def randomize(self, answers: Any) -> Any:
        """The reports, in the shape and kind of the answers: one, a list or an array.

        >>> RandomizedResponse(odds=3, categories=4).randomize(
        ...     np.zeros((2, 5), dtype=int)
        ... ).shape
        (2, 5)
        """
        array, kind = _read(answers)
        flat = array.ravel()
        truth = self._check(flat)
        if self.categories == 2:
            drawn = np.where(
                truth == 1, bernoulli(self.p, flat.size), bernoulli(self.q, flat.size)
            ).astype(np.int64)
        else:  # keep the answer with probability p - q, else any of all categories
            keep = bernoulli(self.p - self.q, flat.size)
            drawn = np.where(keep, truth, uniform_below(self.categories, flat.size))
        reports = drawn.astype(bool if _boolean(flat) else np.int64).reshape(array.shape)
        return reports if kind is np.ndarray else reports.tolist()

    def aggregate(self, reports: Any) -> tuple[int, ...]:
        """How many reports each category has, "no" first.

        >>> RandomizedResponse(odds=3).aggregate([True, False, True])
        (1, 2)
        """
        flat = self._check(_read(reports)[0].ravel())
        return tuple(np.bincount(flat, minlength=self.categories).tolist())

    def estimate(
        self,
        responses: Any = None,
        *,
        counts: Sequence[int] | None = None,
        confidence: Number = 0.95,
    ) -> Estimate | Estimates:
        """The share of true yeses (or of each category), from reports or from their counts.

        >>> estimate = RandomizedResponse.warner(0.75).estimate(counts=(600, 400))
        >>> round(estimate.value, 6), round(estimate.standard_error, 6)
        (0.3, 0.030984)
        """
        if (responses is None) == (counts is None):
            raise InvalidParameter("Give either the responses or `counts=`, and not both.")
        level = probability(confidence, "confidence")
        if not 0 < level < 1:
            raise InvalidParameter(
                f"`confidence` must lie strictly between 0 and 1. Found {confidence}."
            )
        tally = self.aggregate(responses) if counts is None else self._tally(counts)
        n = sum(tally)
        if self.categories == 2:
            return share(tally[1], n, p=self.p, q=self.q, confidence=level)
        return Estimates(
            tuple(share(one, n, p=self.p, q=self.q, confidence=level) for one in tally)
        )

    def _tally(self, counts: Sequence[int]) -> tuple[int, ...]:
        if len(counts) != self.categories:
            raise InvalidData(
                f"`counts` needs one number for each of {self.categories} categories, "
                f'"no" or 0 first. Found {len(counts)}.'
            )
        tally = tuple(whole(one, "counts", least=0) for one in counts)
        if sum(tally) == 0:
            raise InvalidData("There are no responses to estimate from: every count is 0.")
        return tally

    def _check(self, flat: NDArray[Any]) -> NDArray[np.int64]:
        """The answers as integers, each of them one of the categories."""
        if flat.size == 0:
            raise InvalidData("There are no answers. Give one or more.")
        if flat.dtype.kind not in "biu":
            types = set(map(type, flat))
            whole_numbers = all(issubclass(one, Integral) for one in types)
            booleans = [issubclass(one, bool | np.bool_) for one in types]
            if not (all(booleans) or (whole_numbers and not any(booleans))):
                raise InvalidData(
                    "Answers must be all booleans, or all whole numbers. Turn text or floats "
                    "into the numbers of their categories first."
                )
        if not ((flat >= 0) & (flat < self.categories)).all():
            raise InvalidData(
                f"Answers must be whole numbers from 0 to {self.categories - 1}, the "
                "numbers of the categories. Some are not."
            )
        return flat.astype(np.int64)


def _read(answers: Any) -> tuple[NDArray[Any], type]:
    if isinstance(answers, np.ma.MaskedArray):
        raise InvalidData("Answers must not be masked: make a missing answer a category.")
    if isinstance(answers, np.ndarray):
        return np.asarray(answers), np.ndarray
    if isinstance(answers, str | bytes):
        raise InvalidData("Answers must be booleans or whole numbers, not text.")
    if hasattr(answers, "__array__") and not isinstance(answers, np.generic):
        return np.asarray(answers), np.ndarray
    try:
        return np.array(answers, dtype=object), type(answers)
    except ValueError:
        raise InvalidData("The rows of a list must have equal lengths.") from None


def _boolean(flat: NDArray[Any]) -> bool:
    """Whether answers, already checked, are booleans; the first one's type tells."""
    return flat.dtype.kind == "b" or isinstance(flat[0], bool | np.bool_)


def _odds_below(epsilon: Fraction) -> Fraction:
    """A rational below e**epsilon by about a part in 2**66 (of epsilon, if that is small)."""
    bits = 66 + (1 / epsilon).__ceil__().bit_length()
    work = 2 * bits + 2 * epsilon.__ceil__()
    _, hi = exp_neg(epsilon, work)
    odds = (1 << work + bits) // hi
    spare = max(0, odds.bit_length() - bits - 1)  # digits that large odds need not have
    return Fraction(odds >> spare << spare, 1 << bits)
