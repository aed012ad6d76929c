"""Exact epsilons: a rational plus integer multiples of logarithms of rationals.

Two fair coins cost exactly ln 3; ten queries at 0.1 cost exactly 1. Sums stay exact, and
enclosures decide comparisons, never floats. A comparison always ends: ln q is irrational for
every rational q except 1 (Lindemann), so equality can be recognised exactly.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from deniable.exact import enclosures
from deniable.privacy.arithmetic.intervals import Interval, Precision


@dataclass(frozen=True, slots=True)
class ExactEpsilon:
    """`rational` + the sum of count * ln(odds) over `logs`.

    >>> ln3 = ExactEpsilon.from_odds(Fraction(3))
    >>> (ln3 * 3 - ExactEpsilon(Fraction(32958, 10000))).sign()
    1
    """

    rational: Fraction = Fraction(0)
    logs: tuple[tuple[Fraction, int], ...] = ()

    @classmethod
    def from_odds(cls, odds: Fraction) -> "ExactEpsilon":
        """ln(odds), for odds above zero."""
        return cls() if odds == 1 else cls(logs=((odds, 1),))

    def __add__(self, other: "ExactEpsilon") -> "ExactEpsilon":
        if not self.logs and not other.logs:
            return ExactEpsilon(self.rational + other.rational)
        counts = dict(self.logs)
        for odds, count in other.logs:
            counts[odds] = counts.get(odds, 0) + count
        logs = tuple(sorted((odds, count) for odds, count in counts.items() if count))
        return ExactEpsilon(self.rational + other.rational, logs)

    def __mul__(self, k: int) -> "ExactEpsilon":
        return ExactEpsilon(
            self.rational * k, tuple((odds, n * k) for odds, n in self.logs if k)
        )

    def __sub__(self, other: "ExactEpsilon") -> "ExactEpsilon":
        return self + other * -1

    def sign(self) -> int:
        """-1, 0 or 1, exactly."""
        if not self.logs:
            return (self.rational > 0) - (self.rational < 0)
        bits = 64
        while True:
            lo, hi = self.enclose(bits)
            if lo > 0 or hi < 0:
                return 1 if lo > 0 else -1
            if bits == 64 and self.rational == 0 and self._product() == 1:
                return 0
            bits *= 2

    def __le__(self, other: "ExactEpsilon") -> bool:
        return (self - other).sign() <= 0

    def __lt__(self, other: "ExactEpsilon") -> bool:
        return (self - other).sign() < 0

    def enclose(self, bits: int) -> tuple[Fraction, Fraction]:
        lo = hi = self.rational
        for odds, count in self.logs:
            width = bits + abs(count).bit_length()
            ends = [Fraction(count * end, 1 << width) for end in enclosures.log(odds, width)]
            lo, hi = lo + min(ends), hi + max(ends)
        return lo, hi

    def _product(self) -> Fraction:
        """e to the power of the logarithms, up to a common factor of the counts: a power of a
        positive number is 1 if and only if the number is 1."""
        common = math.gcd(*(count for _, count in self.logs))
        return math.prod((odds ** (n // common) for odds, n in self.logs), start=Fraction(1))

    def interval(self, p: Precision) -> Interval:
        """An enclosure in long decimals."""
        total = p(self.rational)
        for odds, count in self.logs:
            total = total + p(odds).log() * count
        return total

    def odds(self, p: Precision) -> Interval:
        """An enclosure of e**self, which is exact if there is no rational part."""
        if self.rational == 0 and len(self.logs) == 1 and 0 < self.logs[0][1] <= 64:
            return p(self.logs[0][0] ** self.logs[0][1])
        return self.interval(p).exp()
