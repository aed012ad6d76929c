"""Means from reports that each stand for a number that is unbiased for the answer."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.exact.rationals import Number, confidence_level
from deniable.mechanisms.local.estimate import Estimate, estimate_mean
from deniable.mechanisms.local.numbers.numeric_design import NumericDesign
from deniable.mechanisms.local.tally import Tally


class UnbiasedMean(NumericDesign):
    """Subclasses define `readings`."""

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
        """The mean, with a normal interval for that of the population."""
        tally = self._tally(responses, counts)
        ends = float(self.low), float(self.high)
        return estimate_mean(self.readings(), tally, confidence_level(confidence), *ends)
