"""Laws on the integers, as lists of cells with certified weights.

Cells are numbered 0, 1, 2, ... or, where a law has two sides, 0, ~0, 1, ~1, ... (~c = -1 - c).
A weight is known only through integers that enclose it; more bits enclose it more closely.

In the laws of width one a cell is an integer and its weight is its probability, up to a
common factor. The `Wide` laws serve large scales: a cell holds 2**shift integers, weighs as
much as the place in it nearest to zero, and every other place carries a penalty: it is kept
with probability exp(-penalty). Exponents are rational throughout.
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


class Law(Protocol):
    """Weighted cells, endless or not."""

    @property
    def signed(self) -> bool:
        """Whether cells are numbered 0, ~0, 1, ~1, ...; else 0, 1, 2, ..."""
        ...

    def reach(self, bits: int) -> int:
        """How many cells to list so that about 2**-bits of the mass, or nothing, is left."""
        ...

    def weights(self, count: int, bits: int) -> Weights:
        """Lower and upper ends, at scale 2**bits, of the first `count` weights in order, and
        an upper end of all the weights after them (zero: there are none)."""
        ...


class WideLaw(Law, Protocol):
    """A law whose cells hold 2**shift integers each."""

    @property
    def shift(self) -> int:
        """The logarithm of a cell's width."""
        ...

    @property
    def rounds(self) -> bool:
        """Whether places are real numbers that the sampler rounds; else integers."""
        ...

    def penalty(self, number: Floats, mirrored: Floats, place: Floats) -> Floats:
        """The penalty of a place, with an absolute error below 2**-48 after exp(-penalty).

        `number` is c for the cells c and ~c, `mirrored` is 1 for ~c, and `place` counts from
        the end of the cell nearest to zero.
        """
        ...

    def exact_penalty(self, cell: int, place: Fraction) -> Fraction:
        """The penalty, exactly. It grows with `place`."""
        ...


@dataclass(frozen=True)
class ExponentialLaw:
    """P(z) proportional to exp(-|z| / scale): two-sided, or from zero up."""

    scale: Fraction
    signed: bool = True
    shift: int = 0
    rounds: bool = False

    def reach(self, bits: int) -> int:
        """See `Law`."""
        cells = math.ceil(_nats(bits) * self.scale / (1 << self.shift)) + 1
        return 2 * cells if self.signed else cells

    def weights(self, count: int, bits: int) -> Weights:
        """Cell c weighs a**(width c), cell ~c weighs a**(width c + 1), a = exp(-1/scale)."""
        step = (1 << self.shift) / self.scale
        cells = (count + 1) // 2 if self.signed else count
        above = _products((1 << bits, 1 << bits), [exp_neg(step, bits)] * (cells - 1), bits)
        after = (1 + 1 / step) * above[-1][1]  # the sum of exp(-k step) over k >= 1 is < 1/step
        if not self.signed:
            return _split(above, after)
        once = exp_neg(1 / self.scale, bits)
        below = [_products(weight, [once], bits)[1] for weight in above]
        return _split(_interleave(above, below, count), 2 * after)

    def penalty(self, number: Floats, mirrored: Floats, place: Floats) -> Floats:
        """See `Wide`."""
        return place / float(self.scale)

    def exact_penalty(self, cell: int, place: Fraction) -> Fraction:
        """See `Wide`."""
        return place / self.scale


