"""The mean of numbers from one bit each.

An answer at share x of the way from `low` to `high` sends 1 with probability
(1 + (odds - 1) x) / (odds + 1). This is between 1 and `odds` parts in odds + 1, so the loss is
`odds`. It is drawn with coins: with probability (odds - 1) / (odds + 1) send a 1 with
probability x, else flip a fair coin. Duchi, Jordan & Wainwright, "Minimax optimal procedures
for locally private estimation", 2018. Best for a small epsilon.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.exact import bernoulli, uniform_below
from deniable.exact.bits import BitSource
from deniable.exact.rationals import Number, confidence_level, rational, whole
from deniable.mechanisms.local.estimate import Estimate, estimate_share
from deniable.mechanisms.local.numbers.numeric_design import NumericDesign
from deniable.mechanisms.local.tally import Tally

_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True, init=False)
class Duchi(NumericDesign):
    """One bit per person about a number from `low` to `high`, rounded to `step`.

    >>> design = Duchi(epsilon=1, low=0, high=100)
    >>> set(design.randomize([37] * 500).tolist())
    {0, 1}
    """

    odds: Fraction
    low: Fraction
    high: Fraction
    step: Fraction

    @property
    def outputs(self) -> int:
        """Two: 0 and 1."""
        return 2

    def _probability(self, report: int, place: int) -> Fraction:
        rate = (1 + (self.odds - 1) * Fraction(place, self.steps)) / (self.odds + 1)
        return rate if report else 1 - rate

    def _randomize(self, places: NDArray[np.int64], source: BitSource) -> NDArray[np.int64]:
        n = places.size
        truthful = bernoulli((self.odds - 1) / (self.odds + 1), n, source=source)
        up = uniform_below(self.steps, n, source=source) < places
        bit = np.where(truthful, up, bernoulli(_HALF, n, source=source))
        return bit.astype(np.int64)

    def readings(self) -> NDArray[np.float64]:
        """The number that each report stands for; its mean is the true answer.

        >>> Duchi(odds=3, low=0, high=1).readings().tolist()
        [-0.5, 1.5]
        """
        far = (self.high - self.low) * (self.odds + 1) / (self.odds - 1) / 2
        middle = (self.high + self.low) / 2
        return np.array([float(middle - far), float(middle + far)])

    def estimate(
        self,
        responses: Any = None,
        *,
        counts: Tally | None = None,
        confidence: Number = 0.95,
    ) -> Estimate:
        """The mean, with an exact interval for that of the population.

        >>> design = Duchi(odds=3, low=0, high=100)
        >>> print(design.estimate([0] * 600 + [1] * 400))
        30.000 ± 6.224 (95 %: 23.894 to 36.224)
        """
        level = confidence_level(confidence)
        tally = self._tally(responses, counts)
        p, q = self.odds / (self.odds + 1), 1 / (self.odds + 1)
        part = estimate_share(tally[1], tally.respondents, p=p, q=q, confidence=level)
        ends = tuple(self._from_places(self.steps * end) for end in part.interval)
        return replace(
            part,
            value=self._from_places(self.steps * part.value),
            raw=self._from_places(self.steps * part.raw),
            standard_error=float(self.high - self.low) * part.standard_error,
            interval=(ends[0], ends[1]),
        )

    def variance(self, value: Number, *, respondents: int) -> float:
        """The variance of the unbiased mean, from the coins only, if all people have `value`.

        >>> round(Duchi(epsilon=1, low=-1, high=1).variance(0, respondents=1), 5)
        4.68269
        """
        x = (rational(value, "value") - self.low) / (self.high - self.low)
        rate = (1 + (self.odds - 1) * x) / (self.odds + 1)
        slope = (self.odds - 1) / (self.odds + 1)
        spread = rate * (1 - rate) * ((self.high - self.low) / slope) ** 2
        return float(spread / whole(respondents, "respondents"))
