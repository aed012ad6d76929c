"""Optimized local hashing: each person draws a hash function and randomizes the hashed answer.

A respondent draws h(v) = floor(g ((a v + b) mod P) / P) by drawing a and b uniformly below a
prime P >= categories, and sends (a, b) with h(x) randomized among the g buckets. The seed does
not depend on the answer, so the loss is that of g-ary randomized response, `odds`. With
g = odds + 1, rounded, the variance is that of `OUE`, with only two numbers per report besides
the bucket: Wang, Blocki, Li & Jha, "Locally differentially private protocols for frequency
estimation", 2017.

The family is exactly pairwise independent before the buckets are cut: for u != v the pair
((a u + b) mod P, (a v + b) mod P) is uniform on all pairs (Carter & Wegman 1979). Buckets are
runs of floor(P / g) or ceil(P / g) numbers, so the share of each bucket is known exactly. So q
is an exact rational instead of "about 1 / g", and the estimate is exactly unbiased.

Counting is fast for the same reason. A report supports the v for which a v mod P lies in one
(cyclic) run of numbers, so it adds two marks to a table of P x P differences. One running sum
over that table gives all support counts: O(n + P**2) instead of O(n categories).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData
from deniable.exact import bernoulli, uniform_below
from deniable.exact.bits import BitSource
from deniable.mechanisms.local.frequency_oracle import FrequencyOracle, Integers, Reports

_MOST_BUCKETS = 1 << 20  # a hash times their number stays far inside int64
_LARGEST_TABLE = 1 << 24
_CELLS_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True, init=False)
class OLH(FrequencyOracle):
    """A hash function and a randomized bucket per person; for many categories.

    A report is (a, b, bucket). Counting is fast for up to about 4,000 categories; above that,
    its time grows as people times categories.

    >>> design = OLH(odds=3, categories=1000)
    >>> design.buckets, design.prime, design.p
    (4, 1009, Fraction(1, 2))
    >>> design.randomize([5, 6]).shape
    (2, 3)
    """

    odds: Fraction
    categories: int

    @property
    def buckets(self) -> int:
        """The number of values of the hash: odds + 1, rounded, from 2 to 2**20."""
        return max(2, min(_MOST_BUCKETS, round(self.odds) + 1))

    @property
    def prime(self) -> int:
        """The modulus of the hash: the least prime not below categories and buckets."""
        return least_prime(max(self.categories, self.buckets))

    @property
    def p(self) -> Fraction:
        """The probability that the reported bucket is that of the true answer."""
        return self.odds / (self.odds + self.buckets - 1)

    @property
    def q(self) -> Fraction:
        """The probability that it is the bucket of any other answer: about 1 / buckets.

        >>> design = OLH(odds=3, categories=5)
        >>> design.q  # buckets of 2, 1, 1 and 1 of 5 numbers
        Fraction(13, 50)
        """
        other = 1 / (self.odds + self.buckets - 1)
        prime, g = self.prime, self.buckets
        size, longer = divmod(prime, g)  # `longer` buckets have one number more
        squares = Fraction(longer * (size + 1) ** 2 + (g - longer) * size**2, prime**2)
        return other + (self.p - other) * squares

    @property
    def width(self) -> int:
        """Three: a, b and the bucket."""
        return 3

    def pmf(self, report: Any, answer: int) -> Fraction:
        """P(report | answer), exactly.

        >>> OLH(odds=3, categories=5).pmf((0, 0, 0), 2)  # 1/25 * 1/2
        Fraction(1, 50)
        """
        a, b, bucket = (int(number) for number in report)
        inside = 0 <= a < self.prime and 0 <= b < self.prime and 0 <= bucket < self.buckets
        if not inside:
            return Fraction(0)
        hit = (a * answer + b) % self.prime * self.buckets // self.prime == bucket
        other = 1 / (self.odds + self.buckets - 1)
        return (self.p if hit else other) / self.prime**2

    def reports(self) -> Iterator[tuple[int, ...]]:
        """Every possible report; for proofs on small domains.

        >>> len(list(OLH(odds=3, categories=5).reports()))
        100
        """
        seeds = range(self.prime)
        return ((a, b, y) for a in seeds for b in seeds for y in range(self.buckets))

    def _randomize(self, truth: Integers, source: BitSource) -> Reports:
        n, prime, g = truth.size, self.prime, self.buckets
        a, b = (uniform_below(prime, n, source=source) for _ in range(2))
        bucket = (a * truth + b) % prime * g // prime
        slope = (self.odds - 1) / (self.odds + g - 1)
        keep = bernoulli(slope, n, source=source)  # else a uniform bucket
        blind = uniform_below(g, n, source=source)
        return np.stack([a, b, np.where(keep, bucket, blind)], axis=1)

    def _count_support(self, reports: Reports) -> Integers:
        prime = self.prime
        a, b, bucket = np.ascontiguousarray(reports.astype(np.int64, copy=False).T)
        if not self._can_occur(a, b, bucket):
            raise InvalidData(
                "Some reports cannot come from this design: a number is out of range."
            )
        if prime * prime <= min(_LARGEST_TABLE, a.size * self.categories):
            return self._count_by_table(a, b, bucket)
        return self._count_one_by_one(a, b, bucket)

    def _can_occur(self, a: Integers, b: Integers, bucket: Integers) -> bool:
        low = min(int(numbers.min()) for numbers in (a, b, bucket))
        seeds = max(int(a.max()), int(b.max()))
        return low >= 0 and seeds < self.prime and int(bucket.max()) < self.buckets

    def _count_by_table(self, a: Integers, b: Integers, bucket: Integers) -> Integers:
        """Counts support by marking, for each a, where the run of supported a v mod P begins
        and ends."""
        prime = self.prime
        edges = np.array(self._edges())
        begin = (edges[bucket] - b) % prime
        end = (edges[bucket + 1] - b) % prime
        size = prime * (prime + 1)
        row = a * (prime + 1)
        marks = np.bincount(row + begin, minlength=size) - np.bincount(
            row + end, minlength=size
        )
        marks = marks.reshape(prime, prime + 1)
        marks[:, 0] += np.bincount(a[begin >= end], minlength=prime)  # runs that wrap around
        runs = np.cumsum(marks, axis=1)
        seeds, answers = np.arange(prime), np.arange(self.categories)
        counts = np.zeros(self.categories, dtype=np.int64)
        for chunk in np.array_split(seeds, max(1, prime * self.categories // _CELLS_AT_ONCE)):
            places = np.multiply.outer(chunk, answers) % prime
            counts += np.take_along_axis(runs[chunk], places, axis=1).sum(axis=0)
        return counts

    def _count_one_by_one(self, a: Integers, b: Integers, bucket: Integers) -> Integers:
        """Counts support by hashing every answer with every seed."""
        counts = np.zeros(self.categories, dtype=np.int64)
        people = max(1, _CELLS_AT_ONCE // self.categories)
        for start in range(0, a.size, people):
            batch = slice(start, start + people)
            counts += self._hits(a[batch], b[batch], bucket[batch]).sum(axis=0)
        return counts

    def _hits(self, a: Integers, b: Integers, bucket: Integers) -> NDArray[np.bool_]:
        """Whether each answer's hash is the reported bucket; one row per report."""
        answers = np.arange(self.categories)
        place = (np.multiply.outer(a, answers) + b[:, None]) % self.prime
        return np.asarray(place * self.buckets // self.prime == bucket[:, None])

    def _support_table(self, reports: Reports) -> NDArray[np.bool_]:
        people = max(1, _CELLS_AT_ONCE // self.categories)
        rows = reports.astype(np.int64, copy=False)
        starts = range(0, rows.shape[0], people)
        return np.concatenate([self._hits(*rows[at : at + people].T) for at in starts])

    def _edges(self) -> list[int]:
        """Where the buckets begin: bucket y holds edges[y] to edges[y + 1] - 1."""
        prime, g = self.prime, self.buckets
        return [-(-y * prime // g) for y in range(g + 1)]


def least_prime(n: int) -> int:
    """The least prime that is n or more.

    >>> least_prime(1000)
    1009
    """
    while n < 2 or any(n % d == 0 for d in range(2, isqrt(n) + 1)):
        n += 1
    return n


def count_support_slowly(design: OLH, reports: NDArray[Any]) -> Integers:
    """`aggregate` by hashing every answer with every seed: slow, for comparison.

    >>> design = OLH(odds=3, categories=20)
    >>> reports = design.randomize([3] * 100)
    >>> count_support_slowly(design, reports).tolist() == list(design.aggregate(reports))
    True
    """
    a, b, bucket = np.asarray(reports, dtype=np.int64).T
    return design._count_one_by_one(a, b, bucket)
