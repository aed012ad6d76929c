"""Shuffled yes/no reports: the exact delta, for any number of reports.

The reports are equivalent to their count of "yes". Let p be the probability of the true answer,
q = 1 - p, X the others' count of "yes", f its distribution and F(t) = P(X >= t). A person who
says "yes" with probability p instead of q gives
delta(x) = max over t of (p - e**x q) f(t - 1) - (e**x - 1) F(t),
for the worst number of true "yes" among the others. The best t is where f(t - 1) / f(t) exceeds
c = 1 + (e**x - 1) / (p - e**x q) for the first time (f is log-concave), so it follows the mode
of h(k) = f(k) c**k / E(c**X). This is again the distribution of a sum of independent answers,
whose mode and mean differ by less than 1 (Darroch 1964). So four places are enough, and there
h and the sum over j >= 0 of c**-j h(t + j) are inverted from the characteristic function of h,
at the few frequencies where it is not negligible.

Every number of true "yes" is tried if the reports are few. Otherwise they are tried in blocks:
the reports of some others are left out, so that the rest is the same for the whole block. To
leave reports out reveals more, because those who leave none out can add them (they are
independent), so this is an upper bound. A block leaves out 1 of 1024 reports, which makes
epsilon about half a thousandth too large.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.privacy.arithmetic.dominating_pairs import Floats

LARGEST_EXACT = 1024  # up to this many reports, each number of true "yes" is tried
_BLOCKS = 1024
_STEPS = np.arange(-1, 3)  # from the mean of h to the places that are tried
_TOGETHER = 64  # rows whose frequencies are the same
_ROUNDING = 1e-10  # relative, of sums of a few hundred terms
_FAR = 46.0  # e**-46 is 1e-20
_MOST = 3e4  # at most about that many frequencies
_CLOSE = 2.0**-40


@dataclass(frozen=True)
class YesCounts:
    """The others' counts of "yes" among this many reports; `odds` are those of one report."""

    reports: int
    odds: float

    @cached_property
    def block(self) -> int:
        """How many of the others are left out."""
        return 0 if self.reports <= LARGEST_EXACT else self.reports // _BLOCKS

    @cached_property
    def true(self) -> NDArray[np.int64]:
        """The least number of true "yes" among the others, for each block."""
        last = self.reports - 1 - self.block
        return np.unique(np.append(np.arange(0, last + 1, self.block + 1), last))

    def deltas(self, epsilon: float, rows: Any = slice(None)) -> Floats:
        """The delta of each block, rounded up."""
        others = self.reports - 1 - self.block
        return count_deltas(others, self.true[rows], self.odds, epsilon, 1)

    def delta(self, epsilon: float) -> float:
        return float(self.deltas(epsilon).max())

    def epsilon(self, delta: float, most: float) -> float:
        """The least epsilon for all blocks: starts with two, adds those that need more."""
        rows, goal = [0, len(self.true) - 1], delta
        while True:
            epsilon = least_epsilon(lambda x: float(self.deltas(x, rows).max()), goal, most)
            every = self.deltas(epsilon)
            if float(every.max()) <= delta:
                return epsilon
            worst = int(every.argmax())
            if worst in rows:  # beside other rows it was rounded up a little more
                goal *= 1 - 1e-8
            else:
                rows.append(worst)

    def epsilon_below(self, delta: float, most: float) -> float:
        """A lower bound on the least epsilon, from the blocks that need most at `most`."""
        first = self.true[np.argsort(self.deltas(most))[-2:]]
        worst = np.append(first, first + self.block)  # the ends of these blocks

        def below(epsilon: float) -> float:
            return float(count_deltas(self.reports - 1, worst, self.odds, epsilon, -1).max())

        return least_epsilon(below, delta, most)


@lru_cache(maxsize=4)
def yes_counts(reports: int, odds: float) -> YesCounts:
    """`YesCounts(reports, odds)`, cached."""
    return YesCounts(reports, odds)


def least_epsilon(function: Any, delta: float, high: float) -> float:
    """An epsilon with function(epsilon) <= delta, about the least."""
    low = 0.0
    if function(0.0) <= delta:
        return 0.0
    while high - low > _CLOSE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if function(middle) <= delta else (middle, high)
    return high


def count_deltas(
    others: int, true: NDArray[np.int64], odds: float, epsilon: float, sign: int
) -> Floats:
    """The delta at `epsilon` if `true` of the `others` mean "yes", for each entry; rounded up
    if `sign` is 1, down if it is -1.

    >>> count_deltas(1, np.array([0, 1]), 3.0, 0.5, 1).round(6).tolist()
    [0.091184, 0.253365]
    """
    lie = 1 / (1 + odds)
    gain = (1 - lie - math.exp(epsilon) * lie) * (1 + sign * _ROUNDING)
    if gain <= 0:
        return np.zeros(len(true))
    return _deltas(others, true.astype(np.float64), lie, gain, math.expm1(epsilon), sign)


