"""Hadamard response: one bit about a random row of a Hadamard matrix.

A respondent draws a row j and sends it with the sign H[j, x] = (-1)**popcount(j & x), flipped
with probability 1 / (odds + 1). That is one bit of randomized response, so the loss is `odds`.
The rows are orthogonal, so a report agrees with the sign of any other answer with probability
exactly 1/2. One fast Walsh-Hadamard transform gives all counts, in O(n + K log K). Acharya, Sun
& Zhang, "Hadamard response", 2019; this one-bit form: Bassily & Smith 2015, Apple 2017.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData
from deniable.exact import bernoulli, uniform_below
from deniable.exact.bits import BitSource
from deniable.mechanisms.local.frequency_oracle import FrequencyOracle, Integers, Reports

_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True, init=False)
class HadamardResponse(FrequencyOracle):
    """A row number and one bit per person; for many categories and a small epsilon.

    A report is (row, bit).

    >>> design = HadamardResponse(odds=3, categories=1000)
    >>> design.order, design.p
    (1024, Fraction(3, 4))
    >>> design.estimate(design.randomize([7] * 2000))[7].value > 0.5
    True
    """

    odds: Fraction
    categories: int

    @property
    def order(self) -> int:
        """The side of the matrix: the least power of two that holds the categories."""
        return 1 << (self.categories - 1).bit_length()

    @property
    def p(self) -> Fraction:
        """The probability that a report agrees with the sign of the true answer."""
        return self.odds / (self.odds + 1)

    @property
    def q(self) -> Fraction:
        """The probability that it agrees with any other answer: 1/2, as rows are orthogonal."""
        return _HALF

    @property
    def width(self) -> int:
        """Two: the row and the bit."""
        return 2

    def pmf(self, report: Any, answer: int) -> Fraction:
        """P(report | answer), exactly.

        >>> HadamardResponse(odds=3, categories=4).pmf((1, 1), 1)  # 1/4 * 3/4
        Fraction(3, 16)
        """
        row, bit = (int(number) for number in report)
        if not (0 <= row < self.order and bit in (0, 1)):
            return Fraction(0)
        agrees = (row & int(answer)).bit_count() % 2 == bit
        return (self.p if agrees else 1 - self.p) / self.order

    def reports(self) -> Iterator[tuple[int, ...]]:
        """Every possible report; for proofs on small domains.

        >>> len(list(HadamardResponse(odds=3, categories=3).reports()))
        8
        """
        return ((row, bit) for row in range(self.order) for bit in (0, 1))

    def _randomize(self, truth: Integers, source: BitSource) -> Reports:
        row = uniform_below(self.order, truth.size, source=source)
        flip = bernoulli(1 / (self.odds + 1), truth.size, source=source)
        return np.stack([row, (np.bitwise_count(row & truth) & 1) ^ flip], axis=1)

    def _count_support(self, reports: Reports) -> Integers:
        row, bit = reports.astype(np.int64, copy=False).T
        if row.min() < 0 or row.max() >= self.order or bit.min() < 0 or bit.max() > 1:
            raise InvalidData(
                "Some reports cannot come from this design: a number is out of range."
            )
        signs = np.bincount(2 * row + bit, minlength=2 * self.order).reshape(-1, 2)
        agreement = walsh(signs[:, 0] - signs[:, 1])[: self.categories]
        counts: Integers = (row.size + agreement) // 2
        return counts

    def _support_table(self, reports: Reports) -> NDArray[np.bool_]:
        row, bit = reports.astype(np.int64, copy=False).T
        agreed = np.bitwise_count(row[:, None] & np.arange(self.categories)) & 1
        return np.asarray(agreed == bit[:, None])


def walsh(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The Walsh-Hadamard transform: sums of the values with the signs of every column.

    >>> walsh(np.array([1, 2, 3, 4])).tolist()
    [10, -2, -4, 0]
    """
    out = values.copy()
    step = 1
    while step < out.size:
        pairs = out.reshape(-1, 2, step)
        out = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
        step *= 2
    return out
