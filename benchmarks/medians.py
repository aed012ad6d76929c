"""Nine private quantiles of ten million rows, against DuckDB's own on the same rows.

Ours is the whole way of `sql`: plan, charge, count cells in the engine, draw, margins. DuckDB
computes the list of exact quantiles that `quantile_cont` takes. The columns have ten thousand
cells (the cents of a hundred dollars), a million, and four million, which is about the limit.
Millions of cells are counted while the rows stream in, because a GROUP BY of as many groups
takes six times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

import deniable as dp
from benchmarks.queries import ROWS, seconds
from benchmarks.stopwatch import Row, medians

NINE = ", ".join(str(k / 10) for k in range(1, 10))
MOST = 3.0
MAKE = """
CREATE TABLE deciles AS
SELECT (hash(i, 2) % 10001)::DOUBLE / 100 AS x,
       (hash(i, 3) % 1000001)::DOUBLE / 100 AS cents,
       (hash(i, 4) % 4000001)::INTEGER AS wide
FROM range({rows}) AS made(i)
"""
COLUMNS = {"x": "10,001 cells", "cents": "1,000,001 cells", "wide": "4,000,001 cells"}


def rows() -> Iterator[Row]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "deciles.duckdb"
        with duckdb.connect(str(path)) as database:
            database.execute(MAKE.format(rows=ROWS))
        for column, what in COLUMNS.items():
            contestants = {"ours": private(path, column), "plain": plain(path, column)}
            times = medians({name: seconds(act) for name, act in contestants.items()})
            ratio = times["ours"] / times["plain"]
            yield Row(
                f"9 quantiles, {ROWS:.0e} rows, {what}".replace("e+0", "e"),
                "s",
                times["ours"],
                times["plain"],
                "DuckDB quantile_cont",
                ratio,
                f"≤ {MOST:g}",
                ratio <= MOST,
            )


def private(path: Path, column: str) -> Callable[[], object]:
    """The whole way of a private answer, for a budget that never ends."""
    session = dp.protect(
        str(path),
        name="deciles",
        bounds={"x": (0, 100), "cents": (0, 10_000), "wide": (0, 4_000_000)},
        step={"x": 0.01, "cents": 0.01},
        epsilon=10**9,
    )
    sql = f"SELECT QUANTILE_CONT({column}, [{NINE}]) AS q FROM deciles"
    return lambda: session.sql(sql, epsilon=1, fresh=True)  # else it would be from memory


def plain(path: Path, column: str) -> Callable[[], object]:
    """The exact quantiles, without privacy."""
    database = duckdb.connect()
    database.execute(f"ATTACH '{path}' AS source (READ_ONLY)")
    database.execute("SET preserve_insertion_order = false")
    database.execute("SET enable_progress_bar = false")
    sql = f"SELECT quantile_cont({column}, [{NINE}]) FROM source.deciles"
    return lambda: database.sql(sql).fetchall()
