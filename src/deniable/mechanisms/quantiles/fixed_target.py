"""All quantiles at once, aimed at ranks that no record can move; for add-remove neighbours.

First the number of rows is released with a tenth of epsilon, and the targets p_j * rows are
frozen. Then adding a record changes one n_j by one and no target: the D of `joint` moves by
at most 1, not 2 (1 - p), so it decays twice as fast for the other nine tenths. For few
quantiles the tenth costs more than it gains.
"""

import math
from fractions import Fraction

from deniable.exact import discrete_laplace
from deniable.exact.bits import BitSource
from deniable.mechanisms.histogram import Histogram
from deniable.mechanisms.quantiles.joint_draw import JointDraw
from deniable.mechanisms.quantiles.method import DrawnQuantiles, Method, strayed
from deniable.mechanisms.quantiles.order_statistics import Order
from deniable.privacy import Loss, PureLoss, RangeLoss

_COUNT_SHARE = Fraction(1, 10)


class FixedTarget(Method):
    """A noisy count, then one exponential mechanism with frozen targets."""

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
        """The rate at which D loses weight."""
        return (self.epsilon - self.count_epsilon) / 2

    def draw(self, data: Histogram, source: BitSource) -> DrawnQuantiles:
        noise = discrete_laplace(1 / self.count_epsilon, 1, source=source)[0]
        rows = max(0, data.rows + int(noise))
        order = Order(data, source, place_bits=self.place_bits, atoms=self.atoms)
        targets = [share * rows for share in self.shares]
        places, _ = JointDraw(order.whole(), targets, self.unit).draw(source)
        return DrawnQuantiles([order.cell(place) for place in places], rows)

    def ranks(self, chance: float, rows: int) -> float:
        off = math.log(2 / (chance / 2)) / float(self.count_epsilon)  # of the count
        many, fewest = len(self.quantiles), max(0.0, rows - off)
        room = self.apart(fewest), self.inside(fewest) - off
        stray = strayed(self.width, rows, float(self.unit), chance / 2, many, *room)
        # |e_j| <= (D + off) / 2, where the best D may be `off` larger; and the target is off.
        return stray / 2 + 2 * off
