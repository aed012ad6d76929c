"""Optimized unary encoding: one bit for each answer, randomized one by one.

The bit of the true answer is sent as 1 with probability 1/2, every other bit with probability
q = 1 / (odds + 1). Two answers differ in two bits. So under one answer no report is more than
(1/2 : q) * (1 - q : 1/2) = (1 - q) / q = odds times as likely as under the other. Near share 0
the variance, 4 odds / (n (odds - 1)**2), does not grow with the number of answers: Wang,
Blocki, Li & Jha, "Locally differentially private protocols for frequency estimation", 2017.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.exact import bernoulli
from deniable.exact.bits import BitSource
from deniable.mechanisms.local.bit_rows import (
    byte_width,
    count_columns,
    draw_rows,
    pack_row,
    read_rows,
    set_bits,
    unpack_row,
    unpack_rows,
)
from deniable.mechanisms.local.frequency_oracle import FrequencyOracle, Integers, Reports

_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True, init=False)
class OUE(FrequencyOracle):
    """One bit per answer, packed eight to a byte; for up to a few thousand categories.

    >>> design = OUE(odds=3, categories=20)
    >>> reports = design.randomize([7] * 1000)
    >>> reports.shape, design.loss
    ((1000, 3), PureLoss(odds=3))
    >>> design.estimate(reports)[7].value > 0.5
    True
    """

    odds: Fraction
    categories: int

    @property
    def p(self) -> Fraction:
        """The probability that the bit of the true answer is 1."""
        return _HALF

    @property
    def q(self) -> Fraction:
        """The probability that any other bit is 1."""
        return 1 / (self.odds + 1)

    @property
    def width(self) -> int:
        """The number of bytes in a report."""
        return byte_width(self.categories)

    def pmf(self, report: Any, answer: int) -> Fraction:
        """P(report | answer), exactly.

        >>> OUE(odds=3, categories=2).pmf((0b10000000,), 0)  # 1/2 * 3/4
        Fraction(3, 8)
        """
        bits = unpack_row(np.array(report), self.categories)
        if pack_row(bits) != tuple(int(byte) for byte in report):
            return Fraction(0)  # a spare bit is set
        others = sum(bits) - bits[answer]
        zeros = self.categories - 1 - others
        return _HALF * self.q**others * (1 - self.q) ** zeros

    def reports(self) -> Iterator[tuple[int, ...]]:
        """Every possible report; for proofs on small domains.

        >>> len(list(OUE(odds=3, categories=3).reports()))
        8
        """
        return (pack_row(list(bits)) for bits in product((0, 1), repeat=self.categories))

    def _randomize(self, truth: Integers, source: BitSource) -> Reports:
        rows = draw_rows(self.q, truth.size, self.categories, source=source)
        set_bits(rows, truth, bernoulli(_HALF, truth.size, source=source))
        return rows

    def _count_support(self, reports: Reports) -> Integers:
        return count_columns(read_rows(reports, self.categories), self.categories)

    def _support_table(self, reports: Reports) -> NDArray[np.bool_]:
        return unpack_rows(read_rows(reports, self.categories), self.categories)

    @property
    def bits_per_report(self) -> int:
        """How many bits one person sends.

        >>> OUE(odds=3, categories=20).bits_per_report
        20
        """
        return self.categories


def crossover(odds: Fraction) -> int:
    """With this many answers or more, unary encoding beats k-ary randomized response.

    >>> crossover(Fraction(3))
    11
    """
    return math.floor(3 * odds + 2)
