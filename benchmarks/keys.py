"""A million declared text keys: opening the policy, and one question, against a plain GROUP BY.

The table has ten rows for each key, in a DuckDB file. The policy is a TOML file that lists all
keys. All is measured in one process of its own: first the opening and one private question, for
the most memory that the process ever held; then both and the plain query in turns. Other
engines follow, with fewer keys (`keys_elsewhere`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

import deniable as dp
from benchmarks import keys_elsewhere
from benchmarks.queries import seconds
from benchmarks.scale import peak
from benchmarks.stopwatch import Row, medians

KEYS = 10**6
ROWS_PER_KEY = 10
MOST_RATIO = 3
MOST_MEMORY = 2**30  # bytes, of the whole process
ROUNDS = 3
HOURS = 3600
QUESTION = "SELECT g, COUNT(*) AS n, AVG(x) AS x FROM {name} GROUP BY g"
MADE = """CREATE TABLE t AS SELECT 'key-' || hash(i, 1) % {keys} AS g,
    (hash(i, 2) % 10001)::DOUBLE / 100 AS x FROM range({rows}) AS r(i)"""


def rows() -> Iterator[Row]:
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.keys", folder, str(KEYS)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=HOURS
        )
    yield from rows_of(json.loads(done.stdout))
    yield from keys_elsewhere.rows()


def rows_of(figures: dict[str, float]) -> Iterator[Row]:
    """The lines of the results."""
    for what in ("open", "ask"):
        ratio = figures[what] / figures["plain"]
        yield Row(
            f"{what}, {KEYS:,} declared text keys",
            "s",
            figures[what],
            figures["plain"],
            "DuckDB, not private",
            ratio,
            f"≤ {MOST_RATIO}",
            ratio <= MOST_RATIO,
        )
    memory = figures["memory"]
    share, target = memory / MOST_MEMORY, f"≤ {MOST_MEMORY / 2**30:g} GiB"
    reached = memory <= MOST_MEMORY
    yield Row(
        "most memory of the process", "GiB", memory / 2**30, None, "", share, target, reached
    )


def measure(folder: Path, keys: int) -> dict[str, float]:
    """Seconds of each, and the most memory in bytes."""
    policy = make(folder, keys)

    def open_policy() -> None:
        dp.open(str(policy)).close()

    with dp.open(str(policy)) as session:

        def ask() -> object:
            return session.sql(QUESTION.format(name="t"), epsilon=1, fresh=True)

        ask()
        memory = float(peak())
        contestants = {"open": open_policy, "ask": ask, "plain": plain(folder)}
        taken = medians({name: seconds(act) for name, act in contestants.items()}, ROUNDS)
    return {"memory": memory, **taken}


def make(folder: Path, keys: int) -> Path:
    """The table and its policy."""
    with duckdb.connect(str(folder / "t.duckdb")) as database:
        database.execute("SET enable_progress_bar = false")
        database.execute(MADE.format(keys=keys, rows=keys * ROWS_PER_KEY))
    listed = "".join(f'  "key-{i}",\n' for i in range(keys))
    policy = folder / "keys.toml"
    policy.write_text(
        '[budget]\nepsilon = 1e9\n[ledger]\nstore = "memory"\n[tables.t]\n'
        'source = "t.duckdb"\n[tables.t.columns]\nx = { bounds = [0, 100], step = 0.01 }\n'
        f"[tables.t.columns.g]\nkeys = [\n{listed}]\n"
    )
    return policy


def plain(folder: Path) -> Callable[[], object]:
    """The same numbers without privacy."""
    database = duckdb.connect()
    database.execute(f"ATTACH '{folder / 't.duckdb'}' AS source (READ_ONLY)")
    database.execute("SET preserve_insertion_order = false")
    database.execute("SET enable_progress_bar = false")
    return lambda: database.sql(QUESTION.format(name="source.t")).to_arrow_table()


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), int(sys.argv[2]))))
