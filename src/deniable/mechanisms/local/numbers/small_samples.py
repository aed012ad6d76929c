"""Intervals for the mean of few people's numbers, from the distribution of their reports.

With ten people a normal interval fails: reports are far from normal, and their own spread says
little about their variance. But the distribution of reports is known for every answer. A mean m
belongs to the interval if the mean of the readings is not too extreme for m, either way. What
is extreme depends on the people: all of them may have the answer m, or some have the lowest
answer and all others the highest, which spreads the readings most. The larger probability of
the two is used. Other mixtures lie between these in spread, so the interval is nearly but not
provably exact for them.

The readings are put into cells, and the distribution of their sum is a power of the transform.
Rounding is covered: the mean counts as less extreme by two standard errors of the rounding.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

MOST_PEOPLE = 100  # with more people, the normal interval holds
_CELLS = 256  # from the lowest reading to the highest
_HALVINGS = 12


@dataclass(frozen=True, slots=True)
class FewReports:
    """The mean reading of a few reports. `laws(t)` gives the probabilities of all reports for
    an answer at share t of the way from the lowest to the highest."""

    readings: Floats
    laws: Callable[[float], Floats]
    people: int
    mean: float

    def interval(self, confidence: float) -> tuple[float, float]:
        """Both ends, as shares of the way from the lowest answer to the highest. The first is
        above the second if the mean is too extreme for every answer.

        >>> coin = FewReports(np.array([-0.5, 1.5]), _coin, 4, 0.5)
        >>> [round(end, 2) for end in coin.interval(0.5)]
        [0.02, 0.98]
        """
        allowed = (1 - confidence) / 2
        lower = self._first(lambda t: self._tail(t, above=True) > allowed)
        upper = 1 - self._first(lambda t: self._tail(1 - t, above=False) > allowed)
        return lower, upper

    def _first(self, holds: Callable[[float], bool]) -> float:
        """The least share at which a condition holds, rounded down; above 1 if nowhere."""
        if holds(0.0):
            return 0.0
        if not holds(1.0):
            return math.nextafter(1.0, 2.0)
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if holds(middle) else (middle, high)
        return low

    def _tail(self, share: float, *, above: bool) -> float:
        """The larger probability of a mean this extreme, if the true one is `share`."""
        apart = (1 - share) * self.laws(0.0) + share * self.laws(1.0)
        return max(self._probability(law, above=above) for law in (self.laws(share), apart))

    def _probability(self, law: Floats, *, above: bool) -> float:
        least, most = float(self.readings.min()), float(self.readings.max())
        place = (self.readings - least) / (most - least) * (_CELLS - 1)
        length = 1 << (self.people * _CELLS - 1).bit_length()
        below = np.floor(place).astype(np.intp)
        part = place - below
        weights = np.bincount(below, law * (1 - part), minlength=_CELLS + 1)
        weights += np.bincount(below + 1, law * part, minlength=_CELLS + 1)
        total = np.fft.irfft(np.fft.rfft(weights, length) ** self.people, length)
        at = (self.mean - least) / (most - least) * (_CELLS - 1) * self.people
        slack = math.sqrt(self.people)
        if above:
            return float(total[max(0, math.floor(at - slack)) :].sum())
        return float(total[: max(0, math.ceil(at + slack) + 1)].sum())


def _coin(share: float) -> Floats:
    """One bit at odds 3."""
    return np.array([0.75 - share / 2, 0.25 + share / 2])
