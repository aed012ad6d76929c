"""Many declared text keys on other engines: one question, against the engine's own GROUP BY.

The keys are a relation beside the statement on every engine, and ten rows have each key. Ours
is the whole way: plan, charge, statement, noise, margins.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import psycopg

import deniable as dp
from benchmarks.queries import seconds
from benchmarks.stopwatch import Row, medians
from deniable.engines.spark.session import session_of
from tools.postgresql import address, server

KEYS = 10**5
ROWS_PER_KEY = 10
ROUNDS = 3
# In SQLite our functions of rows are written in Python: they are most of the time.
MOST_RATIO = {"SQLite through Ibis": 10.0}
USUAL_RATIO = 3.0
QUESTION = "SELECT g, COUNT(*) AS n, AVG(x) AS x FROM t GROUP BY g"
MADE = """SELECT 'key-' || hash(i, 1) % {keys} AS g, (hash(i, 2) % 10001)::DOUBLE / 100 AS x
    FROM range({rows}) AS r(i)"""

Plain = Callable[[], object]


def rows() -> Iterator[Row]:
    for engine in ENGINES:
        with TemporaryDirectory() as folder:
            times = measure(engine, Path(folder), KEYS)
        most, ratio = MOST_RATIO.get(engine, USUAL_RATIO), times["ask"] / times["plain"]
        what = f"{engine}, {KEYS:,} declared text keys"
        shown = times["ask"], times["plain"], "the same engine, not private"
        yield Row(what, "s", *shown, ratio, f"≤ {most:g}", ratio <= most)


def measure(engine: str, folder: Path, number: int) -> dict[str, float]:
    """Seconds of a private question and of the plain one."""
    file = folder / "t.parquet"
    query = MADE.format(keys=number, rows=number * ROWS_PER_KEY)
    duckdb.sql(query).write_parquet(str(file))
    with ENGINES[engine](file) as (source, plain):
        return _time(source, plain, [f"key-{i}" for i in range(number)])


def _time(source: str, plain: Plain, declared: list[str]) -> dict[str, float]:
    keys, bounds, step = {"g": declared}, {"x": (0, 100)}, {"x": 0.01}
    with dp.protect(
        source, name="t", bounds=bounds, step=step, keys=keys, epsilon=10**9
    ) as session:

        def ask() -> object:
            return session.sql(QUESTION, epsilon=1, fresh=True)

        return medians({"ask": seconds(ask), "plain": seconds(plain)}, ROUNDS)


@contextmanager
def duckdb_through_ibis(file: Path) -> Iterator[tuple[str, Plain]]:
    path = file.with_suffix(".duckdb")
    with duckdb.connect(str(path)) as database:
        database.execute(f"CREATE TABLE t AS FROM '{file}'")
    with duckdb.connect() as reader:
        reader.execute(f"ATTACH '{path}' AS source (READ_ONLY)")
        reader.execute("USE source")
        yield f"ibis://duckdb/{path}#t", lambda: reader.sql(QUESTION).to_arrow_table()


@contextmanager
def sqlite_through_ibis(file: Path) -> Iterator[tuple[str, Plain]]:
    path = file.with_suffix(".sqlite")
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE t (g TEXT, x DOUBLE)")
        database.executemany("INSERT INTO t VALUES (?, ?)", _fetch(file))
    yield f"ibis://sqlite/{path}#t", lambda: database.execute(QUESTION).fetchall()
    database.close()


@contextmanager
def postgresql(file: Path) -> Iterator[tuple[str, Plain]]:
    with ExitStack() as stack:
        place = address(stack.enter_context(server()))
        database = stack.enter_context(psycopg.connect(place, autocommit=True))
        database.execute("CREATE TABLE t (g text, x float8)")
        with database.cursor().copy("COPY t FROM STDIN") as copy:
            for row in _fetch(file):
                copy.write_row(row)
        database.execute("ANALYZE t")
        yield f"{place}#public.t", lambda: database.execute(QUESTION).fetchall()


@contextmanager
def spark(file: Path) -> Iterator[tuple[str, Plain]]:
    source = f"spark://local?parquet={file}"
    session, _ = session_of({"t": source})
    try:
        session.read.parquet(str(file)).createOrReplaceTempView("t")
        yield source, lambda: session.sql(QUESTION).toArrow()
    finally:
        session.stop()


def _fetch(file: Path) -> list[tuple[str, float]]:
    return duckdb.sql(f"SELECT g, x FROM '{file}'").fetchall()


ENGINES = {
    "DuckDB through Ibis": duckdb_through_ibis,
    "SQLite through Ibis": sqlite_through_ibis,
    "PostgreSQL": postgresql,
    "Spark": spark,
}