def _deltas(
    others: int, true: Floats, lie: float, gain: float, cost: float, sign: int
) -> Floats:
    tilt, chances = math.log1p(cost / gain), np.array([1 - lie, lie])
    tilted = chances / (chances + (1 - chances) * math.exp(-tilt))  # under h
    counts = np.column_stack([true, others - true])
    variance = counts @ (tilted * (1 - tilted))
    if len(true) > _TOGETHER or float(variance.max()) > 4 * float(variance.min()) + 1000:
        halves = np.array_split(true, 2)
        return np.concatenate([_deltas(others, half, lie, gain, cost, sign) for half in halves])
    log_scale = counts @ np.log1p(chances * (cost / gain))  # ln E(c**X)
    base = np.floor(counts @ tilted)
    log = log_scale - tilt * base  # f(k) = h(k) e**log at k = base
    grid = _Frequencies.covering(variance, tilt, float(-log.min()))
    spectrum = grid.transform(counts, tilted, base)
    slip = _ROUNDING + 1e-15 * (log_scale + tilt * base + others * float(grid.omega[-1]))
    h, tail = grid.invert(spectrum, tilt if cost else math.inf)
    slip, log = slip[:, None], log[:, None]
    tail = tail - sign * (slip * tail + grid.images(tilt, -log))
    excess = gain * h * (1 + sign * slip) - cost * math.exp(-tilt) * np.maximum(tail, 0.0)
    size = np.exp(np.clip(log - tilt * _STEPS, -740.0, 700.0))
    return np.asarray(np.maximum((size * excess).max(axis=1), 0.0))


@dataclass(frozen=True)
class _Frequencies:
    """Frequencies 2 pi j / length, up to where a characteristic function is negligible.

    The sum over them gives the sum of h over all places that differ by multiples of `length`.
    """

    length: int
    omega: Floats

    @classmethod
    def covering(cls, variance: Floats, tilt: float, log: float) -> "_Frequencies":
        """The function is at most exp(-2 variance sin(omega / 2)**2). Ten standard deviations
        and 50 places away h is below e**-50 (Bernstein)."""
        least, most = float(variance.min()), float(variance.max())
        length = 20 * math.sqrt(most) + 100
        edge = math.sqrt(_FAR / 2 / least) if 2 * least > _FAR else 1.0
        cut = 2 * math.asin(edge)
        if tilt > 0:  # until the images of the tail are negligible
            length = min(
                max(length, (_FAR + min(max(log, 0.0), 745.0)) / tilt), _MOST / cut + length
            )
        whole = math.ceil(length)
        last = min(whole // 2, math.ceil(cut * whole / (2 * math.pi)))
        return cls(whole, np.arange(last + 1) * (2 * math.pi / whole))

    def transform(self, counts: Floats, chances: Floats, base: Floats) -> NDArray[Any]:
        """The characteristic functions of the sums less `base`, and the weight of each
        frequency."""
        square = np.sin(self.omega / 2) ** 2
        size = 0.5 * np.log1p(-4 * (chances * (1 - chances))[:, None] * square)
        turn = np.arctan2(
            chances[:, None] * np.sin(self.omega), 1 - 2 * chances[:, None] * square
        )
        phase = counts @ turn - base[:, None] * self.omega
        weight = np.full(len(self.omega), 2.0 / self.length)
        weight[0] = 1.0 / self.length
        if 2 * (len(self.omega) - 1) == self.length:
            weight[-1] = 1.0 / self.length
        return np.asarray(weight * np.exp(counts @ size + 1j * phase))

    def invert(self, spectrum: NDArray[Any], tilt: float) -> tuple[Floats, Floats]:
        """h(k), and the sum over j >= 0 of e**(-tilt j) h(k + 1 + j), for each place k."""
        turn = np.exp(-1j * self.omega)
        here = np.exp(-1j * self.omega[:, None] * _STEPS)
        beyond = here * (turn / (1 - math.exp(-tilt) * turn))[:, None]
        both = (spectrum @ np.hstack([here, beyond])).real
        return both[:, : len(_STEPS)], both[:, len(_STEPS) :]

    def images(self, tilt: float, log: Floats) -> Floats:
        """An upper bound on what the images add to the tail: the sum over r >= 1 of
        e**(-tilt length r), if P(X >= 0) = 1."""
        if tilt == 0:
            return np.zeros_like(log)
        size = np.exp(np.clip(log - tilt * (self.length - 3), -740.0, 700.0))
        return size / -math.expm1(-tilt * self.length)
