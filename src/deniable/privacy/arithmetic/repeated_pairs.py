"""A pair with two losses, repeated: the exact law of its sum, which is binomial.

A sum of n losses that are put on a grid one by one is moved n times. The sum of n coins has
only n + 1 values, so it is put on the grid as a whole, and is moved once.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from deniable.privacy.arithmetic.dominating_pairs import (
    CountedPairs,
    DiscretePair,
    Floats,
    HashedPairs,
    Pair,
)
from deniable.privacy.arithmetic.floats import UNIT

_EXPONENT = 92.0  # values with a probability below about e**-92 are left out
_LEAST = 1e-290  # of the two probabilities
_MOST = 1 << 18  # values; a law with more is not computed


@dataclass(frozen=True)
class BinomialLaw:
    """The losses of a sum, in increasing order, with their probabilities under P."""

    losses: Floats
    weights: Floats
    infinite: float  # the probability of greater losses
    raised: float  # the probability of smaller losses; it is added to the first weight
    error: float  # the relative error of the weights


@dataclass(frozen=True)
class RepeatedPair:
    """`times` pairs `each`, which has two losses and no others."""

    each: DiscretePair
    times: int

    @property
    def reach(self) -> float:
        """The greatest absolute value that the sum may have."""
        return self.times * max(map(abs, self.each.losses))

    @cached_property
    def law(self) -> BinomialLaw:
        """The law of the sum, relative to its most likely value.

        With j greater losses, neighbouring probabilities have the ratio
        (n - j) / (j + 1) odds. Each weight is a product of at most `steps` ratios. Their
        relative errors are at most 1550 units each, since both probabilities come from e**x
        with |x| < 746, which has an error of at most 760 units if x has one of a unit. All are
        divided by their sum, which is 1 without errors and without the values that are left
        out. Far from the mode the ratios only fall, so a geometric series bounds those.
        """
        n, (low, high), (rest, share) = self.times, self.each.losses, self.each.weights
        odds = share / rest
        mode = min(math.floor((n + 1) * (share / (rest + share))), n)
        steps = _reach(n, share / (rest + share))
        up = np.arange(mode, min(mode + steps, n) + 1, dtype=np.float64)
        down = np.arange(mode, max(mode - steps, 0) - 1, -1, dtype=np.float64)
        rising, falling = (n - up) / (up + 1) * odds, down / ((n - down + 1) * odds)
        above, below = np.cumprod(rising), np.cumprod(falling)  # the last is left out
        values = np.concatenate([below[-2::-1], [1.0], above[:-1]])
        total = float(values.sum())
        error = (3100 * steps + 64) * UNIT
        beyond = _geometric_series(above[-1], rising[-1]) * (1 + error)
        under = _geometric_series(below[-1], falling[-1]) * (1 + error)
        weights = values / total
        weights[0] += under
        count = np.arange(down[-1], up[-1] + 1)
        losses = count * high + (n - count) * low
        return BinomialLaw(losses, weights, beyond, under, error)


GridPair: TypeAlias = Pair | RepeatedPair
GridPairs: TypeAlias = tuple[tuple[GridPair, int], ...]  # how often each pair occurs


def repeat_coins(pairs: CountedPairs) -> GridPairs:
    """The pairs; each that has two losses, together with its repetitions, as one."""
    return HashedPairs(_repeat(pair, times) for pair, times in pairs)


def _repeat(pair: Pair, times: int) -> tuple[GridPair, int]:
    if not isinstance(pair, DiscretePair) or len(pair.losses) != 2 or times == 1:
        return pair, times
    if pair.infinite or pair.lost or min(pair.weights) < _LEAST:
        return pair, times
    if 2 * _reach(times, pair.weights[1]) > _MOST:
        return pair, times
    return RepeatedPair(pair, times), 1


def _reach(times: int, share: float) -> int:
    """How far from the mode a value is that has a probability of about e**-92 (Bernstein)."""
    third = _EXPONENT / 3
    return math.ceil(third + math.sqrt(third**2 + 2 * _EXPONENT * times * share * (1 - share)))


def _geometric_series(first: float, ratio: float) -> float:
    """An upper bound on the sum of a series whose ratios do not grow, by the first value that
    is left out. It is relative to the greatest value, so it is at most that much of all."""
    if first == 0:
        return 0.0
    return first / (1 - ratio) if ratio < 1 - 1e-9 else 1.0
