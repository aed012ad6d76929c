"""Distributions on the integers, as lists of cells with certified weights.

Cells are numbered 0, 1, 2, ... or, if a distribution has two sides, 0, ~0, 1, ~1, ...
(~c = -1 - c). A weight is known only through integers that enclose it. More bits enclose it
more closely.

If a cell has width one, it is an integer, and its weight is its probability up to a common
factor. Wide cells serve large scales. Such a cell holds 2**shift integers. Its weight is that
of its place nearest to zero. Every other place has a penalty: the sampler keeps it with
probability exp(-penalty). All exponents are rational.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from deniable.exact.enclosures import Enclosure, erf, exp_neg

Floats: TypeAlias = npt.NDArray[np.float64]
Weights: TypeAlias = tuple[list[int], list[int], int]


class CellDistribution(Protocol):
    """Weighted cells, finitely or infinitely many."""

    @property
    def signed(self) -> bool:
        """True if cells are numbered 0, ~0, 1, ~1, ..., False if 0, 1, 2, ..."""
        ...

    def cells_needed(self, bits: int) -> int:
        """How many cells to list so that at most about 2**-bits of the mass is left."""
        ...

    def weights(self, count: int, bits: int) -> Weights:
        """Lower and upper bounds, at scale 2**bits, of the first `count` weights in order, and
        an upper bound of all weights after them (zero if these are all)."""
        ...


class WideDistribution(CellDistribution, Protocol):
    """A distribution whose cells hold 2**shift integers each."""

    @property
    def shift(self) -> int:
        """The logarithm of a cell's width."""
        ...

    @property
    def rounds(self) -> bool:
        """True if places are real numbers that the sampler rounds, False if integers."""
        ...

    def penalty(self, number: Floats, mirrored: Floats, place: Floats) -> Floats:
        """The penalty of a place; the absolute error of exp(-penalty) is below 2**-48.

        `number` is c for the cells c and ~c, `mirrored` is 1 for ~c, and `place` counts from
        the end of the cell nearest to zero.
        """
        ...

    def exact_penalty(self, cell: int, place: Fraction) -> Fraction:
        """The penalty, exactly. It grows with `place`."""
        ...


@dataclass(frozen=True)
class ExponentialDistribution:
    """P(z) proportional to exp(-|z| / scale) on all integers, or on those from zero up."""

    scale: Fraction
    signed: bool = True
    shift: int = 0
    rounds: bool = False

    def cells_needed(self, bits: int) -> int:
        """See `CellDistribution`."""
        cells = math.ceil(_tail_exponent(bits) * self.scale / (1 << self.shift)) + 1
        return 2 * cells if self.signed else cells

    def weights(self, count: int, bits: int) -> Weights:
        """a**(width c) for cell c and a**(width c + 1) for cell ~c, with a = exp(-1/scale)."""
        step = (1 << self.shift) / self.scale
        cells = (count + 1) // 2 if self.signed else count
        above = _running_products(
            (1 << bits, 1 << bits), [exp_neg(step, bits)] * (cells - 1), bits
        )
        after = (1 + 1 / step) * above[-1][1]  # the sum of exp(-k step) over k >= 1 is < 1/step
        if not self.signed:
            return _split_ends(above, after)
        once = exp_neg(1 / self.scale, bits)
        below = [_running_products(weight, [once], bits)[1] for weight in above]
        return _split_ends(_interleave(above, below, count), 2 * after)

    def penalty(self, number: Floats, mirrored: Floats, place: Floats) -> Floats:
        """See `WideDistribution`."""
        return place / float(self.scale)

    def exact_penalty(self, cell: int, place: Fraction) -> Fraction:
        """See `WideDistribution`."""
        return place / self.scale


