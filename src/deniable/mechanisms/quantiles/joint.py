"""All quantiles at once: the exponential mechanism over whole tuples.

A tuple misses by D = sum |n_j - p_j n|, where n_j is the number of records between neighbouring
quantiles and p_j the share that should be there. Half of D is the number of records that must
be replaced to make the tuple right, so this is the inverse sensitivity mechanism for the whole
tuple. Replacing a record takes 1 from one n_j and adds it to another: D moves by at most 2.
Adding a record changes n_a and n: D moves by at most (1 - p_a) + sum of the other p_j
= 2 (1 - p_a). P is proportional to exp(-epsilon D / (2 change)). Gillenwater, Joseph & Kulesza,
"Differentially private quantiles", 2021. Ties are broken at random, see `order_statistics`.
"""

from fractions import Fraction

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
from deniable.privacy import Loss, RangeLoss


class JointQuantiles(QuantileMethod):
    """One exponential mechanism for all quantiles."""

    name = "joint"

    @property
    def loss(self) -> Loss:
        return RangeLoss(self.epsilon)

    @property
    def unit(self) -> Fraction:
        """The rate at which the weight decays with D."""
        least = min(self.shares) if self.neighbors == "add-remove" else Fraction(0)
        return min(self.epsilon / (4 * (1 - least)), MOST_UNIT)

    def draw(self, data: Histogram, source: BitSource) -> DrawnQuantiles:
        order = OrderStatistics(data, source, place_bits=self.place_bits, atoms=self.atoms)
        targets = [share * data.rows for share in self.shares]
        places, _ = JointDraw(order.all_records(), targets, self.unit).draw(source)
        return DrawnQuantiles([order.cell(place) for place in places])

    def rank_margin(self, chance: float, rows: int) -> float:
        # Records that are missing below a quantile are too many above it: D counts both.
        choices, room = len(self.quantiles), (self.apart(rows), self.inside(rows))
        return largest_distance(self.width, rows, float(self.unit), chance, choices, *room) / 2
