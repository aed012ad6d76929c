"""Counts rows per cell in this process, instead of in DuckDB, if there are many cells.

A GROUP BY with millions of groups takes much longer than handing over the rows: each row is
one small number, and counting it only adds 1 to an array. So DuckDB runs the statement
without its GROUP BY, and the rows are counted as they arrive. The choice depends on the
number of cells, which is public. Both ways give the same counts.
"""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from deniable.engines.handover.exact_groups import CellCounts, to_integers
from deniable.query.plan.plan import Plan, Statement
from deniable.query.plan.statement_text import tree_of

ENGINE_COUNTS_UP_TO = 1 << 16  # with so few cells, DuckDB is as fast
_BUFFER_ROWS = 1 << 20  # rows counted at a time; at least the number of cells
_SPARSE = 32  # with fewer than one row per 32 cells, sorting is faster


def cells_to_count(plan: Plan, statement: Statement) -> int:
    """The number of cells if a statement's cells are counted here; 0 if DuckDB counts them."""
    for choice in plan.choices:
        if (
            choice.name == statement.name
            and not plan.keys
            and choice.cells > ENGINE_COUNTS_UP_TO
        ):
            return choice.cells
    return 0


def without_counting(sql: str) -> str | None:
    """A statement that counts cells, without its GROUP BY: it returns the cell of each row.

    None if the statement does not have the expected form.

    >>> without_counting(
    ...     "SELECT v AS cell, COUNT(*) AS n FROM (SELECT x AS v FROM t) AS k GROUP BY v"
    ... )
    'SELECT v AS cell FROM (SELECT x AS v FROM t) AS k'
    >>> without_counting("SELECT 0 AS cell, COUNT(DISTINCT x) AS n FROM t")
    """
    statement = tree_of(sql).copy()
    grouped, selected = statement.args.get("group"), statement.expressions
    names = [column.alias_or_name for column in selected]
    if grouped is None or len(grouped.expressions) != 1 or names != ["cell", "n"]:
        return None
    statement.set("group", None)
    statement.set("expressions", selected[:1])
    return statement.sql(dialect="duckdb")


def count_cells(batches: "Iterable[pa.RecordBatch]", size: int) -> CellCounts:
    """Counts the rows in each of `size` cells, without empty cells.

    >>> cells = count_cells(
    ...     [pa.record_batch({"cell": [7, 2]}), pa.record_batch({"cell": [7]})], 9
    ... )
    >>> cells.cell, cells.count
    (array([2, 7]), array([1, 2]))
    """
    counts: NDArray[np.int64] | None = None
    buffer = np.empty(max(size, _BUFFER_ROWS), dtype=np.int64)
    filled = 0
    for batch in batches:
        # A cell beyond the grid would make the counting fail, so it counts as the last one.
        cells = np.clip(to_integers(batch["cell"]), 0, size - 1).astype(np.int64, copy=False)
        while cells.size:
            fits = cells[: buffer.size - filled]
            buffer[filled : filled + fits.size] = fits
            filled, cells = filled + fits.size, cells[fits.size :]
            if filled == buffer.size:
                counts, filled = _add_counts(counts, buffer, size), 0
    if counts is None and filled * _SPARSE < size:
        return CellCounts((), *np.unique(buffer[:filled], return_counts=True))
    counts = _add_counts(counts, buffer[:filled], size)
    cell = np.flatnonzero(counts)
    return CellCounts((), cell, counts[cell])


def _add_counts(
    counts: NDArray[np.int64] | None, cells: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    here = np.bincount(cells, minlength=size)
    if counts is None:
        return here
    counts += here
    return counts
