"""Children for the parents of a copy: drawn for each parent before the copy is scored.

A parent gets as many children as its number says, from the sampled children whose parent is in
about the same cells. Where no child has such a parent, the last columns are left out one by
one. The cells of a child's parent are then replaced by those of the parent that it got. So the
scorecard and the certificate of the children are about the rows that are delivered.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.random import Generator
from numpy.typing import NDArray

from deniable.synth.copies.copy_plans import CopyPlan
from deniable.synth.copies.table_copy import draw_rows
from deniable.synth.domain.cell_codes import code_values
from deniable.synth.domain.column_cells import ColumnCells
from deniable.synth.sample.tree_rows import Codes

_COARSE = 10  # parts of a number or date within which parents are alike

Pools = list[dict[tuple[int, ...], list[int]]]


@dataclass(frozen=True, slots=True)
class ChildRows:
    """The parents that children are drawn for; it delivers the rows of the children's copy."""

    parents: "pa.Table"  # with the key and the number of children
    key: str
    count: str

    def __call__(
        self, copy_plan: CopyPlan, cells: Sequence[ColumnCells], codes: Codes, chance: Generator
    ) -> "tuple[Codes, pa.Table]":
        """The cells and the values of the delivered children, with their parent's columns."""
        names = [name for name in self._shared if name in copy_plan.columns]
        places = [copy_plan.columns.index(name) for name in names]
        own = self._code_parents(names, [cells[place] for place in places])
        coarse = [_coarsen(cells[place]) for place in places]
        drawn, owners = draw_children(
            _keys(own, coarse),
            self.parents[self.count].to_pylist(),
            _keys(codes[:, places], coarse),
            chance,
        )
        delivered = codes[drawn]
        delivered[:, places] = own[owners]
        rows = draw_rows(copy_plan, cells, delivered, chance)
        for name in names:
            place = rows.column_names.index(name)
            values = self.parents[name].take(pa.array(owners))
            rows = rows.set_column(place, name, values)
        return delivered, rows.add_column(0, self.key, self.parents[self.key].take(owners))

    @property
    def _shared(self) -> list[str]:
        added_columns = self.key, self.count
        return [name for name in self.parents.column_names if name not in added_columns]

    def _code_parents(self, names: Sequence[str], cells: Sequence[ColumnCells]) -> Codes:
        columns = [
            code_values(own, self.parents[name].to_pylist())
            for name, own in zip(names, cells, strict=True)
        ]
        if not columns:
            return np.zeros((len(self.parents), 0), dtype=np.int64)
        return np.stack(columns, axis=1)


def draw_children(
    parents: Sequence[tuple[int, ...]],
    numbers: Sequence[int | None],
    children: Sequence[tuple[int, ...]],
    chance: Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which sampled child each delivered one is, and whose.

    >>> chance = np.random.default_rng(0)
    >>> draw_children([(0,), (1,)], [2, 1], [(0,), (1,)], chance)
    (array([0, 0, 1]), array([0, 0, 1]))
    """
    pools = _pool(children, len(parents[0]) if parents else 0)
    drawn, owners = list[int](), list[int]()
    for owner, (key, number) in enumerate(zip(parents, numbers, strict=True)):
        pool = next(
            (pools[i][key[:i]] for i in range(len(key), -1, -1) if key[:i] in pools[i]), []
        )
        if number and pool:
            drawn += [pool[i] for i in chance.integers(0, len(pool), int(number))]
            owners += [owner] * int(number)
    return np.array(drawn, dtype=np.int64), np.array(owners, dtype=np.int64)


def _coarsen(cells: ColumnCells) -> NDArray[np.int64]:
    """The coarse part of each cell; listed values stay, and missing is its own."""
    if not cells.cuts or cells.size <= _COARSE:
        return np.arange(cells.size)
    coarse = np.arange(cells.size) * _COARSE // (cells.size - 1)
    coarse[-1] = _COARSE
    return coarse


def _keys(codes: Codes, coarse: Sequence[NDArray[np.int64]]) -> list[tuple[int, ...]]:
    """The coarse cells of each row."""
    if not coarse:
        return [()] * len(codes)
    columns = [part[codes[:, place]].tolist() for place, part in enumerate(coarse)]
    return list(zip(*columns, strict=True))


def _pool(keys: Sequence[tuple[int, ...]], most: int) -> Pools:
    """The rows with the same first columns, for every number of columns."""
    pools: Pools = [{} for _ in range(most + 1)]
    for row, key in enumerate(keys):
        for count in range(most + 1):
            pools[count].setdefault(key[:count], []).append(row)
    return pools
