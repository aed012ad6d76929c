"""Sums that were released with noise, and the exact law of that noise."""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class NoisySums:
    """The noisy integers of one step: a row for each place, a column for each value.

    Every number has independent noise. `gaussian`: a normal number of variance `variance`,
    rounded to the nearest integer. Otherwise discrete Laplace noise, P(z) proportional to
    exp(-|z| / `scale`), whose variance is `variance`.

    >>> sums = NoisySums(np.array([[3, -1], [10, 4]]), Fraction(4), gaussian=True)
    >>> sums.column(1).tolist(), sums.deviation
    ([-1, 4], 2.0)
    """

    values: NDArray[np.int64]
    variance: Fraction  # of each number; rounding adds 1/12 at most
    gaussian: bool
    scale: Fraction = Fraction(0)  # of Laplace noise

    @property
    def deviation(self) -> float:
        """The standard deviation of each number."""
        return sqrt(self.variance)

    def column(self, value: int = 0) -> NDArray[np.int64]:
        """The sums of one value at all places."""
        return self.values[:, value]

    def part(self, first: int, size: int) -> NDArray[np.int64]:
        """The sums at some places, such as those of one feature."""
        return self.values[first : first + size]
