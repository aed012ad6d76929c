"""Which arm to pull next, and how often, given noisy means: post-processing of those.

A strategy asks for batches: pull one arm that many times. It then gets the noisy mean of
exactly these rewards, on a scale from 0 to 1, and nothing else. Every reward is in one batch.
"""

import math
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol


class PullBatch(NamedTuple):
    """Pull this arm that many times; None: without end, and no mean is needed any more."""

    arm: int
    pulls: int | None


class Strategy(Protocol):
    """How batches follow from noisy means. `rate` is epsilon for one reward; None: no noise."""

    def next(self) -> PullBatch:
        """The next batch."""

    def record(self, mean: float) -> None:
        """The noisy mean of the batch."""


@dataclass(slots=True)
class Elimination:
    """Successive elimination: all arms equally often, and bad ones fall at the end of an epoch.

    In epoch e each arm that is left is pulled R times, so that all noisy means are within h + c
    of the true ones, with probability at least 1 - `mistake` in all epochs together: h is
    Hoeffding's, c the noise's. An arm falls if it is 2 h + 2 c below the best. The best arm
    then never falls, and an arm with a gap above 2**-e does (Sajed & Sheffet 2019).

    >>> Elimination(2, rate=1.0, mistake=1e-6).epoch_pulls(1, arms=2)
    2124
    """

    arms: int
    rate: float | None
    mistake: float
    epoch: int = 0
    left: list[int] = field(default_factory=list)
    _means: dict[int, float] = field(default_factory=dict)
    _waiting: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.left = list(range(self.arms))

    def epoch_pulls(self, epoch: int, arms: int) -> int:
        """How often each arm is pulled in an epoch that begins with that many."""
        wide, narrow = self._logs(epoch, arms)
        pulls = 32 * wide * 4.0**epoch
        if self.rate is not None:
            pulls = max(pulls, 8 * narrow * 2.0**epoch / self.rate)
        return int(pulls) + 1

    def most_pulls(self, gap: float) -> int:
        """How often an arm with this gap is pulled at most, if all means are good: it falls in
        the first epoch e with 2**-e below its gap."""
        last = next(epoch for epoch in range(1, 1100) if 2.0**-epoch < gap)
        return sum(self.epoch_pulls(epoch, self.arms) for epoch in range(1, last + 1))

    def _logs(self, epoch: int, arms: int) -> tuple[float, float]:
        share = arms * epoch * epoch / self.mistake
        return math.log(8 * share), math.log(4 * share)

    def next(self) -> PullBatch:
        """The next arm of the epoch; the last arm without end."""
        if len(self.left) == 1:
            return PullBatch(self.left[0], None)
        if not self._waiting:
            self.epoch += 1
            self._waiting, self._means = list(self.left), {}
        return PullBatch(self._waiting[0], self.epoch_pulls(self.epoch, len(self.left)))

    def record(self, mean: float) -> None:
        """Keeps a mean; after the epoch's last one, bad arms fall."""
        self._means[self._waiting.pop(0)] = mean
        if self._waiting:
            return
        wide, narrow = self._logs(self.epoch, len(self.left))
        pulls = self.epoch_pulls(self.epoch, len(self.left))
        reach = 2 * math.sqrt(wide / (2 * pulls))
        if self.rate is not None:
            reach += 2 * narrow / (pulls * self.rate)
        best = max(self._means.values())
        self.left = [arm for arm in self.left if self._means[arm] >= best - reach]


@dataclass(slots=True)
class Episodes:
    """KL-UCB in episodes: the most promising arm is pulled as often as in all its past.

    Its mean is that of its last episode alone. The index of an arm is the largest mean that is
    still credible: the noise may have hidden ln(t) / (rate n), and chance a divergence of
    ln(t) / n, both times `caution` (Azize & Basu 2022, who prove an optimal rate for a caution
    above 3; 1 did better in every simulation of ours).

    >>> strategy = Episodes(2, rate=1.0)
    >>> strategy.next(), strategy.next()
    (PullBatch(arm=0, pulls=1), PullBatch(arm=0, pulls=1))
    """

    arms: int
    rate: float | None
    caution: float = 1.0
    time: int = 0
    pulled: list[int] = field(default_factory=list)  # by arm, in all
    _last: list[tuple[int, float]] = field(default_factory=list)  # by arm: pulls and mean
    _batch: PullBatch | None = None

    def __post_init__(self) -> None:
        self.pulled, self._last = [0] * self.arms, [(0, 0.0)] * self.arms

    def next(self) -> PullBatch:
        """The arm with the largest index, for a new episode."""
        if self._batch is None:
            arm = min(range(self.arms), key=lambda arm: self.pulled[arm] > 0)
            if self.pulled[arm]:
                arm = max(range(self.arms), key=self._index)
            self._batch = PullBatch(arm, max(1, self.pulled[arm]))
        return self._batch

    def record(self, mean: float) -> None:
        """Ends the episode: its mean takes the place of the arm's last one."""
        batch = self.next()
        pulls = batch.pulls or 0
        self._last[batch.arm] = pulls, mean
        self.pulled[batch.arm] += pulls
        self.time, self._batch = self.time + pulls, None

    def _index(self, arm: int) -> float:
        pulls, mean = self._last[arm]
        log = self.caution * math.log(self.time + 1)
        hidden = 0.0 if self.rate is None else log / (self.rate * pulls)
        return largest_mean(mean + hidden, log / pulls)


def largest_mean(mean: float, divergence: float) -> float:
    """The largest q from `mean` to 1 whose divergence from `mean` is at most this.

    >>> round(largest_mean(0.5, 0.02), 3), largest_mean(1.3, 0.1)
    (0.599, 1.0)
    """
    low = min(max(mean, 0.0), 1.0)
    start, high = low, 1.0
    for _ in range(48):
        middle = (low + high) / 2
        if bernoulli_divergence(start, middle) <= divergence:
            low = middle
        else:
            high = middle
    return high if high == 1.0 and start == 1.0 else low


def bernoulli_divergence(p: float, q: float) -> float:
    """The Kullback-Leibler divergence of two coins.

    >>> round(bernoulli_divergence(0.7, 0.75), 5)
    0.0064
    """
    if p == q:
        return 0.0
    if not 0 < q < 1:
        return math.inf
    ones = p * math.log(p / q) if p else 0.0
    zeros = (1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0
    return ones + zeros
