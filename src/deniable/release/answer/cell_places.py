"""Finds the group of the answer that each cell of the engine belongs to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from deniable.engines.handover.exact_groups import CellCounts, Integers
from deniable.query.plan.plan import Plan

Keys: TypeAlias = Sequence["pa.Array[Any]"]

_WIDE = 2**62


@dataclass(frozen=True, slots=True)
class PlacedCells:
    """The cells of the groups in the answer, with each group's place. Exact, so private."""

    group: NDArray[np.int64] = field(repr=False)
    cell: NDArray[np.int64] = field(repr=False)
    count: NDArray[np.int64] = field(repr=False)


def place_among_declared(
    cells: Mapping[str, CellCounts], lists: Keys, rest: int
) -> dict[str, PlacedCells]:
    """Places the cells among all combinations of the declared keys; the last key varies
    fastest. Cells of other keys get the place `rest` (-1 drops them)."""
    return {
        name: _drop_hidden(_among_lists(some.keys, lists, some.cell.size, rest), some)
        for name, some in cells.items()
    }


def place_among_shown(
    cells: Mapping[str, CellCounts], shown: Keys, rest: int
) -> dict[str, PlacedCells]:
    """Places the cells among the groups that are shown, by the engine's keys. Cells of other
    groups get the place `rest` (-1 drops them)."""
    return {
        name: _drop_hidden(_find_places(some.keys, shown, rest), some)
        for name, some in cells.items()
    }


def features_from_cells(
    plan: Plan, cells: Mapping[str, PlacedCells], count: int
) -> dict[str, Integers]:
    """The features of blocks with their own statement: cell j is the block's j-th feature."""
    features: dict[str, Integers] = {}
    for block in plan.blocks:
        if block.sql:
            own = cells[block.features[0]]
            most = int(np.abs(own.count).max(initial=0)) * own.count.size
            for j, name in enumerate(block.features):
                features[name] = np.zeros(count, dtype=np.int64 if most < _WIDE else object)
                at = own.cell == j
                np.add.at(features[name], own.group[at], own.count[at])
    return features


def _drop_hidden(group: NDArray[np.int64], cells: CellCounts) -> PlacedCells:
    """The cells without those of hidden groups, whose place is -1."""
    shown = group >= 0
    if shown.all():
        return PlacedCells(group, cells.cell, cells.count)
    return PlacedCells(group[shown], cells.cell[shown], cells.count[shown])


def _among_lists(keys: Keys, lists: Keys, rows: int, rest: int) -> NDArray[np.int64]:
    place = np.zeros(rows, dtype=np.int64)
    if not keys:
        return place
    known = np.ones(rows, dtype=np.bool_)
    for column, values in zip(keys, lists, strict=True):
        index = pc.index_in(column, value_set=values.cast(column.type))
        known &= np.asarray(index.is_valid())
        place = place * len(values) + np.asarray(index.fill_null(0), dtype=np.int64)
    return np.where(known, place, rest)


def _find_places(keys: Keys, shown: Keys, rest: int) -> NDArray[np.int64]:
    """The place of each combination of keys among those shown; `rest` if it is not shown."""
    rows, groups = len(keys[0]), len(shown[0])
    code = np.zeros(groups + rows, dtype=np.int64)
    for column, own in zip(shown, keys, strict=True):
        both = pa.concat_arrays([column, own.cast(column.type)])
        encoded: Any = both.dictionary_encode(null_encoding="encode")
        mixed = code * (len(encoded.dictionary) + 1) + np.asarray(encoded.indices, np.int64)
        code = np.unique(mixed, return_inverse=True)[1]
    place = np.full(groups + rows, rest, dtype=np.int64)
    place[code[:groups]] = np.arange(groups)
    return place[code[groups:]]
