"""`Piecewise` or `Duchi` (one bit), chosen by a public coin that does not depend on the answer.

Both cost `odds`, and the choice says nothing about the answer, so the mixture costs `odds` too.
With a share 1 - 1 / sqrt(odds) of piecewise reports the variance hardly depends on the answer.
Below epsilon 0.61 only the one bit is used, which is best there. Wang et al., "Collecting and
analyzing multidimensional data with local differential privacy", 2019.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable.exact import bernoulli
from deniable.exact.bits import BitSource
from deniable.exact.rationals import Number
from deniable.mechanisms.local.numbers.duchi import Duchi
from deniable.mechanisms.local.numbers.piecewise import Piecewise
from deniable.mechanisms.local.numbers.unbiased_mean import UnbiasedMean

_ONLY_BITS_BELOW = Fraction(6094, 10_000)  # epsilon
_PARTS = 1024


@dataclass(frozen=True, slots=True, init=False)
class Hybrid(UnbiasedMean):
    """One whole number per person; for most epsilons the best of the three for means.

    >>> design = Hybrid(epsilon=2, low=0, high=100)
    >>> mean = design.estimate(design.randomize([40] * 20_000), confidence=1 - 1e-9)
    >>> mean.interval[0] < 40 < mean.interval[1]
    True
    """

    odds: Fraction
    low: Fraction
    high: Fraction
    step: Fraction

    @property
    def piecewise(self) -> Piecewise:
        """The piecewise part; its reports have the lower numbers."""
        return _piecewise(self.odds, self.low, self.high, self.step)

    @property
    def duchi(self) -> Duchi:
        """The one-bit part; its two reports have the highest numbers."""
        return Duchi(odds=self.odds, low=self.low, high=self.high, step=self.step)

    @property
    def share(self) -> Fraction:
        """The probability that a report is a piecewise one."""
        if math.log(self.odds) <= _ONLY_BITS_BELOW:
            return Fraction(0)
        return 1 - Fraction(round(_PARTS / math.sqrt(self.odds)), _PARTS)

    @property
    def outputs(self) -> int:
        """How many different reports there are."""
        return self.piecewise.outputs + 2

    def _probability(self, report: int, place: int) -> Fraction:
        piecewise_outputs = self.piecewise.outputs
        if report < piecewise_outputs:
            return self.share * self.piecewise._probability(report, place)
        return (1 - self.share) * self.duchi._probability(report - piecewise_outputs, place)

    def _randomize(self, places: NDArray[np.int64], source: BitSource) -> NDArray[np.int64]:
        which = bernoulli(self.share, places.size, source=source)
        bits = self.piecewise.outputs + self.duchi._randomize(places, source)
        return np.where(which, self.piecewise._randomize(places, source), bits)

    def readings(self) -> NDArray[np.float64]:
        """The number that each report stands for; its mean is the true answer.

        >>> readings = Hybrid(odds=3, low=0, high=1).readings()
        >>> [round(float(end), 9) for end in readings[-2:]]
        [-0.5, 1.5]
        """
        return np.concatenate([self.piecewise.readings(), self.duchi.readings()])

    def variance(self, value: Number, *, respondents: int) -> float:
        """The variance of the unbiased mean, from the coins only, if all people have `value`.

        >>> fine = Hybrid(epsilon=1, low=-1, high=1, step=Fraction(1, 1000))
        >>> round(fine.variance(0, respondents=1), 2), round(fine.variance(1, respondents=1), 2)
        (4.29, 4.29)
        """
        share = float(self.share)
        return share * self.piecewise.variance(value, respondents=respondents) + (
            1 - share
        ) * self.duchi.variance(value, respondents=respondents)


@lru_cache(maxsize=64)
def _piecewise(odds: Fraction, low: Fraction, high: Fraction, step: Fraction) -> Piecewise:
    return Piecewise(odds=odds, low=low, high=high, step=step)