@dataclass(frozen=True)
class GaussianLaw:
    """P(z) proportional to exp(-z**2 / (2 variance)) on the integers.

    With `rounds`, places are real numbers, so it is the true Gaussian that is cut into cells
    and handed out rounded; cell ~c then mirrors cell c exactly.
    """

    variance: Fraction
    shift: int = 0
    rounds: bool = False
    signed: bool = True

    @property
    def _offset(self) -> int:
        """How much farther from zero cell ~c begins than cell c."""
        return 0 if self.rounds else 1

    def reach(self, bits: int) -> int:
        """See `Law`."""
        return 2 * ((_farthest(self.variance, bits) >> self.shift) + 2)

    def weights(self, count: int, bits: int) -> Weights:
        """exp(-x**2 / (2 variance)) at the place x of each cell nearest to zero."""
        cells = (count + 1) // 2
        above = self._squares(0, cells, bits)
        below = self._squares(self._offset, cells, bits)
        width = 1 << self.shift
        last = (cells - 1) * width
        rise = Fraction((2 * last + width) * width) / (2 * self.variance)
        # From cell to cell the exponent rises by `rise` at least, and ever more.
        return _split(_interleave(above, below, count), 2 * (1 + 1 / rise) * above[-1][1])

    def _squares(self, first: int, cells: int, bits: int) -> list[Enclosure]:
        """exp(-(first + width c)**2 / (2 variance)) for every c, by second differences."""
        width = 1 << self.shift
        start, ratio, change = (
            exp_neg(exponent / (2 * self.variance), bits)
            for exponent in (first * first, (2 * first + width) * width, 2 * width * width)
        )
        ratios = _products(ratio, [change] * (cells - 1), bits)
        return _products(start, ratios[: cells - 1], bits)

    def penalty(self, number: Floats, mirrored: Floats, place: Floats) -> Floats:
        """See `Wide`."""
        nearest = number * float(1 << self.shift) + mirrored * self._offset
        return place * (2 * nearest + place) / float(2 * self.variance)

    def exact_penalty(self, cell: int, place: Fraction) -> Fraction:
        """See `Wide`."""
        nearest = cell << self.shift if cell >= 0 else (~cell << self.shift) + self._offset
        return place * (2 * nearest + place) / (2 * self.variance)


@dataclass(frozen=True)
class RoundedGaussianLaw:
    """The true Gaussian rounded to the nearest integer, by its distribution function."""

    variance: Fraction
    signed: bool = True

    def reach(self, bits: int) -> int:
        """See `Law`."""
        return 2 * (_farthest(self.variance, bits) + 2)

    def weights(self, count: int, bits: int) -> Weights:
        """P(N = 0) = P(|N| <= 0); P(N = k) is half of P(|N| <= k) - P(|N| <= k - 1)."""
        cells = (count + 1) // 2
        within = [self._within(k, bits) for k in range(cells + 1)]
        sides = [
            (max(0, outer[0] - inner[1]) // 2, (outer[1] - inner[0] + 1) // 2)
            for inner, outer in pairwise(within)
        ]
        pairs = _interleave([within[0], *sides[:-1]], sides, count)
        return _split(pairs, Fraction((1 << bits) - within[cells - 1][0]))

    def _within(self, k: int, bits: int) -> Enclosure:
        """P(|N| <= k), the real Gaussian having stayed within k + 1/2."""
        return erf(Fraction(2 * k + 1, 2) ** 2 / (2 * self.variance), bits)


@dataclass(frozen=True)
class ListedLaw:
    """Finitely many cells: cell i weighs lengths[i] * exp(-exponents[i])."""

    lengths: tuple[int, ...]
    exponents: tuple[Fraction, ...]
    signed: bool = False

    def reach(self, bits: int) -> int:
        """See `Law`."""
        return len(self.lengths)

    def weights(self, count: int, bits: int) -> Weights:
        """See `Law`."""
        ends = {x: exp_neg(x, bits) for x in set(self.exponents)}
        cells = zip(self.lengths, self.exponents, strict=True)
        pairs = [(length * ends[x][0], length * ends[x][1]) for length, x in cells]
        return [lo for lo, _ in pairs], [hi for _, hi in pairs], 0


def _nats(bits: int) -> Fraction:
    """An exponent beyond which less than about 2**-bits of an exponential tail is left."""
    return Fraction(7, 10) * bits + 6


def _farthest(variance: Fraction, bits: int) -> int:
    """A distance from zero beyond which less than about 2**-bits of a Gaussian is left."""
    return math.isqrt(math.ceil(2 * _nats(bits) * variance)) + 1


def _products(start: Enclosure, ratios: list[Enclosure], bits: int) -> list[Enclosure]:
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


def _split(pairs: list[Enclosure], after: Fraction) -> Weights:
    """Lower ends, upper ends, and the upper end of all that comes after, never zero."""
    return [lo for lo, _ in pairs], [hi for _, hi in pairs], math.ceil(after) + 1
