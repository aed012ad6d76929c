"""What an engine hands over, cut to what can be answered: whatever arrives, an answer follows.

An error between the engine's integers and the answer would tell two tables apart, so no value
may cause one. Every number is cut to a range that is known before any row is read. A value that
is not a number is 0, and a key that is not of its kind is NULL. Cutting two numbers never moves
them apart, so sensitivities hold as before. A plan clips everything in the engine already: a
value is changed here only if an engine or a driver does not do what it should.

The form of a result is not mended: a column that is missing, or columns of different lengths,
depend on the statement and not on a row. They lead to the one error message.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from deniable.engines.handover.exact_groups import (
    CellCounts,
    ExactGroups,
    Integers,
    to_integer,
    to_integers,
)
from deniable.query.plan.plan import Plan

MOST_SUM = 2**126  # noise and all arithmetic with doubles stay finite
MOST_UNITS = 2**61
MOST_ROWS = 2**53  # in all cells of a group; the size of a sum of distinct values
_INT64 = -(2**63), 2**63 - 1


def saturate(plan: Plan, exact: ExactGroups) -> ExactGroups:
    """One batch of an engine, with every value cut to its range."""
    sizes = cell_numbers(plan)
    counted = {choice.name for choice in plan.choices}  # others may be sums of distinct values
    cells = {
        name: _cut_cells(plan, own, sizes[name], 0 if name in counted else -MOST_ROWS)
        for name, own in exact.cells.items()
    }
    return ExactGroups(
        keys=_saturate_keys(plan, exact.keys),
        units=None if exact.units is None else _cut(exact.units, 0, MOST_UNITS),
        features={name: _cut(own, -MOST_SUM, MOST_SUM) for name, own in exact.features.items()},
        cells=cells,
    )


def cell_numbers(plan: Plan) -> Mapping[str, int]:
    """How many cells each statement has that counts cells."""
    own = {block.features[0]: len(block.features) for block in plan.blocks if block.sql}
    return own | {choice.name: choice.cells for choice in plan.choices}


def limit_rows(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The counts of a group's cells, as many as fit into the limit of rows, from the first.

    >>> limit_rows(np.array([2**52, 2**52 + 7, 5])).tolist() == [2**52, 2**52, 0]
    True
    """
    if float(counts.sum(dtype=np.float64)) < MOST_ROWS:
        return counts
    upto = np.minimum(np.cumsum(counts.astype(object)), MOST_ROWS)
    return np.asarray(np.diff(upto, prepend=0), dtype=np.int64)


def _cut_cells(plan: Plan, cells: CellCounts, size: int, least: int) -> CellCounts:
    return CellCounts(
        _saturate_keys(plan, cells.keys),
        _cut(cells.cell, 0, size - 1),
        _cut(cells.count, least, MOST_ROWS),
    )


def _cut(values: Integers, low: int, high: int) -> Integers:
    """The integers cut to a range; int64 if the range is."""
    if values.dtype == np.int64:
        if low <= _INT64[0] and _INT64[1] <= high:
            return values
        return np.clip(values, low, high)
    whole = [min(max(to_integer(value), low), high) for value in values.tolist()]
    fits = _INT64[0] <= low and high <= _INT64[1]
    return np.array(whole, dtype=np.int64 if fits else object)


def _saturate_keys(
    plan: Plan, keys: tuple["pa.Array[Any]", ...]
) -> tuple["pa.Array[Any]", ...]:
    """The keys in the types that groups are found by; empty if there are cells only."""
    if not keys:
        return ()
    pairs = zip(keys, plan.keys, strict=True)
    return tuple(_to_kind(column, key.kind) for column, key in pairs)


def _to_kind(column: "pa.Array[Any]", kind: str) -> "pa.Array[Any]":
    """A column of keys as int64, booleans or text; NULL where a value is of another kind."""
    if kind == "boolean":
        same = pa.types.is_boolean(column.type)
        return column if same else pa.nulls(len(column), pa.bool_())
    if kind != "number":
        return _to_text(column)
    if column.type == pa.int64():
        return column
    whole = _cut(to_integers(column), *_INT64)
    return pa.array(whole, mask=~np.asarray(column.is_valid()), type=pa.int64())


def _to_text(column: "pa.Array[Any]") -> "pa.Array[Any]":
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        try:
            column = column.cast(pa.large_string())
        except pa.ArrowException:
            return pa.nulls(len(column), pa.large_string())
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:  # bytes that are not text
        values = column.cast(pa.large_binary()).to_pylist()
        texts = [None if value is None else value.decode(errors="replace") for value in values]
        return pa.array(texts, column.type)
    return column
