"""The exponential mechanism: a candidate's probability grows exponentially with its score.

P(t) is proportional to exp(epsilon * score(t) / span), where span bounds how far the difference
of two scores can move between neighbours: twice the sensitivity, or once if the scores are
monotone. The logarithm of P(t) / P'(t) is epsilon / span times the move of a score, plus a
number common to all t. So its range over all t is at most epsilon (bounded range), and since
both distributions add up to one, it lies in [-epsilon, epsilon]. McSherry & Talwar, "Mechanism
design via differential privacy", 2007; the zCDP charge of epsilon**2 / 8: Cesar & Rogers 2020.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable.exact import choose
from deniable.exact.enclosures import Enclosure, exp_neg, log
from deniable.mechanisms.choose.choice_by_score import ChoiceByScore, exponents
from deniable.mechanisms.choose.scores import Scores
from deniable.privacy import RangeLoss

_BITS = 96


@dataclass(frozen=True, slots=True, init=False)
class Exponential(ChoiceByScore):
    """Chooses a candidate with odds that grow by a factor `odds` for each span of score.

    Its zCDP charge is smaller than that of other choices of the same epsilon: use it where many
    choices are composed. For a single choice `PermuteAndFlip` is never worse.

    >>> rank = Exponential(odds=2)
    >>> law = rank.pmf({"Fr": 0, "So": 4, "Ju": 6, "Se": 6})
    >>> {name: round(21 * p, 9) for name, p in law.items()}
    {'Fr': 1.0, 'So': 4.0, 'Ju': 8.0, 'Se': 8.0}
    >>> rank.release({"Fr": 0, "So": 4000})
    'So'
    """

    @property
    def loss(self) -> RangeLoss:
        """A pure loss of bounded range.

        >>> Exponential(epsilon=1).loss.rho
        Fraction(1, 8)
        """
        return RangeLoss(self.epsilon, odds=self.odds)

    def _choose(self, scores: Scores) -> int:
        gaps = scores.gaps_to_best()
        return choose(np.ones(gaps.size, dtype=np.int64), gaps, self.rate(scores))

    def _probabilities(self, scores: Scores) -> NDArray[np.float64]:
        weights = np.exp(-exponents(scores, self.rate(scores)))
        return np.asarray(weights / weights.sum(), dtype=np.float64)

    def _enclose(self, scores: Scores, index: int, bits: int) -> Enclosure:
        rate, gaps = self.rate(scores), scores.gaps_to_best()
        work = bits + 16 + gaps.size.bit_length()
        by_gap = {int(gap): exp_neg(rate * int(gap), work) for gap in set(gaps.tolist())}
        weights = [by_gap[int(gap)] for gap in gaps]
        low, high = (sum(ends) for ends in zip(*weights, strict=True))
        lo, hi = weights[index]
        return (lo << bits) // high, -(-(hi << bits) // low)

    def _least_gap(self, scores: Scores, candidates: int, miss: Fraction) -> int:
        """(k - 1) a**g / (1 + (k - 1) a**g) <= miss, solved for g; rounded up."""
        odds = (candidates - 1) * (1 - miss) / miss
        if odds <= 1:
            return 1
        _, hi = log(odds, _BITS)
        return max(1, math.ceil(Fraction(hi, 1 << _BITS) / self.rate(scores)))
