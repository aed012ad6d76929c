"""Subset selection: a random set of answers that contains the true one more often than others.

All sets of size w are possible. A set that contains the true answer has `odds` times the weight
of a set that does not, so the loss is `odds`. With w = categories / (odds + 1), rounded, the
mean squared error is the least known at every epsilon: Ye & Barg, "Optimal schemes for discrete
distribution estimation under locally differential privacy", 2018.

A uniform subset of the other answers is drawn by Floyd's method, for all people at once: for
j = m - s, ..., m - 1 draw t uniform on 0..j, and take t, or j if t is already taken (Bentley &
Floyd, "A sample of brilliance", 1987).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData
from deniable.exact import bernoulli, uniform_below
from deniable.exact.bits import SYSTEM, BitSource
from deniable.mechanisms.local.bit_rows import (
    byte_width,
    count_columns,
    pack_row,
    read_rows,
    unpack_row,
    unpack_rows,
)
from deniable.mechanisms.local.frequency_oracle import FrequencyOracle, Integers, Reports

_CELLS_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True, init=False)
class SubsetSelection(FrequencyOracle):
    """A set of `size` answers per person, packed as bits; the least error at every epsilon.

    >>> design = SubsetSelection(epsilon=1, categories=16)
    >>> design.size, round(design.variance(0, respondents=1), 5)
    (4, 3.11072)
    >>> design.randomize([3, 5]).shape
    (2, 2)
    """

    odds: Fraction
    categories: int

    @property
    def size(self) -> int:
        """How many answers a report names: categories / (odds + 1), rounded, at least one."""
        return max(1, round(self.categories / (self.odds + 1)))

    @property
    def p(self) -> Fraction:
        """The probability that the set contains the true answer.

        >>> SubsetSelection(odds=3, categories=4).p
        Fraction(1, 2)
        """
        inside = self.size * self.odds
        return inside / (inside + self.categories - self.size)

    @property
    def q(self) -> Fraction:
        """The probability that it contains any other answer."""
        return (self.size - self.p) / (self.categories - 1)

    @property
    def width(self) -> int:
        """The number of bytes in a report."""
        return byte_width(self.categories)

    def pmf(self, report: Any, answer: int) -> Fraction:
        """P(report | answer), exactly.

        >>> SubsetSelection(odds=3, categories=4).pmf((0b10000000,), 0)
        Fraction(1, 2)
        """
        bits = unpack_row(np.array(report), self.categories)
        if sum(bits) != self.size or pack_row(bits) != tuple(int(byte) for byte in report):
            return Fraction(0)
        k, w = self.categories, self.size
        if bits[answer]:
            return self.p / math.comb(k - 1, w - 1)
        return (1 - self.p) / math.comb(k - 1, w)

    def reports(self) -> Iterator[tuple[int, ...]]:
        """Every possible report; for proofs on small domains.

        >>> len(list(SubsetSelection(odds=1.5, categories=5).reports()))
        10
        """
        k = self.categories
        for chosen in combinations(range(k), self.size):
            yield pack_row([int(v in chosen) for v in range(k)])

    def _randomize(self, truth: Integers, source: BitSource) -> Reports:
        people = max(1, _CELLS_AT_ONCE // self.categories)
        return np.concatenate(
            [
                self._draw_sets(truth[start : start + people], source)
                for start in range(0, truth.size, people)
            ]
        )

    def _draw_sets(self, truth: Integers, source: BitSource) -> Reports:
        n, k = truth.size, self.categories
        with_truth = bernoulli(self.p, n, source=source)
        chosen = np.zeros((n, k), dtype=bool)
        for holds, size in ((with_truth, self.size - 1), (~with_truth, self.size)):
            people = np.flatnonzero(holds)
            others = draw_subsets(people.size, k - 1, size, source=source)
            # Number the other answers 0..k-2 by leaving out the true one.
            left = np.arange(k) - (np.arange(k) > truth[people, None])
            left[np.arange(people.size), truth[people]] = 0
            chosen[people] = np.take_along_axis(others, left, axis=1)
        chosen[np.arange(n), truth] = with_truth
        return np.packbits(chosen, axis=1)

    def _count_support(self, reports: Reports) -> Integers:
        rows = read_rows(reports, self.categories)
        counts = count_columns(rows, self.categories)
        if int(counts.sum()) != self.size * rows.shape[0]:
            raise InvalidData(f"Every report must name {self.size} answers. Some do not.")
        return counts

    def _support_table(self, reports: Reports) -> NDArray[np.bool_]:
        return unpack_rows(read_rows(reports, self.categories), self.categories)


def draw_subsets(
    rows: int, m: int, size: int, *, source: BitSource = SYSTEM
) -> NDArray[np.bool_]:
    """Draws for each row a uniform subset of `size` of m items, as booleans.

    >>> draw_subsets(5, 4, 2).sum(axis=1).tolist()
    [2, 2, 2, 2, 2]
    """
    taken = np.zeros((rows, m), dtype=bool)
    every = np.arange(rows)
    for j in range(m - size, m):
        t = uniform_below(j + 1, rows, source=source)
        t[taken[every, t]] = j
        taken[every, t] = True
    return taken
