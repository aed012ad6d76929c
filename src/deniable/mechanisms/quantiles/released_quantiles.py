"""The result of a release of quantiles."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, confidence_level, rational, whole
from deniable.mechanisms.histogram import ColumnGrid
from deniable.mechanisms.quantiles.quantile_method import QuantileMethod
from deniable.privacy import Loss


@dataclass(frozen=True, slots=True)
class ReleasedQuantiles:
    """Private quantiles in ascending order, with their loss and their intervals.

    >>> from deniable.mechanisms import Quantiles
    >>> quartiles = Quantiles([0.25, 0.5, 0.75], epsilon=1, bounds=(0, 9), neighbors="replace")
    >>> released = quartiles.release([3] * 4000 + [7] * 6000)
    >>> released[0.25], released.values, released.interval(0.5)
    (3, (3, 7, 7), (3, 7))
    """

    quantiles: tuple[Fraction, ...]
    values: tuple[int | float, ...]
    loss: Loss
    method: str
    rows: int | None  # the number of rows, if it is public or was released too
    _plan: QuantileMethod
    _grid: ColumnGrid

    def __iter__(self) -> Iterator[int | float]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, quantile: Number) -> int | float:
        return self.values[self._place(quantile)]

    def interval(
        self, quantile: Number, confidence: Number = 0.95, *, rows: int | None = None
    ) -> tuple[int | float, int | float]:
        """Two numbers that contain the column's true quantile, with this confidence.

        It costs nothing: the ends are other released quantiles that lie further away than the
        margin in ranks, or the column's bounds. The margin depends on the number of rows. If
        the release did not count the rows, give a lower bound on them as `rows`.
        """
        level, place = confidence_level(confidence), self._place(quantile)
        count = self.rows if rows is None else whole(rows, "rows")
        if count is None:
            raise InvalidParameter(
                "`rows` is missing: this release did not count the rows. Give a lower bound on "
                "the number of rows; a smaller one makes the interval wider."
            )
        margin = self._plan.rank_margin(float(1 - level), max(count, 1))
        if self._plan.neighbors == "add-remove" and rows is None:
            count = max(0, count - math.ceil(margin))
        step = Fraction(math.ceil(margin), max(count, 1))
        target = self.quantiles[place]
        low = [
            v for q, v in zip(self.quantiles, self.values, strict=True) if q <= target - step
        ]
        high = [
            v for q, v in zip(self.quantiles, self.values, strict=True) if q >= target + step
        ]
        ends = self._grid.value(0), self._grid.value(self._grid.size - 1)
        return max(low, default=ends[0]), min(high, default=ends[1])

    def _place(self, quantile: Number) -> int:
        exact = rational(quantile, "quantile")
        if exact not in self.quantiles:
            raise InvalidParameter(
                f"`quantile` {quantile} was not released. Released: "
                f"{', '.join(str(float(q)) for q in self.quantiles)}."
            )
        return self.quantiles.index(exact)

    def __str__(self) -> str:
        pairs = zip(self.quantiles, self.values, strict=True)
        return ", ".join(f"{float(q):g}: {v:g}" for q, v in pairs)
