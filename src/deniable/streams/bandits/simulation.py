"""Simulated bandits: how much reward they miss, with and without privacy."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, probability, whole
from deniable.streams.bandits.bandit import Bandit, make_strategy

_POINTS = 200  # of a curve


@dataclass(frozen=True, slots=True)
class SimulatedRegret:
    """The regret of several runs: what the best arm would have brought in addition."""

    times: NDArray[np.int64]
    curves: NDArray[np.float64]  # one row for each run, at these times

    @property
    def final(self) -> NDArray[np.float64]:
        """The regret of each run at the end."""
        return np.asarray(self.curves[:, -1])

    @property
    def mean(self) -> float:
        """The mean regret at the end."""
        return float(self.final.mean())

    @property
    def deviation(self) -> float:
        """The standard error of the mean regret at the end; infinite if there is one run."""
        if len(self.final) == 1:
            return math.inf
        return float(self.final.std(ddof=1) / len(self.final) ** 0.5)


def simulate_bandit(
    means: Sequence[Number],
    *,
    horizon: int,
    epsilon: Number | None,
    runs: int = 20,
    method: str = "episodes",
    seed: int = 0,
    seeded: bool = False,
) -> SimulatedRegret:
    """Runs a bandit on made-up rewards of 0 and 1 with these means; no epsilon: no noise.

    The rewards come from a seed. The noise is exact, as in `Bandit`; for pictures that are the
    same every time, `seeded` noise comes from the seed too.

    >>> regret = simulate_bandit([0.9, 0.1], horizon=1000, epsilon=1, runs=5)
    >>> regret.curves.shape[0], regret.mean < 400
    (5, True)
    """
    shares = [float(probability(mean, "means")) for mean in means]
    if len(shares) < 2:
        raise InvalidParameter("`means` are those of two arms or more.")
    steps, chance = whole(horizon, "horizon"), np.random.default_rng(seed)
    times = np.unique(np.linspace(0, steps, _POINTS + 1).astype(np.int64))
    draw: Callable[[], int] = _no_noise
    if epsilon is not None:
        noise = Bandit(len(shares), epsilon=epsilon, grid=1).noise
        scale = float(noise.scale)

        def draw() -> int:
            return round(chance.laplace(0, scale)) if seeded else int(noise.draw(1)[0])

    rate = None if epsilon is None else float(epsilon)
    curves = []
    for _ in range(whole(runs, "runs")):
        strategy = make_strategy(method, len(shares), rate, steps)
        curves.append(_run(strategy, shares, steps, times, draw, chance))
    return SimulatedRegret(times, np.array(curves))


def _no_noise() -> int:
    return 0


def _run(
    strategy: Any,
    shares: Sequence[float],
    horizon: int,
    times: NDArray[np.int64],
    draw: Callable[[], int],
    chance: np.random.Generator,
) -> NDArray[np.float64]:
    """The regret of one run. The rewards of a batch are added up at once."""
    best, at, regret = max(shares), 0, 0.0
    ends, sums = [0], [0.0]
    while at < horizon:
        batch = strategy.next()
        whole_batch = batch.pulls is not None and batch.pulls <= horizon - at
        pulls = batch.pulls if whole_batch else horizon - at
        at, regret = at + pulls, regret + pulls * (best - shares[batch.arm])
        ends.append(at)
        sums.append(regret)
        if whole_batch:
            added = int(chance.binomial(pulls, shares[batch.arm]))
            strategy.record((added + draw()) / pulls)
    return np.interp(times, ends, sums)
