"""Designs in which some report proves an answer: to analyse old data, not to ask people.

If P(report | answer) is 0 for one answer and positive for the other, that report reveals the
answer, and no finite epsilon holds. The estimate is as sound as with any other channel, so data
that was collected this way can still be analysed. Mangat, "An improved randomized response
strategy", 1994; Yu, Tian & Tang, "Two new models for survey sampling with sensitive
characteristic" (the triangular model), 2008; Clark & Desharnais (forced yes only), 1998.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from deniable.errors import InvalidParameter, Unsupported
from deniable.exact.rationals import Number, confidence_level, probability
from deniable.mechanisms.local.answers import read_answers
from deniable.mechanisms.local.estimate import Estimate, IntervalMethod, estimate_share
from deniable.mechanisms.local.tally import Tally, read_tally
from deniable.mechanisms.named_arguments import check_arguments, check_call

_WHY = (
    "Under {design!r} some report proves an answer: its epsilon is infinite. Use it only to "
    "analyse data that was collected with it. To ask people, use RandomizedResponse: there "
    "every report is possible under every answer."
)


@dataclass(frozen=True, slots=True, init=False)
class RevealingResponse:
    """A yes/no channel of infinite epsilon: p = P(yes | yes), q = P(yes | no), one of them
    0 or 1. It can estimate, but not randomize.

    >>> old = RevealingResponse.mangat(Fraction(7, 10))
    >>> print(old.estimate(counts=(560, 440)))
    0.200 ± 0.045 (95 %: 0.156 to 0.245)
    """

    p: Fraction
    q: Fraction

    @check_arguments
    def __init__(self, p: Number, q: Number) -> None:
        yes, no = probability(p, "p"), probability(q, "q")
        object.__setattr__(self, "p", yes)
        object.__setattr__(self, "q", no)
        if yes == no:
            raise InvalidParameter(
                f"`p` and `q` must differ. Found {p} for both: the reports say nothing."
            )
        if 0 < yes < 1 and 0 < no < 1:
            raise InvalidParameter(
                f"At p = {p} and q = {q} no report proves an answer, so epsilon is finite. Use "
                "RandomizedResponse.channel(p, q), which states its loss."
            )

    @classmethod
    @check_call
    def mangat(cls, p: Number) -> "RevealingResponse":
        """Those with the trait say yes; the others use Warner's cards: a "no" proves "no".

        >>> RevealingResponse.mangat(0.7).q
        Fraction(3, 10)
        """
        return cls(Fraction(1), 1 - probability(p, "p"))

    @classmethod
    @check_call
    def triangular(cls, rate: Number) -> "RevealingResponse":
        """Says "no" only if neither the trait nor an innocuous one (of share `rate`) applies.

        >>> RevealingResponse.triangular(0.25).p
        Fraction(1, 1)
        """
        return cls(Fraction(1), probability(rate, "rate"))

    @classmethod
    @check_call
    def forced_yes(cls, yes: Number) -> "RevealingResponse":
        """Is forced to say yes with probability `yes`, else tells the truth.

        >>> RevealingResponse.forced_yes(0.25) == RevealingResponse.triangular(0.25)
        True
        """
        return cls(Fraction(1), probability(yes, "yes"))

    @property
    def categories(self) -> int:
        """Two: no and yes."""
        return 2

    @property
    def loss(self) -> NoReturn:
        """Raises `Unsupported`: the odds are infinite."""
        raise Unsupported(_WHY.format(design=self))

    def randomize(self, answers: Any) -> NoReturn:
        """Raises `Unsupported`, for all answers."""
        raise Unsupported(_WHY.format(design=self))

    @property
    def matrix(self) -> tuple[tuple[Fraction, ...], ...]:
        """The channel: row y, column x holds P(y | x).

        >>> RevealingResponse.triangular(0.25).matrix[0]
        (Fraction(3, 4), Fraction(0, 1))
        """
        return (1 - self.q, 1 - self.p), (self.q, self.p)

    def aggregate(self, reports: Any) -> Tally:
        """How many reports say no and yes.

        >>> RevealingResponse.triangular(0.25).aggregate([True, False]).counts
        (1, 1)
        """
        flat = read_answers(reports, 2).numbers
        return Tally(self, tuple(np.bincount(flat, minlength=2).tolist()), flat.size)

    def estimate(
        self,
        responses: Any = None,
        *,
        counts: Sequence[int] | Tally | None = None,
        confidence: Number = 0.95,
        method: IntervalMethod = "exact",
    ) -> Estimate:
        """The share of true yeses, as `RandomizedResponse.estimate` gives it.

        >>> round(RevealingResponse.forced_yes(0.25).estimate(counts=(60, 40)).value, 3)
        0.2
        """
        if (responses is None) == (counts is None):
            raise InvalidParameter("Give either the responses or `counts=`, and not both.")
        level = confidence_level(confidence)
        tally = self.aggregate(responses) if counts is None else read_tally(counts, self, 2)
        n = tally.respondents
        return estimate_share(tally[1], n, p=self.p, q=self.q, confidence=level, method=method)
