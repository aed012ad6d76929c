"""Quantiles and most frequent values, drawn from the cells of each group in the answer.

A value is drawn for every group, even an empty one, so the shape of the answer does not depend
on the rows. A margin in ranks or rows comes from the plan. An interval in the column's own unit
is drawn as well, or comes from other released quantiles: the nearest ones beyond the margin in
ranks.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms import PermuteAndFlip, QuantileIntervals, Quantiles
from deniable.query.margins.evaluation import Values
from deniable.query.plan.plan import Choice, Plan
from deniable.release.answer.cell_places import PlacedCells
from deniable.release.answer.groups import Groups
from deniable.release.answer.saturation import MOST_ROWS, limit_rows

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

# The most rows of one cell that count, for methods that draw a place for each row of a cell:
# one gigabyte of places. More would depend on the memory that there is, and so on the rows.
MOST_IN_A_CELL = 1 << 27
_MOST_DENSE_CELLS = 1 << 24  # up to here, counting into all cells is faster than sorting


@dataclass(frozen=True, slots=True)
class DrawnChoices:
    """Chosen values by name, and their intervals in the column's unit, if known."""

    values: dict[str, Values]
    ends: dict[str, tuple[Floats, Floats]]


def draw_choices(plan: Plan, groups: Groups) -> DrawnChoices:
    """Draws all choices of a plan, in all of its groups."""
    drawn = DrawnChoices({}, {})
    for choice in plan.choices:
        mechanism = choice.mechanism
        cells = _cells_by_group(groups.cells[choice.name], groups.count, choice.cells)
        if isinstance(mechanism, QuantileIntervals):
            _draw_intervals(choice, mechanism, cells, drawn)
        elif isinstance(mechanism, Quantiles):
            _draw_quantiles(choice, mechanism, cells, plan.confidence, drawn)
        else:
            _draw_most_frequent(choice, mechanism, cells, drawn)
    return drawn


def _cells_by_group(
    placed: PlacedCells, count: int, size: int
) -> Iterator[tuple[Integers, Integers]]:
    """The cells of each group in ascending order, and their counts.

    A cell may occur twice, as in the group of all other keys; its counts are added up.
    """
    if count == 1 and (placed.cell[1:] > placed.cell[:-1]).all():
        yield placed.cell, limit_rows(placed.count)
        return
    place = placed.group * size + placed.cell
    if count * size <= _MOST_DENSE_CELLS:
        every = np.bincount(place, weights=placed.count, minlength=count * size)
        filled = np.flatnonzero(every)
        number = np.minimum(every[filled], MOST_ROWS).astype(np.int64)  # exact up to 2**53
    else:
        filled, same = np.unique(place, return_inverse=True)
        number = np.minimum(np.bincount(same, placed.count), MOST_ROWS).astype(np.int64)
    group, cell = np.divmod(filled, size)
    ends = np.searchsorted(group, np.arange(count + 1))
    for start, end in pairwise(ends.tolist()):
        yield cell[start:end], limit_rows(number[start:end])


def _draw_intervals(
    choice: Choice,
    mechanism: QuantileIntervals,
    cells: Iterator[tuple[Integers, Integers]],
    drawn: DrawnChoices,
) -> None:
    released = [mechanism.release_cells(*group) for group in cells]
    for place, name in enumerate(choice.names):
        drawn.values[name] = np.array([group.values[place] for group in released], np.float64)
        if mechanism.brackets:
            ends = [group.ends[place] for group in released if group.ends is not None]
            lower, upper = np.array(ends, dtype=np.float64).reshape(-1, 2).T
            drawn.ends[name] = lower, upper


def _draw_quantiles(
    choice: Choice,
    mechanism: Quantiles,
    cells: Iterator[tuple[Integers, Integers]],
    confidence: Fraction,
    drawn: DrawnChoices,
) -> None:
    placed = mechanism.method in ("joint", "recursive", "fixed-target")
    most = MOST_IN_A_CELL if placed else MOST_ROWS
    released = [mechanism.release_cells(cell, np.minimum(n, most)) for cell, n in cells]
    has_margins = mechanism.method in ("fixed-target", "tree")
    for name, level in zip(choice.names, mechanism.quantiles, strict=True):
        drawn.values[name] = np.array([group[level] for group in released], dtype=np.float64)
        if has_margins:
            ends = [group.interval(level, confidence) for group in released]
            lower, upper = np.array(ends, dtype=np.float64).reshape(-1, 2).T
            drawn.ends[name] = lower, upper


def _draw_most_frequent(
    choice: Choice,
    mechanism: PermuteAndFlip,
    cells: Iterator[tuple[Integers, Integers]],
    drawn: DrawnChoices,
) -> None:
    labels = np.array(choice.labels, dtype=object)
    rows = [_peel(mechanism, *group, labels.size, choice.rounds) for group in cells]
    table = np.array(rows, dtype=np.int64).reshape(-1, choice.rounds)
    for place, name in enumerate(choice.names):
        drawn.values[name] = labels[table[:, place]]


def _peel(
    mechanism: PermuteAndFlip, cells: Integers, counts: Integers, size: int, rounds: int
) -> list[int]:
    """Draws one choice after another, each among the values that are left."""
    scores = np.zeros(size, dtype=np.int64)
    scores[cells] = counts
    left, picked = np.arange(size), []
    for _ in range(rounds):
        place = int(mechanism.release(scores[left]))
        picked.append(int(left[place]))
        left = np.delete(left, place)
    return picked
