"""The privacy tax on other engines: a private query against the same engine's plain one.

COUNT and AVG by group over ten million rows in a folder of Parquet, on Spark in this process.
Ours is the whole way: plan, charge, statement, noise, margins. Both end as an Arrow table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import deniable as dp
from benchmarks.queries import GROUPS, PLAIN, ROWS, UNIT, parquet, seconds, sized, table
from benchmarks.stopwatch import Row, medians
from deniable.engines.spark.session import session_of

MOST = 1.5
WHAT = "Spark, COUNT, AVG: a row is a unit"


def rows() -> Iterator[Row]:
    with TemporaryDirectory() as folder:
        path = parquet(table(Path(folder), ROWS, GROUPS))
        source = f"spark://local?parquet={path}"
        spark, _ = session_of({path.stem: source})
        try:
            times = medians(
                {"ours": seconds(private(path, source)), "plain": seconds(plain(path, spark))}
            )
        finally:
            spark.stop()
        ratio = times["ours"] / times["plain"]
        what, target = sized(WHAT, ROWS, GROUPS), f"≤ {MOST:g}"
        shown = times["ours"], times["plain"], "Spark, not private"
        yield Row(what, UNIT, *shown, ratio, target, ratio <= MOST)


def private(path: Path, source: str) -> Callable[[], object]:
    """The whole way of a private answer, for a budget that never ends."""
    session = dp.protect(
        source,
        name=path.stem,
        bounds={"x": (0, 100)},
        step={"x": 0.01},
        keys={"g": range(GROUPS)},
        epsilon=10**9,
    )
    sql = PLAIN.format(name=path.stem)
    return lambda: session.release(session.plan(sql, epsilon=1), fresh=True)


def plain(path: Path, spark: Any) -> Callable[[], object]:
    """The same numbers from Spark, without privacy."""
    spark.read.parquet(str(path)).createOrReplaceTempView("plain")
    sql = PLAIN.format(name="plain")
    return lambda: spark.sql(sql).toArrow()
