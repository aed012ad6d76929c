"""Each quantile by itself: the exponential mechanism over cells, with its share of epsilon.

A cell t misses the target rank q n by D(t), see `rank_draw`. Replacing a record changes D by at
most 1. Adding a record moves q n by q and a rank by 0 or 1, so D changes
by at most max(q, 1 - q): for a median that is half, so the accuracy doubles. P(t) is
proportional to exp(-unit D(t)) with unit = epsilon / (2 change). Smith, "Privacy-preserving
statistical estimation with optimal convergence rates", 2011.
"""

import math
from fractions import Fraction

from deniable.exact.bits import BitSource
from deniable.mechanisms.histogram import Histogram
from deniable.mechanisms.quantiles.quantile_method import DrawnQuantiles, QuantileMethod
from deniable.mechanisms.quantiles.rank_draw import RankDraw
from deniable.privacy import Loss, RangeLoss


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
        ranks = RankDraw(data)
        cells = (ranks.draw(q, self.unit(q), source) for q in self.quantiles)
        return DrawnQuantiles(sorted(cells))

    def rank_margin(self, chance: float, rows: int) -> float:
        # Some cell misses nothing, so P(D > s) is below size * exp(-unit s).
        logs = math.log(self.size * len(self.quantiles) / chance)
        return max(logs / float(self.unit(q)) for q in self.quantiles)
