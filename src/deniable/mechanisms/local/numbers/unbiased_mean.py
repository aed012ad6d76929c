"""Means from reports that each stand for a number that is unbiased for the answer."""

import math
from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.exact.rationals import Number, confidence_level
from deniable.mechanisms.local.estimate import Estimate, estimate_mean
from deniable.mechanisms.local.few_people import careful_quantile, careful_variance
from deniable.mechanisms.local.numbers.numeric_design import NumericDesign
from deniable.mechanisms.local.tally import Tally


class UnbiasedMean(NumericDesign):
    """Subclasses define `readings` and `variance`."""

    __slots__ = ()

    @abstractmethod
    def readings(self) -> NDArray[np.float64]:
        """The number that each report stands for; its mean is the true answer."""

    def estimate(
        self,
        responses: Any = None,
        *,
        counts: Tally | None = None,
        confidence: Number = 0.95,
    ) -> Estimate:
        """The mean, with a normal interval for that of the population, widened for few
        people."""
        tally, level = self._tally(responses, counts), confidence_level(confidence)
        ends = float(self.low), float(self.high)
        return self._with_careful_interval(estimate_mean(self.readings(), tally, level, *ends))

    def _with_careful_interval(self, normal: Estimate) -> Estimate:
        """With a variance that is not below that of the coins if all people had the mean."""
        n, low, high = normal.respondents, float(self.low), float(self.high)
        place = round((normal.value - low) / (high - low) * self.steps)
        coins = self.variance(self.low + place * self.step, respondents=n)
        variance = max(normal.standard_error**2, coins) / (high - low) ** 2
        share = (normal.raw - low) / (high - low)
        half = careful_quantile(n, normal.confidence) * (high - low)
        half *= math.sqrt(careful_variance(variance, share, n))
        consistent = normal.raw + half >= low and normal.raw - half <= high
        ends = max(normal.raw - half, low), min(normal.raw + half, high)
        return replace(
            normal,
            interval=ends if consistent else (math.nan, math.nan),
            consistent=consistent,
        )

    @abstractmethod
    def variance(self, value: Number, *, respondents: int) -> float:
        """The variance of the mean, from the coins only, if all people have `value`."""
