"""Each quantile by itself: the exponential mechanism over cells, with its share of epsilon.

A cell t misses the target rank q n by D(t) = max(0, q n - #{x <= t}, #{x < t} - q n). A cell
whose records cover the target rank misses nothing, so ties need no special care. Replacing a
record changes D by at most 1. Adding a record moves q n by q and a rank by 0 or 1, so D changes
by at most max(q, 1 - q): for a median that is half, so the accuracy doubles. P(t) is
proportional to exp(-unit D(t)) with unit = epsilon / (2 change). Smith, "Privacy-preserving
statistical estimation with optimal convergence rates", 2011.
"""

import math
from fractions import Fraction

import numpy as np

from deniable.exact import uniform_below
from deniable.exact.bits import BitSource
from deniable.exact.weighted_choice import WeightedCells
from deniable.mechanisms.histogram import Histogram
from deniable.mechanisms.quantiles.quantile_method import DrawnQuantiles, QuantileMethod
from deniable.privacy import Loss, RangeLoss

_SAFE = 1 << 62  # two such integers differ by an int64


class IndependentQuantiles(QuantileMethod):
    """One exponential mechanism for each quantile."""

    name = "independent"

    @property
    def loss(self) -> Loss:
        return RangeLoss(self.epsilon / len(self.quantiles)) * len(self.quantiles)

    def unit(self, quantile: Fraction) -> Fraction:
        """The rate at which the weight decays with D."""
        change = max(quantile, 1 - quantile) if self.neighbors == "add-remove" else Fraction(1)
        return self.epsilon / len(self.quantiles) / (2 * change)

    def draw(self, data: Histogram, source: BitSource) -> DrawnQuantiles:
        return DrawnQuantiles(sorted(self._draw_cell(data, q, source) for q in self.quantiles))

    def _draw_cell(self, data: Histogram, quantile: Fraction, source: BitSource) -> int:
        # Odd candidates are occupied cells, even ones the runs of empty cells between them.
        lengths = np.ones(2 * data.cells.size + 1, dtype=np.int64)
        starts = np.concatenate([[0], data.cells + 1])
        lengths[0::2] = np.concatenate([data.cells, [data.size]]) - starts
        upto = np.concatenate([[0], data.cumulative_counts])
        # Not in lowest terms: the running time must not depend on a divisor of the rows.
        target, parts = quantile.numerator * data.rows, quantile.denominator
        if data.rows * parts >= _SAFE:  # a float such as 1/3 has a denominator of 10**16
            upto = upto.astype(object)
        misses = np.empty(lengths.size, dtype=upto.dtype)
        misses[0::2] = np.abs(upto * parts - target)
        misses[1::2] = np.maximum(target - upto[1:] * parts, upto[:-1] * parts - target)
        np.maximum(misses, 0, out=misses)
        chosen = WeightedCells(lengths, misses, self.unit(quantile) / parts).draw(source=source)
        if chosen % 2:
            return int(data.cells[chosen // 2])
        inside = uniform_below(int(lengths[chosen]), 1, source=source)[0]
        return int(starts[chosen // 2]) + int(inside)

    def rank_margin(self, chance: float, rows: int) -> float:
        # Some cell misses nothing, so P(D > s) is below size * exp(-unit s).
        logs = math.log(self.size * len(self.quantiles) / chance)
        return max(logs / float(self.unit(q)) for q in self.quantiles)
