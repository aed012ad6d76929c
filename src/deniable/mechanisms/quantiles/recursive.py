"""The middle quantile first, then both halves, each from its own records only.

On every level the nodes have disjoint records and places, so under add-remove a record
touches one node of a level, and a level costs what one node does. Within a node, the rank i
of a candidate is compared with q' n', q' the quantile within the node and n' its records:
|i - q' n'| moves by at most max(q', 1 - q'). A replacement within a node moves it by at most
1; one that leaves a node for another moves both as an addition and a removal do. So under
replace a node uses max(1, 2 max(q', 1 - q')), and both touched nodes together cost no more
than one; at the root, whose rows are public then, 1 will do. Kaplan, Schnapp & Stemmer,
"Differentially private approximate quantiles", 2022. Ties are broken by
chance once, before the first cut, see `order`.
"""

from fractions import Fraction

from deniable.exact.bits import BitSource
from deniable.mechanisms.histogram import Histogram
from deniable.mechanisms.quantiles.joint_draw import JointDraw
from deniable.mechanisms.quantiles.method import DrawnQuantiles, Method, strayed
from deniable.mechanisms.quantiles.order_statistics import Order, Slice
from deniable.privacy import Loss, RangeLoss


class Recursive(Method):
    """A binary tree of exponential mechanisms."""

    name = "recursive"

    @property
    def levels(self) -> int:
        """How many cuts lie above one another."""
        return len(self.quantiles).bit_length()

    @property
    def loss(self) -> Loss:
        return RangeLoss(self.epsilon / self.levels) * self.levels

    def unit(self, quantile: Fraction, *, root: bool = False) -> Fraction:
        """The rate at which a missed rank loses weight, at a quantile within a node."""
        change = max(quantile, 1 - quantile)
        if self.neighbors == "replace":
            change = Fraction(1) if root else max(Fraction(1), 2 * change)
        return self.epsilon / self.levels / (2 * change)

    def draw(self, data: Histogram, source: BitSource) -> DrawnQuantiles:
        order = Order(data, source, place_bits=self.place_bits, atoms=self.atoms)
        places = self._cut(order.whole(), 0, len(self.quantiles), source)
        return DrawnQuantiles([order.cell(place) for place in places])

    def _cut(self, data: Slice, low: int, high: int, source: BitSource) -> list[int]:
        """The quantiles number low, ..., high - 1, of the records between their neighbours."""
        if low == high:
            return []
        middle = (low + high) // 2
        within = self._within(low, middle, high)
        below, above = within * data.rows, (1 - within) * data.rows
        unit = self.unit(within, root=high - low == len(self.quantiles))
        draw = JointDraw(data, [below, above], unit / 2)  # D counts both sides
        (place,), (rank,) = draw.draw(source)
        left, right = data.split(place, rank)
        return [
            *self._cut(left, low, middle, source),
            place,
            *self._cut(right, middle + 1, high, source),
        ]

    def _within(self, low: int, middle: int, high: int) -> Fraction:
        """The middle quantile as one of the records between the quantiles around."""
        ends = [Fraction(0), *self.quantiles, Fraction(1)]
        return (ends[middle + 1] - ends[low]) / (ends[high + 1] - ends[low])

    def ranks(self, chance: float, rows: int) -> float:
        # A node inherits a mix of its two ends' errors, so at most one of each level adds up.
        each = chance / len(self.quantiles)
        worst = [0.0] * self.levels

        def visit(low: int, high: int, level: int) -> None:
            if low < high:
                middle = (low + high) // 2
                unit = self.unit(self._within(low, middle, high), root=level == 0)
                stray = strayed(self.width, rows, float(unit), each)
                worst[level] = max(worst[level], stray)
                visit(low, middle, level + 1)
                visit(middle + 1, high, level + 1)

        visit(0, len(self.quantiles), 0)
        return sum(worst)
