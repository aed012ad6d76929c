"""The middle quantile first, then both halves, each from its own records only.

On every level the nodes have disjoint records and places. So under add-remove a record is in
one node of a level, and a level costs as much as one node. Within a node, the rank i of a
candidate is compared with q' n', where q' is the quantile within the node and n' its number of
records: |i - q' n'| moves by at most max(q', 1 - q'). A replacement within a node moves it by
at most 1. A replacement that moves a record to another node acts as a removal and an addition.
So under replace a node uses max(1, 2 max(q', 1 - q')), and the two changed nodes together cost
no more than one. At the root the number of rows is public under replace, so 1 is enough.
Kaplan, Schnapp & Stemmer, "Differentially private approximate quantiles", 2022. Ties are broken
at random once, before the first cut, see `order_statistics`.
"""

from fractions import Fraction

from deniable.exact.bits import BitSource
from deniable.mechanisms.histogram import Histogram
from deniable.mechanisms.quantiles.joint_draw import JointDraw
from deniable.mechanisms.quantiles.order_statistics import OrderStatistics, RecordSlice
from deniable.mechanisms.quantiles.quantile_method import (
    MOST_UNIT,
    DrawnQuantiles,
    QuantileMethod,
    largest_distance,
)
from deniable.privacy import Loss, RangeLoss


class RecursiveQuantiles(QuantileMethod):
    """A binary tree of exponential mechanisms."""

    name = "recursive"

    @property
    def levels(self) -> int:
        """The depth of the tree of cuts."""
        return len(self.quantiles).bit_length()

    @property
    def loss(self) -> Loss:
        return RangeLoss(self.epsilon / self.levels) * self.levels

    def unit(self, quantile: Fraction, *, root: bool = False) -> Fraction:
        """The rate at which the weight decays with the missed rank, in one node."""
        change = max(quantile, 1 - quantile)
        if self.neighbors == "replace":
            change = Fraction(1) if root else max(Fraction(1), 2 * change)
        return min(self.epsilon / self.levels / (2 * change), MOST_UNIT)

    def draw(self, data: Histogram, source: BitSource) -> DrawnQuantiles:
        order = OrderStatistics(data, source, place_bits=self.place_bits, atoms=self.atoms)
        places = self._draw_between(order.all_records(), 0, len(self.quantiles), source)
        return DrawnQuantiles([order.cell(place) for place in places])

    def _draw_between(
        self, data: RecordSlice, low: int, high: int, source: BitSource
    ) -> list[int]:
        """Draws quantiles number low, ..., high - 1; `data` lies between their neighbours."""
        if low == high:
            return []
        middle = (low + high) // 2
        within = self._relative_quantile(low, middle, high)
        below, above = within * data.rows, (1 - within) * data.rows
        unit = self.unit(within, root=high - low == len(self.quantiles))
        draw = JointDraw(data, [below, above], unit / 2)  # D counts both sides
        (place,), (rank,) = draw.draw(source)
        left, right = data.split(place, rank)
        return [
            *self._draw_between(left, low, middle, source),
            place,
            *self._draw_between(right, middle + 1, high, source),
        ]

    def _relative_quantile(self, low: int, middle: int, high: int) -> Fraction:
        """The middle quantile, relative to the records between the quantiles around it."""
        ends = [Fraction(0), *self.quantiles, Fraction(1)]
        return (ends[middle + 1] - ends[low]) / (ends[high + 1] - ends[low])

    def rank_margin(self, chance: float, rows: int) -> float:
        # A node inherits a mix of the errors of its two ends, so one error per level adds up.
        each = chance / len(self.quantiles)
        worst = [0.0] * self.levels

        def visit(low: int, high: int, level: int) -> None:
            if low < high:
                middle = (low + high) // 2
                unit = self.unit(self._relative_quantile(low, middle, high), root=level == 0)
                stray = largest_distance(self.width, rows, float(unit), each)
                worst[level] = max(worst[level], stray)
                visit(low, middle, level + 1)
                visit(middle + 1, high, level + 1)

        visit(0, len(self.quantiles), 0)
        return sum(worst)