@dataclass(frozen=True)
class GaussianDistribution:
    """P(z) proportional to exp(-z**2 / (2 variance)) on the integers.

    With `rounds`, places are real numbers: the continuous Gaussian is cut into cells and the
    sampler rounds. Cell ~c is then the exact mirror image of cell c.
    """

    variance: Fraction
    shift: int = 0
    rounds: bool = False
    signed: bool = True

    @property
    def _offset(self) -> int:
        """How much farther from zero cell ~c begins than cell c."""
        return 0 if self.rounds else 1

    def cells_needed(self, bits: int) -> int:
        """See `CellDistribution`."""
        return 2 * ((_gaussian_distance(self.variance, bits) >> self.shift) + 2)

    def weights(self, count: int, bits: int) -> Weights:
        """exp(-x**2 / (2 variance)) at the place x of each cell nearest to zero."""
        cells = (count + 1) // 2
        above = self._gaussian_weights(0, cells, bits)
        below = self._gaussian_weights(self._offset, cells, bits)
        width = 1 << self.shift
        last = (cells - 1) * width
        rise = Fraction((2 * last + width) * width) / (2 * self.variance)
        # From cell to cell the exponent grows by at least `rise`.
        return _split_ends(_interleave(above, below, count), 2 * (1 + 1 / rise) * above[-1][1])

    def _gaussian_weights(self, first: int, cells: int, bits: int) -> list[Enclosure]:
        """exp(-(first + width c)**2 / (2 variance)) for every c, by second differences."""
        width = 1 << self.shift
        start, ratio, change = (
            exp_neg(exponent / (2 * self.variance), bits)
            for exponent in (first * first, (2 * first + width) * width, 2 * width * width)
        )
        ratios = _running_products(ratio, [change] * (cells - 1), bits)
        return _running_products(start, ratios[: cells - 1], bits)

    def penalty(self, number: Floats, mirrored: Floats, place: Floats) -> Floats:
        """See `WideDistribution`."""
        nearest = number * float(1 << self.shift) + mirrored * self._offset
        return place * (2 * nearest + place) / float(2 * self.variance)

    def exact_penalty(self, cell: int, place: Fraction) -> Fraction:
        """See `WideDistribution`."""
        nearest = cell << self.shift if cell >= 0 else (~cell << self.shift) + self._offset
        return place * (2 * nearest + place) / (2 * self.variance)


@dataclass(frozen=True)
class RoundedGaussianDistribution:
    """The continuous Gaussian rounded to the nearest integer, by its distribution function."""

    variance: Fraction
    signed: bool = True

    def cells_needed(self, bits: int) -> int:
        """See `CellDistribution`."""
        return 2 * (_gaussian_distance(self.variance, bits) + 2)

    def weights(self, count: int, bits: int) -> Weights:
        """P(N = 0) = P(|N| <= 0); P(N = k) is half of P(|N| <= k) - P(|N| <= k - 1)."""
        cells = (count + 1) // 2
        within = [self._within(k, bits) for k in range(cells + 1)]
        sides = [
            (max(0, outer[0] - inner[1]) // 2, (outer[1] - inner[0] + 1) // 2)
            for inner, outer in pairwise(within)
        ]
        pairs = _interleave([within[0], *sides[:-1]], sides, count)
        return _split_ends(pairs, Fraction((1 << bits) - within[cells - 1][0]))

    def _within(self, k: int, bits: int) -> Enclosure:
        """P(|N| <= k): the continuous Gaussian is within k + 1/2."""
        return erf(Fraction(2 * k + 1, 2) ** 2 / (2 * self.variance), bits)


@dataclass(frozen=True)
class ListedDistribution:
    """Finitely many cells: cell i has the weight lengths[i] * exp(-exponents[i])."""

    lengths: tuple[int, ...]
    exponents: tuple[Fraction, ...]
    signed: bool = False

    def cells_needed(self, bits: int) -> int:
        """See `CellDistribution`."""
        return len(self.lengths)

    def weights(self, count: int, bits: int) -> Weights:
        """See `CellDistribution`."""
        ends = {x: exp_neg(x, bits) for x in set(self.exponents)}
        cells = zip(self.lengths, self.exponents, strict=True)
        pairs = [(length * ends[x][0], length * ends[x][1]) for length, x in cells]
        return [lo for lo, _ in pairs], [hi for _, hi in pairs], 0


def _tail_exponent(bits: int) -> Fraction:
    """An exponent beyond which less than about 2**-bits of an exponential tail is left."""
    return Fraction(7, 10) * bits + 6


def _gaussian_distance(variance: Fraction, bits: int) -> int:
    """A distance from zero beyond which less than about 2**-bits of a Gaussian is left."""
    return math.isqrt(math.ceil(2 * _tail_exponent(bits) * variance)) + 1


def _running_products(start: Enclosure, ratios: list[Enclosure], bits: int) -> list[Enclosure]:
    """Running products of numbers in [0, 1]: start, start * ratios[0], ..."""
    lo, hi = start
    products = [start]
    for ratio_lo, ratio_hi in ratios:
        lo, hi = lo * ratio_lo >> bits, -(-hi * ratio_hi >> bits)
        products.append((lo, hi))
    return products


def _interleave(above: list[Enclosure], below: list[Enclosure], count: int) -> list[Enclosure]:
    """The order 0, ~0, 1, ~1, ..."""
    return [pair for both in zip(above, below, strict=True) for pair in both][:count]


def _split_ends(pairs: list[Enclosure], after: Fraction) -> Weights:
    """Lower bounds, upper bounds, and the upper bound of all that comes after, never zero."""
    return [lo for lo, _ in pairs], [hi for _, hi in pairs], math.ceil(after) + 1
