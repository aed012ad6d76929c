"""All quantiles at once, with target ranks that no record can move; for add-remove neighbours.

First a tenth of epsilon is spent on the number of rows, and the targets p_j * rows are fixed.
After that, adding a record changes one n_j by one and no target: the D of `joint` moves by at
most 1 instead of 2 (1 - p). So the weight may decay twice as fast, for the other nine tenths of
epsilon. For few quantiles the tenth costs more than it gains.
"""

import math
from fractions import Fraction

from deniable.exact import discrete_laplace
from deniable.exact.bits import BitSource
from deniable.mechanisms.histogram import Histogram
from deniable.mechanisms.quantiles.joint_draw import JointDraw
from deniable.mechanisms.quantiles.order_statistics import OrderStatistics
from deniable.mechanisms.quantiles.quantile_method import (
    MOST_UNIT,
    DrawnQuantiles,
    QuantileMethod,
    largest_distance,
)
from deniable.privacy import Loss, PureLoss, RangeLoss

_COUNT_SHARE = Fraction(1, 10)


class FixedTargetQuantiles(QuantileMethod):
    """A noisy count, then one exponential mechanism with fixed targets."""

    name = "fixed-target"

    @property
    def loss(self) -> Loss:
        return PureLoss(self.count_epsilon) + RangeLoss(self.epsilon - self.count_epsilon)

    @property
    def count_epsilon(self) -> Fraction:
        """What is spent on the number of rows."""
        return self.epsilon * _COUNT_SHARE

    @property
    def unit(self) -> Fraction:
        """The rate at which the weight decays with D."""
        return min((self.epsilon - self.count_epsilon) / 2, MOST_UNIT)

    def draw(self, data: Histogram, source: BitSource) -> DrawnQuantiles:
        noise = discrete_laplace(1 / self.count_epsilon, 1, source=source)[0]
        rows = max(0, data.rows + int(noise))
        order = OrderStatistics(data, source, place_bits=self.place_bits, atoms=self.atoms)
        targets = [share * rows for share in self.shares]
        places, _ = JointDraw(order.all_records(), targets, self.unit).draw(source)
        return DrawnQuantiles([order.cell(place) for place in places], rows)

    def rank_margin(self, chance: float, rows: int) -> float:
        count_error = math.log(2 / (chance / 2)) / float(self.count_epsilon)
        choices, fewest = len(self.quantiles), max(0.0, rows - count_error)
        room = self.apart(fewest), self.inside(fewest) - count_error
        stray = largest_distance(self.width, rows, float(self.unit), chance / 2, choices, *room)
        # |e_j| <= (D + count_error) / 2. The best D may be larger by `count_error`, and so may
        # the target.
        return stray / 2 + 2 * count_error
