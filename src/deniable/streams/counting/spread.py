"""How far an estimate lies from the truth: from the covariance of the noise, not by trial."""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from statistics import NormalDist

import numpy as np

from deniable.query.margins.noise_quantiles import LATTICE_STEP, spread_quantile

_SAFE = 1 + 1e-9  # covers the rounding of floats
_TABLE = 1.01  # the table of quantiles is right to a hundredth


@dataclass(frozen=True, slots=True)
class Spread:
    """The law of an error: its variance, its fourth cumulant (0: normal), and a fixed part.

    Rounded Gaussian noise is Gaussian noise plus at most a half. So a weighted sum of such
    noises is normal, plus at most half the sum of the absolute weights: that is `fixed`.

    >>> Spread(4.0).margin(Fraction(19, 20))
    3.91992797...
    """

    variance: float
    fourth: float = 0.0
    fixed: float = 0.0

    def __add__(self, other: "Spread") -> "Spread":
        """The law of the sum of two independent errors."""
        return Spread(
            self.variance + other.variance,
            self.fourth + other.fourth,
            self.fixed + other.fixed,
        )

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return sqrt(self.variance)

    def margin(self, confidence: Fraction) -> float:
        """The error is at most this, with that probability or more."""
        if not self.variance:
            return self.fixed
        if not self.fourth:
            far = NormalDist().inv_cdf(float((1 + confidence) / 2)) * self.deviation
            return far * _SAFE + self.fixed
        variance, fourth = np.array([self.variance]), np.array([self.fourth])
        far = float(spread_quantile(variance, fourth, confidence)[0])
        return far * _TABLE + LATTICE_STEP + self.fixed
