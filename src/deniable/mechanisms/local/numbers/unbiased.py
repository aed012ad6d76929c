"""Means from reports that each stand for a number, right on average."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.exact.rationals import Number
from deniable.mechanisms.local.estimate import Estimate, about_mean, level_of
from deniable.mechanisms.local.numbers.numeric import NumericDesign
from deniable.mechanisms.local.tally import Tally


class Unbiased(NumericDesign):
    """Subclasses give `readings`."""

    __slots__ = ()

    @abstractmethod
    def readings(self) -> NDArray[np.float64]:
        """What each report stands for: unbiased for the answer behind it."""

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
        return about_mean(self.readings(), tally, level_of(confidence), *ends)
