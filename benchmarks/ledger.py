"""What a reservation costs, against the least that could make it durable.

The peer is a bare synchronous commit of one small row in the same store: one sync of the disk
(or one round trip and a sync by the server), which no ledger can do without. The ratios mean
something on a disk that syncs; where syncing is free, they measure Python.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from benchmarks.stopwatch import Row, medians
from deniable.ledger import DurableLedger
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan

BATCH = 100
MOST = 3.0
COMMITS = 5  # in each turn, of which the mean counts: one sync alone varies a lot


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name, ExitStack() as stack:
        folder = Path(name)
        yield from contest("SQLite", folder / "ledger.sqlite", folder, sqlite(folder))
        try:
            import psycopg

            from tools.postgresql import empty_place, server

            where = empty_place(stack.enter_context(server()))
        except (ImportError, FileNotFoundError) as problem:
            what = "one reservation, PostgreSQL"
            yield Row(what, "ms", None, None, "bare commit", note=str(problem))
            return
        bare = stack.enter_context(psycopg.connect(where, autocommit=True))
        bare.execute("CREATE TABLE bare (a int, b text)")
        insert = "INSERT INTO bare VALUES (1, 'x')"
        yield from contest("PostgreSQL", where, folder, lambda: bare.execute(insert))


def contest(
    store: str, where: Path | str, folder: Path, bare: Callable[[], object]
) -> Iterator[Row]:
    policy = Policy(
        [Table.declare("visits", bounds={"age": (0, 120)}).with_schema({"age": "INTEGER"})],
        epsilon=10**9,
    )
    plans = [
        plan(parse(f"SELECT COUNT(*) FROM visits WHERE age > {age}"), policy, epsilon=1)
        for age in range(BATCH)
    ]
    ledger = DurableLedger(where, policy, key=folder / f"{store}.key")
    times = medians(
        {
            "bare": milliseconds(bare),
            "one": milliseconds(lambda: ledger.reserve(plans[0])),
            "batch": milliseconds(lambda: ledger.reserve_all(plans)),
        }
    )
    ledger.close()
    for name, what in {"one": "one reservation", "batch": f"{BATCH} in a batch"}.items():
        ratio = times[name] / times["bare"]
        yield Row(
            f"{what}, {store}",
            "ms",
            times[name],
            times["bare"],
            "bare commit",
            ratio,
            f"≤ {MOST:g}",
            ratio <= MOST,
        )


def milliseconds(act: Callable[[], object]) -> Callable[[], float]:
    act()

    def run() -> float:
        start = time.perf_counter()
        for _ in range(COMMITS):
            act()
        return (time.perf_counter() - start) * 1e3 / COMMITS

    return run


def sqlite(folder: Path) -> Callable[[], object]:
    """A bare commit, with the settings that make it as durable as the ledger's."""
    bare = sqlite3.connect(folder / "bare.sqlite", isolation_level=None)
    for setting in ("journal_mode = WAL", "synchronous = FULL"):
        bare.execute(f"PRAGMA {setting}")
    bare.execute("CREATE TABLE bare (a int, b text)")

    def commit() -> None:
        bare.execute("BEGIN IMMEDIATE")
        bare.execute("INSERT INTO bare VALUES (1, 'x')")
        bare.execute("COMMIT")

    return commit
