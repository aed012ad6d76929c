"""`Quantiles`: the public class; it uses one of five methods."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from deniable.errors import InvalidParameter
from deniable.exact.bits import SYSTEM
from deniable.exact.rationals import Number, confidence_level, rational, whole
from deniable.mechanisms import epsilon_or_odds
from deniable.mechanisms.grid import Numbers
from deniable.mechanisms.histogram import ColumnGrid, Histogram
from deniable.mechanisms.named_arguments import check_arguments
from deniable.mechanisms.quantiles.best_method import choose_method
from deniable.mechanisms.quantiles.quantile_method import QuantileMethod
from deniable.mechanisms.quantiles.released_quantiles import ReleasedQuantiles
from deniable.mechanisms.quantiles.stretched_cells import usual_atoms
from deniable.privacy import Loss, Neighbors, neighboring

_MOST = 10_000


@dataclass(frozen=True, slots=True, init=False)
class Quantiles:
    """One or many quantiles of a column, on a grid between public bounds.

    Values outside the bounds are clipped to them. `method="auto"` chooses by the number of
    quantiles and the neighbouring relation, and `why` gives the reason. The methods are
    "independent", "joint", "fixed-target", "recursive" and "tree".

    >>> quartiles = Quantiles(
    ...     [0.25, 0.5, 0.75], epsilon=1, bounds=(0, 100), neighbors="add-remove"
    ... )
    >>> quartiles.method, quartiles.loss.epsilon()
    ('recursive', 1.0)
    >>> ages = [23, 31, 35, 38, 40, 41, 47, 52, 60, 71] * 100
    >>> released = quartiles.release(ages)
    >>> len(released.values)
    3
    """

    quantiles: tuple[Fraction, ...]
    epsilon: Fraction | None
    odds: Fraction | None
    grid: ColumnGrid
    neighbors: Neighbors
    plan: QuantileMethod
    why: str

    @check_arguments
    def __init__(
        self,
        quantiles: Number | Sequence[Number],
        *,
        bounds: tuple[Number, Number],
        neighbors: Neighbors,
        epsilon: Number | None = None,
        odds: Number | None = None,
        step: Number = 1,
        method: str = "auto",
    ) -> None:
        exact_quantiles = _read_quantiles(quantiles)
        exact_epsilon, exact_odds = epsilon_or_odds.read(epsilon, odds)
        grid, relation = ColumnGrid.of(bounds, step), neighboring(neighbors)
        kind, why = choose_method(method, len(exact_quantiles), relation, grid.size)
        rate = epsilon_or_odds.rate(exact_epsilon, exact_odds)
        for name, value in {
            "quantiles": exact_quantiles,
            "epsilon": exact_epsilon,
            "odds": exact_odds,
            "grid": grid,
            "neighbors": relation,
            "plan": kind(exact_quantiles, rate, relation, grid.size, atoms=usual_atoms(grid)),
            "why": why,
        }.items():
            object.__setattr__(self, name, value)

    @property
    def method(self) -> str:
        """The method's name."""
        return self.plan.name

    @property
    def loss(self) -> Loss:
        """What one release costs, all quantiles together."""
        return self.plan.loss

    def release(self, values: Numbers) -> ReleasedQuantiles:
        """The quantiles of a list or an array of numbers.

        >>> median = Quantiles(0.5, epsilon=1, bounds=(0, 9), neighbors="replace")
        >>> median.release([7] * 1000).values
        (7,)
        """
        return self._release_histogram(Histogram.of_values(self.grid, values))

    def release_cells(self, cells: Any, counts: Any) -> ReleasedQuantiles:
        """The quantiles of a histogram: cell numbers in ascending order, and their row counts.

        Cell k is the grid point lowest + k * step. A database can compute such a histogram.

        >>> median = Quantiles(0.5, epsilon=1, bounds=(10, 19), neighbors="replace")
        >>> median.release_cells([2, 7], [1000, 1]).values
        (12,)
        """
        return self._release_histogram(Histogram.of_cells(self.grid, cells, counts))

    def _release_histogram(self, data: Histogram) -> ReleasedQuantiles:
        drawn = self.plan.draw(data, SYSTEM)
        rows = data.rows if self.neighbors == "replace" else drawn.rows
        values = tuple(self.grid.value(cell) for cell in drawn.cells)
        return ReleasedQuantiles(
            self.quantiles, values, self.loss, self.method, rows, self.plan, self.grid
        )

    def margin(self, confidence: Number = 0.95, *, rows: int) -> int:
        """The margin in ranks: with probability `confidence` it holds for every quantile.

        It holds for any column of `rows` rows, also the worst; most are several times better.
        A repeated value covers all the ranks of its repeats.

        >>> Quantiles(0.5, epsilon=1, bounds=(0, 9), neighbors="add-remove").margin(rows=1000)
        6
        """
        level = confidence_level(confidence)
        count = whole(rows, "rows")
        return min(count, math.ceil(self.plan.rank_margin(float(1 - level), count)))


def _read_quantiles(quantiles: Number | Sequence[Number]) -> tuple[Fraction, ...]:
    several = isinstance(quantiles, Sequence | np.ndarray)
    listed: list[Any] = list(quantiles) if several else [quantiles]  # type: ignore[arg-type]
    exact = tuple(rational(q, "quantiles") for q in listed)
    inside = all(0 < q < 1 for q in exact)
    rising = all(a < b for a, b in pairwise(exact))
    if not exact or not inside or not rising or len(exact) > _MOST:
        raise InvalidParameter(
            f"`quantiles` must be numbers above 0 and below 1 in ascending order, at most "
            f"{_MOST}, such as [0.25, 0.5, 0.75]. Found {quantiles}."
        )
    return exact
