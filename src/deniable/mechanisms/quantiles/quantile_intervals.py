"""Quantiles with intervals in the column's own unit: both ends of each interval are drawn.

The ends of the interval of a quantile q are aimed at the ranks q n - M and q n + M, where the
reach M is a public constant. Ranks are counted as if M public rows lay at each bound. So a
target outside the table falls on the bound by itself, and nothing compares M with the private
number of rows. Level 0 (the minimum) has a low end that is public, the bound, and level 1 (the
maximum) a high end: so these take one draw, M ranks inside of the table.

Privacy. A target q n + c moves by q if a row is added, whatever the constant c is. Ranks move
by 0 or 1, and public rows are the same in both tables. So D (see `rank_draw`) moves by at most
max(q, 1 - q), for a replaced row by at most 1, as without c. All draws have the same unit =
epsilon / (2 * sum of these changes), and a draw costs 2 unit change.

Coverage. Let v be the true quantile, by any of the usual rules: the value of rank q n, or
between the values around it. A low end above v has D above M - 1, and so has a high end below
v. Together these are fewer than `size` cells, each with a weight below exp(-unit (M - 1)). Some
cell covers the target and has weight 1. So for M - 1 = ln(size * quantiles / chance) / unit all
intervals together fail with probability `chance` at most, whatever the rows are. By the same
count, all ends are at most 2 M ranks away from their quantiles, with the same probability.

Other ways are guaranteed less. If the quantile is drawn too, three draws share epsilon instead
of two. One draw of all ends together needs a larger reach, see `largest_distance`. Only a noisy
curve of all ranks (`noisy_tree`) is better, for many quantiles or few cells: there every rank
can be read at no further cost.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from deniable.errors import InvalidParameter
from deniable.exact.bits import SYSTEM, BitSource
from deniable.exact.rationals import Number, confidence_level, positive, rational, whole
from deniable.mechanisms.grid import Numbers
from deniable.mechanisms.histogram import ColumnGrid, Histogram
from deniable.mechanisms.named_arguments import check_arguments
from deniable.mechanisms.quantiles.noisy_tree import MOST_CELLS, TreeQuantiles
from deniable.mechanisms.quantiles.rank_draw import RankDraw
from deniable.privacy import Loss, Neighbors, PureLoss, RangeLoss, neighboring

METHODS = ("independent", "tree")
MOST_REACH = 1 << 52  # ranks
_MOST = 10_000
_QUICK_TREE = 1 << 16  # cells; a larger tree is slow, and worth it only for many quantiles
_MANY = 40


@dataclass(frozen=True, slots=True)
class DrawnIntervals:
    """Cells, in the order of the quantiles; without brackets there are no ends."""

    cells: list[int]
    ends: list[tuple[int, int]] | None


@dataclass(frozen=True, slots=True)
class ReleasedIntervals:
    """Private quantiles in ascending order, with both ends of their intervals."""

    quantiles: tuple[Fraction, ...]
    values: tuple[int | float, ...]
    ends: tuple[tuple[int | float, int | float], ...] | None
    loss: Loss


@dataclass(frozen=True, slots=True, init=False)
class QuantileIntervals:
    """Quantiles from 0 (minimum) to 1 (maximum), each with an interval in the column's unit.

    The intervals hold together, with this `confidence`, for every possible column. `reach` is
    how many ranks away the ends are aimed at; by default it follows from the confidence. With
    `brackets=False` no ends are drawn: the values are sharper, and `reach` is their margin in
    ranks. `method` is "independent" or "tree"; "auto" takes the one with the smaller reach.

    >>> median = QuantileIntervals(0.5, epsilon=1, bounds=(0, 100), neighbors="add-remove")
    >>> median.reach, median.method, median.loss.epsilon()
    (17, 'independent', 1.0)
    >>> released = median.release(list(range(100)) * 100)
    >>> ((low, high),) = released.ends
    >>> low <= 50 <= high
    True
    """

    quantiles: tuple[Fraction, ...]
    epsilon: Fraction
    grid: ColumnGrid
    neighbors: Neighbors
    reach: int
    brackets: bool
    method: str

    @check_arguments
    def __init__(
        self,
        quantiles: Number | Sequence[Number],
        *,
        epsilon: Number,
        bounds: tuple[Number, Number],
        neighbors: Neighbors,
        step: Number = 1,
        confidence: Number = 0.95,
        reach: int | None = None,
        brackets: bool = True,
        method: str = "auto",
    ) -> None:
        if method not in ("auto", *METHODS) or (method == "tree" and not brackets):
            raise InvalidParameter(
                '`method` must be "auto", "independent" or, with brackets, "tree". Found '
                f"{method!r}."
            )
        for name, value in {
            "quantiles": _read_levels(quantiles),
            "epsilon": positive(epsilon, "epsilon"),
            "grid": ColumnGrid.of(bounds, step),
            "neighbors": neighboring(neighbors),
            "brackets": brackets,
        }.items():
            object.__setattr__(self, name, value)
        level = confidence_level(confidence)
        if method == "auto":
            method = min(self._possible_methods(), key=lambda name: self._least(name, level))
        object.__setattr__(self, "method", method)
        ranks = self._least(method, level) if reach is None else whole(reach, "reach")
        if ranks > MOST_REACH:
            raise InvalidParameter(
                f"At epsilon {float(self.epsilon):.3g} the interval of a quantile would be "
                "wider than any table. Choose a larger epsilon."
            )
        object.__setattr__(self, "reach", int(ranks))

    @property
    def unit(self) -> Fraction:
        """The rate at which the weight of a cell decays with the ranks that it misses."""
        changes = sum((self._change(q) * self.draws(q) for q in self.quantiles), Fraction(0))
        return self.epsilon / (2 * changes)

    @property
    def loss(self) -> Loss:
        """What one release costs, all draws together."""
        if self.method == "tree":
            return PureLoss(self.epsilon)
        counts: dict[Fraction, int] = {}
        for q in self.quantiles:
            counts[self._change(q)] = counts.get(self._change(q), 0) + self.draws(q)
        (first, times), *others = counts.items()
        total: Loss = RangeLoss(2 * self.unit * first) * times
        for change, times in others:
            total = total + RangeLoss(2 * self.unit * change) * times
        return total

    @property
    def draws_both_ends(self) -> bool:
        """Whether the interval of any quantile takes a second draw."""
        return any(self.draws(q) > 1 for q in self.quantiles)

    def draws(self, quantile: Fraction) -> int:
        """How many values are drawn for a quantile."""
        return 2 if self.brackets and 0 < quantile < 1 else 1

    def margin(self, confidence: Number = 0.95) -> int:
        """The least reach that this confidence needs. Without brackets: the ranks that a
        quantile may be off."""
        least = self._least(self.method, confidence_level(confidence))
        return int(min(least, MOST_REACH))

    def sharper_margin(self, confidence: Number = 0.95) -> int:
        """The margin in ranks that the quantiles would have without brackets."""
        ends = self.grid.value(0), self.grid.value(self.grid.size - 1)
        alone = QuantileIntervals(
            self.quantiles,
            epsilon=self.epsilon,
            bounds=ends,
            step=self.grid.step,
            neighbors=self.neighbors,
            confidence=confidence,
            brackets=False,
        )
        return alone.reach

    @property
    def typical(self) -> float:
        """How many ranks a quantile of smooth data is typically off: one draw misses about
        1 / unit, and the middle of two hardly less. For a tree: the margin itself."""
        return float(self.reach) if self.method == "tree" else 1 / float(self.unit)

    def release(self, values: Numbers) -> ReleasedIntervals:
        """The quantiles and intervals of a list or an array of numbers."""
        return self._name(self.draw(Histogram.of_values(self.grid, values), SYSTEM))

    def release_cells(self, cells: Any, counts: Any) -> ReleasedIntervals:
        """The same of a histogram: cell numbers in ascending order, and their row counts."""
        return self._name(self.draw(Histogram.of_cells(self.grid, cells, counts), SYSTEM))

    def draw(self, data: Histogram, source: BitSource) -> DrawnIntervals:
        """One release, in cells."""
        if self.method == "tree":
            return self._read_curve(self._tree.draw_curve(data, source))
        ranks, unit = RankDraw(data, outside=self.reach), self.unit

        def aim(quantile: Fraction, ends: int) -> int:
            return ranks.draw(quantile, unit, source, offset=ends * self.reach)

        if not self.brackets:
            ends_of = {
                Fraction(0): 2,
                Fraction(1): 0,
            }  # in reaches from the first public row; other levels: 1
            return DrawnIntervals(
                sorted(aim(q, ends_of.get(q, 1)) for q in self.quantiles), None
            )
        top = data.size - 1
        lows = sorted(0 if q == 0 else aim(q, 0) for q in self.quantiles)
        highs = sorted(top if q == 1 else aim(q, 2) for q in self.quantiles)
        middles = [(low + high) // 2 for low, high in zip(lows, highs, strict=True)]
        return self._order(lows, middles, highs)

    def _read_curve(self, curve: "np.ndarray[Any, np.dtype[np.float64]]") -> DrawnIntervals:
        """The cells where a noisy curve reaches the ranks of quantiles and of their ends."""
        top, levels = curve.size - 1, np.array([float(q) for q in self.quantiles])
        aims = [levels * curve[-1] + self.reach * side for side in (-1, 0, 1)]
        lows, points, highs = (
            np.minimum(np.searchsorted(curve, aim, side="left"), top).tolist() for aim in aims
        )
        lows = [0 if q == 0 else low for q, low in zip(self.quantiles, lows, strict=True)]
        highs = [top if q == 1 else end for q, end in zip(self.quantiles, highs, strict=True)]
        return self._order(lows, points, highs)

    def _order(self, lows: list[int], points: list[int], highs: list[int]) -> DrawnIntervals:
        """Intervals whose ends are in order. The minimum is the high end of its own, and the
        maximum the low end: the other end is a bound."""
        ends = [(min(pair), max(pair)) for pair in zip(lows, highs, strict=True)]
        cells = [
            high if q == 0 else low if q == 1 else point
            for q, point, (low, high) in zip(self.quantiles, points, ends, strict=True)
        ]
        return DrawnIntervals(cells, ends)

    def _name(self, drawn: DrawnIntervals) -> ReleasedIntervals:
        """The cells of a draw as numbers."""
        value, ends = self.grid.value, drawn.ends
        named = None if ends is None else tuple((value(low), value(high)) for low, high in ends)
        return ReleasedIntervals(
            self.quantiles, tuple(map(value, drawn.cells)), named, self.loss
        )

    @property
    def _tree(self) -> TreeQuantiles:
        return TreeQuantiles(self.quantiles, self.epsilon, self.neighbors, self.grid.size)

    def _possible_methods(self) -> tuple[str, ...]:
        size, many = self.grid.size, len(self.quantiles) > _MANY
        quick = size <= (MOST_CELLS if many else _QUICK_TREE)
        return METHODS if self.brackets and quick else METHODS[:1]

    def _least(self, method: str, confidence: Fraction) -> float:
        """The least reach, in whole ranks. A float is safe here: every input is public."""
        chance = float(1 - confidence)
        if method == "tree":
            return math.ceil(self._tree.rank_margin(chance, 1)) + 1
        logs = math.log(self.grid.size * len(self.quantiles) / chance)
        return math.ceil(min(logs / float(self.unit), 2.0**1000)) + 1

    def _change(self, quantile: Fraction) -> Fraction:
        """How far one row can move D."""
        return max(quantile, 1 - quantile) if self.neighbors == "add-remove" else Fraction(1)


def _read_levels(quantiles: Number | Sequence[Number]) -> tuple[Fraction, ...]:
    several = isinstance(quantiles, Sequence | np.ndarray)
    listed: list[Any] = list(quantiles) if several else [quantiles]  # type: ignore[arg-type]
    exact = tuple(rational(q, "quantiles") for q in listed)
    rising = all(a < b for a, b in pairwise(exact))
    if not exact or not rising or exact[0] < 0 or exact[-1] > 1 or len(exact) > _MOST:
        raise InvalidParameter(
            f"`quantiles` must be numbers from 0 to 1 in ascending order, at most {_MOST}, "
            f"such as [0.25, 0.5, 0.75]. Found {quantiles}."
        )
    return exact
