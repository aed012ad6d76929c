"""Intervals for ratios of sums of noisy counts (Fieller 1954).

Let N and T be sums of noisy cells, with known coefficients, and r the ratio of the exact sums.
Then N - r T is noise alone, with a variance that is known for every r. All r at which it is no
larger than noise would be form the interval: with Gaussian noise it holds exactly, however few
rows there are. Discrete Laplace noise has longer tails; a sum of several has shorter ones than
one alone, so the quantile of one is used.

With `rows_per_unit` the intervals are about the people that the rows were drawn from: every
cell varies by its own number of rows besides, times how many rows one unit may have.
"""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from deniable.errors import InvalidParameter

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ScoreReading:
    """A number from noisy counts, with the interval that contains the exact one.

    >>> print(ScoreReading(0.8512, 0.8391, 0.8633))
    0.851 (0.839 to 0.863)
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True, slots=True)
class NoiseLaw:
    """The noise on every cell: its standard deviation, and its kind."""

    deviation: float
    kind: str = "gaussian"
    rows_per_unit: int = 0  # 0: intervals are about the table, not about who it was drawn from

    def __post_init__(self) -> None:
        if self.kind not in ("gaussian", "laplace"):
            raise InvalidParameter(
                f'`kind` must be "gaussian" or "laplace". Found {self.kind!r}.'
            )

    def multiple(self, confidence: float) -> float:
        """How many standard deviations a sum of noise stays within.

        >>> round(NoiseLaw(1.0).multiple(0.95), 4), NoiseLaw(1.0, "laplace").multiple(0.95) > 2
        (1.96, True)
        """
        normal = float(norm.isf((1 - confidence) / 2))
        return (
            normal if self.kind == "gaussian" else max(normal, -log(1 - confidence) / sqrt(2))
        )

    def covariance(self, first: Vector, second: Vector, counts: Vector) -> float:
        """Of two sums of the cells, by their coefficients."""
        noise = self.deviation**2 * float((first * second).sum())
        if not self.rows_per_unit:
            return noise
        drawn = float((first * second * np.maximum(counts, 0.0)).sum())
        return noise + self.rows_per_unit * drawn

    def sum_reading(self, part: Vector, counts: Vector, confidence: float) -> ScoreReading:
        """A sum of cells."""
        value = float((part * counts).sum())
        half = self.multiple(confidence) * sqrt(self.covariance(part, part, counts))
        return ScoreReading(value, value - half, value + half)

    def ratio(
        self, part: Vector, whole: Vector, counts: Vector, confidence: float = 0.95
    ) -> ScoreReading:
        """A share: the sum by `part` over the sum by `whole`, between 0 and 1.

        >>> counts = np.array([80.0, 20.0])
        >>> print(NoiseLaw(2.0).ratio(np.array([1.0, 0.0]), np.ones(2), counts))
        0.800 (0.769 to 0.833)
        """
        top, bottom = float((part * counts).sum()), float((whole * counts).sum())
        spread = (
            self.covariance(part, part, counts),
            self.covariance(part, whole, counts),
            self.covariance(whole, whole, counts),
        )
        return fieller(top, bottom, spread, self.multiple(confidence))


def fieller(
    top: float, bottom: float, spread: tuple[float, float, float], multiple: float
) -> ScoreReading:
    """The share `top` / `bottom`, and all shares within `multiple` deviations of it.

    `spread` has the variance of the top, the covariance, and the variance of the bottom. Where
    the noise could have made the bottom 0, every share is possible.
    """
    square = multiple**2
    a = bottom**2 - square * spread[2]
    b = top * bottom - square * spread[1]
    c = top**2 - square * spread[0]
    value = min(max(top / bottom, 0.0), 1.0) if bottom > 0 else 0.5
    if a <= 0 or bottom <= 0:
        return ScoreReading(value, 0.0, 1.0)
    root = sqrt(max(b * b - a * c, 0.0))
    low, high = (b - root) / a, (b + root) / a
    return ScoreReading(value, min(max(low, 0.0), value), max(min(high, 1.0), value))


def difference(first: ScoreReading, second: ScoreReading) -> ScoreReading:
    """Of two independent readings (Donner & Zou's square-and-add, 2012).

    >>> print(difference(ScoreReading(0.7, 0.66, 0.74), ScoreReading(0.6, 0.57, 0.63)))
    0.100 (0.050 to 0.150)
    """
    apart = first.value - second.value
    below = sqrt((first.value - first.low) ** 2 + (second.high - second.value) ** 2)
    above = sqrt((first.high - first.value) ** 2 + (second.value - second.low) ** 2)
    return ScoreReading(apart, apart - below, apart + above)
