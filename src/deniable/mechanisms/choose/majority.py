"""Majority: which of two sides has more votes, as accurately as any private rule can say.

Let u be the number of changes by which the first side leads. If one voter is replaced by
another (a change moves both counts), it is half the difference of votes. If voters are added or
removed, it is the whole difference. The rule names the first side if u + Z > 0 with discrete
Laplace noise Z, and flips a fair coin at 0. Let a = e**-epsilon. At a lead r the losing side is
named with probability a**r / 2 if ties can occur, and a**(r + 1/2) / (1 + a) if r is a
half-integer (an odd number of voters).

Among rules that treat both sides alike, no other rule is better at any lead. Let p(u) be the
probability of naming the first side. Then p(0) = 1/2, or p(1/2) <= e**epsilon (1 - p(1/2)); and
1 - p(u + 1) is at least a (1 - p(u)). This rule meets each of these with equality. (The inverse
sensitivity mechanism errs with probability a**r / (1 + a**r), up to twice as often.)
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.errors import InvalidData
from deniable.exact import bernoulli, discrete_laplace
from deniable.exact.enclosures import Enclosure, exp_neg
from deniable.exact.least_integer import find_least
from deniable.exact.rationals import Number, confidence_level
from deniable.mechanisms import epsilon_or_odds
from deniable.mechanisms.choose.scores import Candidates, Scores, read_scores
from deniable.mechanisms.named_arguments import check_arguments
from deniable.privacy import Neighbors, PureLoss, neighboring


@dataclass(frozen=True, slots=True, init=False)
class Majority:
    """Names the side with more votes. With `neighbors="replace"` the number of votes is public.

    >>> vote = Majority(epsilon=0.1, neighbors="replace")
    >>> k = 500  # of 1001 votes, 520 are in favour
    >>> round(vote.pmf({"yes": k + 20, "no": k + 1 - 20})["no"], 6)
    0.071048
    """

    epsilon: Fraction | None
    odds: Fraction | None
    neighbors: Neighbors

    @check_arguments
    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        odds: Number | None = None,
        neighbors: Neighbors = "add-remove",
    ) -> None:
        exact_epsilon, exact_odds = epsilon_or_odds.read(epsilon, odds)
        object.__setattr__(self, "epsilon", exact_epsilon)
        object.__setattr__(self, "odds", exact_odds)
        object.__setattr__(self, "neighbors", neighboring(neighbors))

    @property
    def loss(self) -> PureLoss:
        """What one answer costs.

        >>> Majority(odds=3).loss
        PureLoss(odds=3)
        """
        return epsilon_or_odds.loss(self.epsilon, self.odds)

    def release(self, votes: Candidates) -> Any:
        """The side that is named: its key in a mapping, else 0 or 1.

        >>> Majority(epsilon=1).release({"yes": 900, "no": 100})
        'yes'
        """
        sides, lead = self._lead(votes)
        scale = 1 / epsilon_or_odds.rate(self.epsilon, self.odds)
        noisy = lead + int(discrete_laplace(scale, 1)[0])
        coin = bool(bernoulli(Fraction(1, 2), 1)[0])  # always drawn: timing reveals nothing
        return sides.name(0 if noisy > 0 or (noisy == 0 and coin) else 1)

    def pmf(self, votes: Candidates) -> Any:
        """The probability of each side: a mapping for a mapping, else an array.

        >>> Majority(odds=3).pmf([7, 7]).tolist()
        [0.5, 0.5]
        """
        sides, _ = self._lead(votes)
        bounds = [self.pmf_bounds(sides.name(side), votes, 128) for side in (0, 1)]
        return sides.label(np.array([(lo + hi) / 2**129 for lo, hi in bounds]))

    def pmf_bounds(self, output: Any, votes: Candidates, bits: int = 256) -> Enclosure:
        """Encloses 2**bits * P(release(votes) = output) between two integers, for proofs."""
        sides, lead = self._lead(votes)
        side = sides.index(output)
        if side is None:
            return 0, 0
        lo, hi = self._error_probability(abs(lead), bits)
        winner = 0 if lead >= 0 else 1
        return (lo, hi) if side != winner else ((1 << bits) - hi, (1 << bits) - lo)

    def margin(self, confidence: Number = 0.95) -> int:
        """The least m such that a lead of more than m votes is named correctly.

        It holds with probability `confidence`, for all votes: the side that is named has at
        most m votes fewer than the other side.

        >>> Majority(epsilon=0.1).margin(0.95), Majority(odds=3).margin(0.95)
        (23, 2)
        """
        miss = 1 - confidence_level(confidence)
        halves = 1 if self.neighbors == "replace" else 2
        return (
            find_least(lambda votes: self._is_lead_enough(Fraction(votes * halves, 2), miss))
            - 1
        )

    def _is_lead_enough(self, lead: Fraction, miss: Fraction) -> bool:
        _, hi = self._error_probability(lead, 128)
        return hi <= miss * (1 << 128)

    def _error_probability(self, lead: Fraction, bits: int) -> Enclosure:
        """The probability of naming the losing side, at a lead of zero or more changes."""
        rate, work = epsilon_or_odds.rate(self.epsilon, self.odds), bits + 8
        if lead.denominator == 1:
            lo, hi = exp_neg(rate * lead, work)
            return lo >> 9, -(-hi >> 9)
        (lo, hi), (a_lo, a_hi) = (
            exp_neg(rate * changes, work) for changes in (lead + Fraction(1, 2), Fraction(1))
        )
        one = 1 << work
        return lo * one // (one + a_hi) >> 8, -(-hi * one // (one + a_lo) >> 8)

    def _lead(self, votes: Candidates) -> tuple[Scores, Fraction]:
        """By how many changes the first side leads."""
        sides = read_scores(votes, step=None, sensitivity=Fraction(1))
        counts = [int(votes_of_side) for votes_of_side in sides.units]
        if len(counts) != 2 or sides.real or sides.unit != 1 or min(counts) < 0:
            raise InvalidData("`votes` must be two whole numbers, zero or more: one per side.")
        lead = Fraction(counts[0] - counts[1])
        return sides, lead / 2 if self.neighbors == "replace" else lead
