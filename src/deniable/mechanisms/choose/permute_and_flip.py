"""Permute-and-flip: look at candidates in random order, and flip a coin for each.

The coin of a candidate shows heads with probability exp(-epsilon * gap / span), where `gap` is
how far its score lies below the best. The coin of the best always shows heads. The mechanism
takes the first candidate that shows heads. Since the order is independent of the coins, this is
an even choice among all that show heads. It is epsilon-private, and never worse than the
exponential mechanism: McKenna & Sheldon, "Permute-and-flip", 2020. It equals the noisy maximum
with exponential noise: Ding, Kifer et al., "The permute-and-flip mechanism is identical to
report-noisy-max with exponential noise", 2021.

Let x_j be the probability of heads, and K the number of heads among the others. Then
P(i) = x_i E(1 / (1 + K)) = x_i * integral over [0, 1] of the product of (1 - x_j t), j != i.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, exp, expm1, log1p, log2

import numpy as np
from numpy.typing import NDArray

from deniable.exact import uniform_below
from deniable.exact.bits import SYSTEM, BitSource
from deniable.exact.enclosures import Enclosure, exp_neg
from deniable.exact.exponential_coins import flip_coins
from deniable.exact.least_integer import find_least
from deniable.mechanisms import epsilon_or_odds
from deniable.mechanisms.choose.choice_by_score import ChoiceByScore, exponents
from deniable.mechanisms.choose.scores import Scores
from deniable.privacy import PureLoss

_NODES = 32  # of a Gauss-Legendre panel: exact for polynomials of degree 63
_CAUTION = 1 - 1e-9  # far more than the rounding errors of a margin


@dataclass(frozen=True, slots=True, init=False)
class PermuteAndFlip(ChoiceByScore):
    """Chooses a candidate, at least as well as the exponential mechanism at the same epsilon.

    >>> chance = PermuteAndFlip(epsilon=1).pmf([4, 0])[1]
    >>> round(float(chance), 7)
    0.0676676
    """

    @property
    def loss(self) -> PureLoss:
        """A pure loss. Unlike for the exponential mechanism, no bounded range is known.

        >>> PermuteAndFlip(epsilon=0.5).loss
        PureLoss(0.5)
        """
        return epsilon_or_odds.loss(self.epsilon, self.odds)

    def _choose(self, scores: Scores) -> int:
        return choose_by_coins(scores, self.rate(scores))

    def _probabilities(self, scores: Scores) -> NDArray[np.float64]:
        return coin_probabilities(exponents(scores, self.rate(scores)))

    def _enclose(self, scores: Scores, index: int, bits: int) -> Enclosure:
        return enclose_probability(scores, self.rate(scores), index, bits)

    def _least_gap(self, scores: Scores, candidates: int, miss: Fraction) -> int:
        return least_gap(self.rate(scores), candidates, miss)


def choose_by_coins(
    scores: Scores, rate: Fraction, *, source: BitSource = SYSTEM, word_bits: int = 64
) -> int:
    """Draws one index, evenly among all candidates whose coin shows heads."""
    heads = np.flatnonzero(
        flip_coins(scores.gaps_to_best(), rate, source=source, word_bits=word_bits)
    )
    return int(heads[int(uniform_below(heads.size, 1, source=source)[0])])


def coin_probabilities(gaps: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability of each index, by quadrature on panels that grow away from zero.

    On a panel from t to 2t the integrand falls by about exp(-t * the expected number of heads),
    so either a few nodes are enough or almost nothing is left.
    """
    chances, place, counts = np.unique(np.exp(-gaps), return_inverse=True, return_counts=True)
    halvings = max(0, ceil(log2(chances @ counts)))
    ends = [0.0, *(2.0**-k for k in range(halvings, -1, -1))]
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    law = np.zeros(chances.size)
    for low, high in pairwise(ends):
        for node, weight in zip(nodes, weights, strict=True):
            t = low + (high - low) * (node + 1) / 2
            logs = np.log1p(-chances * t)
            law += weight * (high - low) / 2 * chances * np.exp(counts @ logs - logs)
    return np.asarray(law[place], dtype=np.float64)


def enclose_probability(scores: Scores, rate: Fraction, index: int, bits: int) -> Enclosure:
    """x_i E(1 / (1 + K)); builds the distribution of K by adding one candidate at a time."""
    gaps = [int(gap) for gap in scores.gaps_to_best()]
    work = bits + 16 + len(gaps).bit_length()
    one = 1 << work
    chances = {gap: exp_neg(rate * gap, work) for gap in Counter(gaps)}
    low, high = [one], [one]  # P(K = k), enclosed at scale 2**work
    for j, gap in enumerate(gaps):
        if j != index:
            lo, hi = chances[gap]
            low = _convolve(low, one - hi, lo, work, up=False)
            high = _convolve(high, one - lo, hi, work, up=True)
    lo, hi = chances[gaps[index]]
    least_mean = sum(p // (k + 1) for k, p in enumerate(low))
    most_mean = sum(-(-p // (k + 1)) for k, p in enumerate(high))
    return lo * least_mean >> 2 * work - bits, -(-hi * most_mean >> 2 * work - bits)


def _convolve(law: list[int], tails: int, heads: int, work: int, *, up: bool) -> list[int]:
    """The distribution with one more coin. All terms are positive; ends are rounded outward."""
    longer = [0, *law]
    fresh = [stay * tails + come * heads for stay, come in zip([*law, 0], longer, strict=True)]
    return [-(-p >> work) if up else p >> work for p in fresh]


def least_gap(rate: Fraction, candidates: int, miss: Fraction) -> int:
    """The least g at which k - 1 candidates, all g behind, win with probability <= miss.

    More heads among those behind, or fewer ahead, only make a loss more likely, so this is the
    worst case. The best wins with probability E(1 / (1 + K)) = (1 - (1 - x)**k) / (k x). Floats
    are safe here: every input is public, and rounding makes the margin wider.
    """
    k, allowed = candidates, float(miss) * _CAUTION

    def enough(gap: int) -> bool:
        exponent = float(rate * gap)
        x = exp(-exponent) if exponent < 700 else 0.0
        most = (k - 1) * x / 2  # an upper bound, as K / (1 + K) <= K / 2; sharp for small x
        if most > 1e-9:
            most = 1 - (-expm1(k * log1p(-x)) / (k * x) if x < 1 else 1 / k) + 1e-14
        return most <= allowed

    return find_least(enough)
