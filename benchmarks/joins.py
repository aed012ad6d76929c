"""A person-level join of two tables against the same join without privacy.

Visits and bills of a quarter of a million people, four rows each in either table. Both are
joined on the person and summed up by ward; ours is the whole way: plan, charge, engine, noise,
margins. Beside it a sub-query that adds up each person's rows first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from benchmarks.stopwatch import Row, medians
from deniable.engines.duckdb.engine import DuckDB
from deniable.ledger import MemoryLedger
from deniable.policy import Policy, Table
from deniable.release.public_session import Session

ROWS = 1_000_000
EACH = 4  # rows of a person in either table
WARDS = 100
MOST = 5.0
UNIT = "s"

MAKE = """
CREATE TABLE visits AS
SELECT i // {each} AS person, (hash(i // {each}, hash(i, 1) % 3) % {wards})::INTEGER AS ward,
       (hash(i, 2) % 10001)::DOUBLE / 100 AS cost
FROM range({rows}) AS made(i);
CREATE TABLE bills AS
SELECT (hash(i, 3) % ({rows} // {each}))::BIGINT AS person,
       (hash(i, 4) % 1001)::DOUBLE AS amount
FROM range({rows}) AS made(i)
"""
JOIN = "visits JOIN bills ON visits.person = bills.person"
TOTALS = "(SELECT person, SUM(cost) AS total FROM visits GROUP BY person)"


@dataclass(frozen=True)
class Case:
    """A question, and how far it may be behind the same one without privacy."""

    what: str
    sql: str
    most: float | None


CASES = (
    Case(
        "two private tables",
        f"SELECT ward, COUNT(*) AS n, AVG(amount) AS mean FROM {JOIN} GROUP BY ward",
        MOST,
    ),
    Case(
        "two private tables, no groups",
        f"SELECT COUNT(*) AS n, AVG(amount) AS mean FROM {JOIN}",
        MOST,
    ),
    Case("a sum a person", f"SELECT COUNT(*) AS n, AVG(total) AS mean FROM {TOTALS}", None),
)


def rows() -> Iterator[Row]:
    """One row a question."""
    with TemporaryDirectory() as folder:
        path = create_tables(Path(folder), ROWS)
        for case in CASES:
            contestants = {
                "ours": time_queries(private(path, case)),
                "theirs": time_queries(plain(path, case)),
            }
            times = medians(contestants)
            yield verdict(case, times["ours"], times["theirs"])


def verdict(case: Case, ours: float, theirs: float) -> Row:
    """The ratio, and whether it is small enough."""
    ratio = ours / theirs
    target = "" if case.most is None else f"<= {case.most}"
    reached = None if case.most is None else ratio <= case.most
    return Row(case.what, UNIT, ours, theirs, "DuckDB, not private", ratio, target, reached)


def create_tables(folder: Path, rows: int) -> Path:
    """A database with both tables."""
    path = folder / "town.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute(MAKE.format(rows=rows, each=EACH, wards=WARDS))
    return path


def plain(path: Path, case: Case) -> Callable[[], Any]:
    """The question as it is."""
    database = duckdb.connect(str(path), read_only=True)
    return lambda: database.sql(case.sql).to_arrow_table()


def private(path: Path, case: Case) -> Callable[[], Any]:
    """The question through a session that protects people."""
    person = {"unit": "person", "max_groups_per_unit": 3, "max_rows_per_unit_per_group": 16}
    wards = {"ward": list(range(WARDS))}
    tables = [
        Table.declare(
            "visits", f"{path}#visits", bounds={"cost": (0, 100)}, keys=wards, **person
        ),
        Table.declare("bills", f"{path}#bills", bounds={"amount": (0, 1000)}, **person),
    ]
    policy = Policy(tables, epsilon=10**9)
    session = Session(policy, DuckDB.open(policy), MemoryLedger(10**9))
    return lambda: session.sql(case.sql, epsilon=1, fresh=True)


def time_queries(run: Callable[[], Any]) -> Callable[[], float]:
    """Seconds that it takes; the first run only warms up."""
    run()

    def turn() -> float:
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    return turn
