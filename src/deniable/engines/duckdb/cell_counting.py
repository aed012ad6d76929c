"""Cells counted here rather than by an engine, where there are very many of them.

A GROUP BY of millions of groups takes far longer than to hand over the rows: each row is one
small number, and adding one at its place in an array is all there is to do. So an engine in
this process runs the statement without its last step, and the rows are counted as they come.
Which way is taken hangs on the number of cells, which is public. What comes out is the same.
"""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import sqlglot
from numpy.typing import NDArray

from deniable.engines.handover.exact_groups import CellCounts, to_integers
from deniable.query.plan.plan import Plan, Statement

ENGINE_COUNTS_UP_TO = 1 << 16  # cells that an engine groups as fast
_BUFFER_ROWS = 1 << 20  # rows that are counted at once, or as many as there are cells
_SPARSE = 32  # so few rows, a cell in so many, are sorted faster


def cells_to_count(plan: Plan, statement: Statement) -> int:
    """How many cells of a statement are counted here; 0 where the engine does it."""
    for choice in plan.choices:
        if (
            choice.name == statement.name
            and not plan.keys
            and choice.cells > ENGINE_COUNTS_UP_TO
        ):
            return choice.cells
    return 0


def without_counting(sql: str) -> str | None:
    """A statement about cells without its GROUP BY: the cell of each row. None if it has none.

    >>> without_counting(
    ...     "SELECT v AS cell, COUNT(*) AS n FROM (SELECT x AS v FROM t) AS k GROUP BY v"
    ... )
    'SELECT v AS cell FROM (SELECT x AS v FROM t) AS k'
    >>> without_counting("SELECT 0 AS cell, COUNT(DISTINCT x) AS n FROM t")
    """
    statement = sqlglot.parse_one(sql, dialect="duckdb")
    grouped, selected = statement.args.get("group"), statement.expressions
    names = [one.alias_or_name for one in selected]
    if grouped is None or len(grouped.expressions) != 1 or names != ["cell", "n"]:
        return None
    statement.set("group", None)
    statement.set("expressions", selected[:1])
    return statement.sql(dialect="duckdb")


def count_cells(batches: "Iterable[pa.RecordBatch]", size: int) -> CellCounts:
    """How many rows are in each of `size` cells, of those that hold any.

    >>> found = count_cells(
    ...     [pa.record_batch({"cell": [7, 2]}), pa.record_batch({"cell": [7]})], 9
    ... )
    >>> found.cell, found.count
    (array([2, 7]), array([1, 2]))
    """
    every: NDArray[np.int64] | None = None
    room = np.empty(max(size, _BUFFER_ROWS), dtype=np.int64)
    held = 0
    for batch in batches:
        cells = to_integers(batch["cell"])
        while cells.size:
            fits = cells[: room.size - held]
            room[held : held + fits.size] = fits
            held, cells = held + fits.size, cells[fits.size :]
            if held == room.size:
                every, held = _add_counts(every, room, size), 0
    if every is None and held * _SPARSE < size:
        return CellCounts((), *np.unique(room[:held], return_counts=True))
    every = _add_counts(every, room[:held], size)
    cell = np.flatnonzero(every)
    return CellCounts((), cell, every[cell])


def _add_counts(
    every: NDArray[np.int64] | None, cells: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    here = np.bincount(cells, minlength=size)
    if every is None:
        return here
    every += here
    return every
