"""Certified probabilities of a noisy maximum and of a sparse vector, with Laplace noise.

They are sums, over one hidden noise (of the winner's score, or of the threshold), of products
of tails. Each factor is enclosed by integers at scale 2**bits. The infinite sum is cut where
the rest is below 2**-bits, and the upper end is raised by that rest.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable.exact.enclosures import Enclosure, exp_neg

_GUARD = 32
_KEPT = 1 << 14  # enclosures of each kind


class LaplaceProbabilities:
    """Discrete Laplace noise Z of one scale: its probabilities, enclosed at scale 2**work."""

    def __init__(self, scale: Fraction, bits: int) -> None:
        self.scale, self.bits, self.work = scale, bits, bits + _GUARD
        # exp(-(reach + 1) / scale) < 2**-(bits + 8) bounds the probability beyond the reach.
        self.reach = math.ceil(scale * (bits + 8) * Fraction(7, 10))
        self._power = lru_cache(_KEPT)(lambda n: exp_neg(n / scale, self.work))
        self.at = lru_cache(_KEPT)(self._at)
        self.at_least = lru_cache(_KEPT)(self._at_least)

    def _at(self, z: int) -> Enclosure:
        """P(Z = z) = (1 - a) / (1 + a) a**|z|."""
        (lo, hi), (a_lo, a_hi), one = self._power(abs(z)), self._power(1), 1 << self.work
        return lo * (one - a_hi) // (one + a_hi), -(-hi * (one - a_lo) // (one + a_lo))

    def _at_least(self, z: int) -> Enclosure:
        """P(Z >= z): a**z / (1 + a) for z >= 1, else 1 - a**(1 - z) / (1 + a)."""
        (lo, hi), (a_lo, a_hi) = self._power(max(z, 1 - z)), self._power(1)
        one = 1 << self.work
        low, high = (lo << self.work) // (one + a_hi), -(-(hi << self.work) // (one + a_lo))
        return (low, high) if z >= 1 else (one - high, one - low)

    def below(self, z: int) -> Enclosure:
        """P(Z < z)."""
        return self.at_least(1 - z)

    def winning(self, gaps: Sequence[int], index: int) -> Enclosure:
        """P(candidate `index` has the highest noisy score), ties broken evenly."""
        own, low, high = gaps[index], 0, 0
        for noise in range(-self.reach, self.reach + 1):
            value = noise - own
            lows, highs = [1 << self.work], [1 << self.work]  # P(k rivals tie, none is above)
            for j, gap in enumerate(gaps):
                if j != index:
                    below, here = self.below(value + gap), self.at(value + gap)
                    lows = _add_rival(lows, below[0], here[0], self.work, up=False)
                    highs = _add_rival(highs, below[1], here[1], self.work, up=True)
            lo, hi = self.at(noise)
            low += lo * sum(p // (k + 1) for k, p in enumerate(lows)) >> self.work
            high += -(-hi * sum(-(-p // (k + 1)) for k, p in enumerate(highs)) >> self.work)
        return self._cut(low, high)

    def transcript(
        self, gaps: Sequence[int], above: Sequence[bool], queries: "LaplaceProbabilities"
    ) -> Enclosure:
        """P(the queries are answered as `above` says); self is the threshold's noise.

        `gaps` are how far the queries lie above the threshold. A query is above if its own
        noise is at least the threshold's noise minus its gap.
        """
        low = high = 0
        for noise in range(-self.reach, self.reach + 1):
            lo, hi = self.at(noise)
            for gap, is_above in zip(gaps, above, strict=True):
                tail = queries.at_least(noise - gap) if is_above else queries.below(noise - gap)
                lo, hi = lo * tail[0] >> queries.work, -(-hi * tail[1] >> queries.work)
            low, high = low + lo, high + hi
        return self._cut(low, high)

    def _cut(self, low: int, high: int) -> Enclosure:
        """Rounds to scale 2**bits, and adds to the upper end what lies beyond the reach."""
        _, beyond = self.at_least(self.reach + 1)
        shift = self.work - self.bits
        return low >> shift, min(-(-(high + 2 * beyond) >> shift), 1 << self.bits)


@lru_cache(maxsize=16)
def laplace_probabilities(scale: Fraction, bits: int) -> LaplaceProbabilities:
    """Those of a scale, with what was enclosed before."""
    return LaplaceProbabilities(scale, bits)


def _add_rival(law: list[int], below: int, here: int, work: int, *, up: bool) -> list[int]:
    fresh = [
        stay * below + come * here for stay, come in zip([*law, 0], [0, *law], strict=True)
    ]
    return [-(-p >> work) if up else p >> work for p in fresh]


def cumulative(z: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """P(Z <= z) as a float, for whole z.

    >>> cumulative(np.array([-1.0, 0.0]), 1.0).round(6).tolist()
    [0.268941, 0.731059]
    """
    a = math.exp(-1 / scale)
    tail = np.exp(-np.where(z >= 0, z + 1, -z) / scale) / (1 + a)
    return np.asarray(np.where(z >= 0, 1 - tail, tail), dtype=np.float64)
