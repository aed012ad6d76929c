"""The square wave: whole distributions of numbers, by maximum likelihood.

Reports within a distance b of the answer are `odds` times as likely as others. b is chosen so
that a report says most about the answer: b = (e x - e + 1) / (2 e (e - 1 - x)) of the range,
with e = odds, x = ln(odds): Li et al., "Estimating numerical distributions under local
differential privacy", 2020. Here answers and reports are whole numbers: see `moving_window`.
The distribution comes from expectation and maximisation through the exact channel. Neighbouring
steps are averaged (1, 2, 1) after each round, because numbers near each other are about equally
frequent. The mean report is a straight line in the answer, as in `Piecewise`, so `estimate`
gives the mean without bias. If only the mean is needed, `Hybrid` has less noise.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.errors import InvalidParameter
from deniable.mechanisms.local.maximum_likelihood import expectation_maximisation
from deniable.mechanisms.local.numbers.moving_window import MovingWindow
from deniable.mechanisms.local.tally import Tally

_MOST_STEPS = 4096


@dataclass(frozen=True, slots=True, init=False)
class SquareWave(MovingWindow):
    """One whole number per person; gives the share of every step from `low` to `high`.

    >>> design = SquareWave(epsilon=2, low=0, high=20)
    >>> shares = design.distribution(design.randomize([5] * 3000 + [15] * 1000))
    >>> len(shares), round(sum(shares), 6), sum(shares[:11]) > 0.6
    (21, 1.0, True)
    >>> mean = design.estimate(design.randomize([5] * 20_000), confidence=1 - 1e-9)
    >>> mean.interval[0] < 5 < mean.interval[1]
    True
    """

    odds: Fraction
    low: Fraction
    high: Fraction
    step: Fraction

    def _window_for(self, span: int) -> int:
        e, x = float(self.odds), math.log(self.odds)
        half = (e * x - e + 1) / (2 * e * (e - 1 - x)) if x > 1e-4 else 0.5
        return max(1, round(2 * half * span))

    def distribution(
        self, responses: Any = None, *, counts: Tally | None = None, smooth: bool = True
    ) -> tuple[float, ...]:
        """The share of each step, by smoothed expectation and maximisation."""
        if self.steps > _MOST_STEPS:
            raise InvalidParameter(
                f"A distribution may have at most {_MOST_STEPS:,} steps. Found {self.steps:,}: "
                "choose a larger `step`."
            )
        tally = self._tally(responses, counts)
        reports, places = np.arange(self.outputs), np.arange(self.steps + 1)
        offset = reports[:, None] - places * self.shift
        inside = (offset >= 0) & (offset < self.window_size)
        channel = np.where(inside, float(self.odds / self.total), float(1 / self.total))
        shares = expectation_maximisation(
            [(channel, np.array(tally.counts, dtype=float))],
            smooth=smooth,
            rounds=10_000,
            still=1e-3 / tally.respondents,
        )
        return tuple(shares.tolist())

    def mean(self, shares: Sequence[float]) -> float:
        """The mean of a distribution over the steps.

        >>> SquareWave(epsilon=1, low=0, high=2).mean([0.5, 0.0, 0.5])
        1.0
        """
        return self._from_places(float(np.arange(self.steps + 1) @ np.asarray(shares)))
