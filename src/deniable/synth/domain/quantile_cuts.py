"""Cuts of a number at private quantiles, and the values that a cell stands for.

Equal quantiles are an atom, such as a gain of 0: it becomes a cell of its own.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from deniable.policy import Column
from deniable.synth.domain.column_cells import ColumnCells, Cut
from deniable.synth.domain.date_cells import draw_days

LEVELS = tuple(Fraction(i, 32) for i in range(1, 32))
_STEPS = 1024  # of a number without a declared grid


def grid_step(column: Column) -> Fraction:
    """The grid on which a number's values are drawn."""
    if column.step is not None:
        return column.step
    assert column.bounds is not None
    low, high = column.bounds
    return Fraction(1) if column.integer else (high - low) / _STEPS


def cuts_at(column: Column, quantiles: Sequence[float]) -> list[Cut]:
    """The cuts at released quantiles, on the column's grid and within its bounds.

    >>> gain = Column("gain", bounds=(0, 1000), step=1)
    >>> [int(cut) for cut in cuts_at(gain, [0.0, 0.0, 0.0, 120.0, 500.0])]
    [1, 120, 500]
    """
    assert column.bounds is not None
    (low, high), step = column.bounds, grid_step(column)
    places = [low + round((Fraction(value) - low) / step) * step for value in quantiles]
    atoms = {place for place, times in Counter(places).items() if times > 1}
    cuts = {*places, *(atom + step for atom in atoms)}
    inside: list[Cut] = [cut for cut in sorted(cuts) if low < cut <= high]
    return inside or [high]


def cells_at(column: Column, quantiles: Sequence[float], *, missing: bool) -> ColumnCells:
    """The cells of a number that is cut at released quantiles."""
    return ColumnCells.of_cuts(column, cuts_at(column, quantiles), missing=missing)


def draw_values(
    cells: ColumnCells, column: Column, codes: NDArray[np.int64], chance: Generator
) -> list[object]:
    """A value of the column for each cell; None for the cell of missing values. A value inside
    an interval is drawn evenly from its grid points."""
    if cells.cuts and cells.kind == "date":
        return list(draw_days(cells, codes, chance))
    if not cells.cuts or column.bounds is None:
        return [cells.labels[code] for code in codes.tolist()]
    step, (low, high) = grid_step(column), column.bounds
    ends = [low, *(Fraction(cut) for cut in cells.cuts), high]
    values = np.empty(codes.size, dtype=object)
    for cell in range(len(ends) - 1):
        own = np.flatnonzero(codes == cell)
        first = ceil((ends[cell] - low) / step)
        last = max(first, ceil((ends[cell + 1] - low) / step) - (cell < len(ends) - 2))
        drawn = chance.integers(first, last + 1, own.size)
        points = {int(place): _value(low + int(place) * step, high) for place in set(drawn)}
        values[own] = [points[int(place)] for place in drawn]
    return [None if value is None else value for value in values.tolist()]


def _value(value: Fraction, high: Fraction) -> int | float:
    within = min(value, high)
    return int(within) if within.denominator == 1 else float(within)
