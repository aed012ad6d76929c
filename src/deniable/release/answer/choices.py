"""Quantiles and most frequent values, drawn from the cells of each group that appears.

Every group is drawn, the empty ones too, so nothing about the answer's shape tells who is
there. A margin in ranks or rows is the plan's. In the column's own unit it comes from other
quantiles that were released beside: the nearest ones that the margin in ranks cannot reach.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms import PermuteAndFlip, Quantiles
from deniable.query.margins.evaluation import Values
from deniable.query.plan.plan import Choice, Plan
from deniable.release.answer.cell_places import PlacedCells
from deniable.release.answer.groups import Groups

Integers = NDArray[np.int64]

_MOST_DENSE_CELLS = 1 << 24


@dataclass(frozen=True, slots=True)
class DrawnChoices:
    """Chosen values by name, and how far each may be off in its own unit, where known."""

    values: dict[str, Values]
    margins: dict[str, NDArray[np.float64]]


def draw_choices(plan: Plan, groups: Groups) -> DrawnChoices:
    """All choices of a plan, in all of its groups."""
    found = DrawnChoices({}, {})
    for choice in plan.choices:
        mechanism = choice.mechanism
        cells = _cells_by_group(groups.cells[choice.name], groups.count, choice.cells)
        if isinstance(mechanism, Quantiles):
            _draw_quantiles(choice, mechanism, cells, plan.confidence, found)
        else:
            _draw_most_frequent(choice, mechanism, cells, found)
    return found


def _cells_by_group(
    placed: PlacedCells, count: int, size: int
) -> Iterator[tuple[Integers, Integers]]:
    """The cells of each group in ascending order, and their counts.

    Cells that stand there twice, as in the rest of all groups, are one. Where there are not
    too many cells, counting into all of them takes far less time than sorting.
    """
    if count == 1 and (placed.cell[1:] > placed.cell[:-1]).all():
        yield placed.cell, placed.count
        return
    place = placed.group * size + placed.cell
    if count * size <= _MOST_DENSE_CELLS:
        every = np.bincount(place, weights=placed.count, minlength=count * size)
        found = np.flatnonzero(every)
        number = every[found].astype(np.int64)  # whole, and below 2**53
    else:
        found, same = np.unique(place, return_inverse=True)
        number = np.zeros(found.size, dtype=np.int64)
        np.add.at(number, same, placed.count)
    group, cell = np.divmod(found, size)
    ends = np.searchsorted(group, np.arange(count + 1))
    for start, end in pairwise(ends.tolist()):
        yield cell[start:end], number[start:end]


def _draw_quantiles(
    choice: Choice,
    mechanism: Quantiles,
    cells: Iterator[tuple[Integers, Integers]],
    confidence: Fraction,
    found: DrawnChoices,
) -> None:
    released = [mechanism.release_cells(*one) for one in cells]
    counted = mechanism.method in ("fixed-target", "tree")
    for name, level in zip(choice.names, mechanism.quantiles, strict=True):
        found.values[name] = np.array([one[level] for one in released], dtype=np.float64)
        if counted:
            ends = [one.interval(level, confidence) for one in released]
            lower, upper = np.array(ends, dtype=np.float64).reshape(-1, 2).T
            value = found.values[name]
            found.margins[name] = np.maximum(upper - value, value - lower)


def _draw_most_frequent(
    choice: Choice,
    mechanism: PermuteAndFlip,
    cells: Iterator[tuple[Integers, Integers]],
    found: DrawnChoices,
) -> None:
    labels = np.array(choice.labels, dtype=object)
    rows = [_peel(mechanism, *one, labels.size, choice.rounds) for one in cells]
    table = np.array(rows, dtype=np.int64).reshape(-1, choice.rounds)
    for place, name in enumerate(choice.names):
        found.values[name] = labels[table[:, place]]


def _peel(
    mechanism: PermuteAndFlip, cells: Integers, counts: Integers, size: int, rounds: int
) -> list[int]:
    """One choice after another, each among those that are left."""
    scores = np.zeros(size, dtype=np.int64)
    scores[cells] = counts
    left, picked = np.arange(size), []
    for _ in range(rounds):
        place = int(mechanism.release(scores[left]))
        picked.append(int(left[place]))
        left = np.delete(left, place)
    return picked
