"""Each quantile for itself: the exponential mechanism over cells, with its share of epsilon.

A cell t misses the target rank q n by D(t) = max(0, q n - #{x <= t}, #{x < t} - q n): an atom
that covers the rank misses nothing, so ties need no care. Replacing a record changes D by at
most 1. Adding one moves q n by q and a rank by 0 or 1, so D by at most max(q, 1 - q): for a
median half as much, so twice the accuracy. P(t) is proportional to exp(-unit D(t)) with
unit = epsilon / (2 change). Smith, "Privacy-preserving statistical estimation with optimal
convergence rates", 2011.
"""

import math
from fractions import Fraction

import numpy as np

from deniable.exact import uniform_below
from deniable.exact.bits import BitSource
from deniable.exact.buckets import Buckets
from deniable.mechanisms.histogram import Histogram
from deniable.mechanisms.quantiles.method import DrawnQuantiles, Method
from deniable.privacy import Loss, RangeLoss

_SAFE = 1 << 62  # two such integers differ by an int64


class Independent(Method):
    """One exponential mechanism for each quantile."""

    name = "independent"

    @property
    def loss(self) -> Loss:
        return RangeLoss(self.epsilon / len(self.quantiles)) * len(self.quantiles)

    def unit(self, quantile: Fraction) -> Fraction:
        """The rate at which a missed rank loses weight."""
        change = max(quantile, 1 - quantile) if self.neighbors == "add-remove" else Fraction(1)
        return self.epsilon / len(self.quantiles) / (2 * change)

    def draw(self, data: Histogram, source: BitSource) -> DrawnQuantiles:
        return DrawnQuantiles(sorted(self._one(data, q, source) for q in self.quantiles))

    def _one(self, data: Histogram, quantile: Fraction, source: BitSource) -> int:
        # Odd candidates are occupied cells, even ones the runs of empty cells between them.
        lengths = np.ones(2 * data.cells.size + 1, dtype=np.int64)
        starts = np.concatenate([[0], data.cells + 1])
        lengths[0::2] = np.concatenate([data.cells, [data.size]]) - starts
        upto = np.concatenate([[0], data.upto])
        # Not in lowest terms: how long it takes must not hang on a divisor of the rows.
        target, parts = quantile.numerator * data.rows, quantile.denominator
        if data.rows * parts >= _SAFE:  # a float such as 1/3 has a denominator of 10**16
            upto = upto.astype(object)
        misses = np.empty(lengths.size, dtype=upto.dtype)
        misses[0::2] = np.abs(upto * parts - target)
        misses[1::2] = np.maximum(target - upto[1:] * parts, upto[:-1] * parts - target)
        np.maximum(misses, 0, out=misses)
        chosen = Buckets(lengths, misses, self.unit(quantile) / parts).draw(source=source)
        if chosen % 2:
            return int(data.cells[chosen // 2])
        inside = uniform_below(int(lengths[chosen]), 1, source=source)[0]
        return int(starts[chosen // 2]) + int(inside)

    def ranks(self, chance: float, rows: int) -> float:
        # Some cell misses nothing, so D > s has a chance below size * exp(-unit s).
        logs = math.log(self.size * len(self.quantiles) / chance)
        return max(logs / float(self.unit(q)) for q in self.quantiles)
