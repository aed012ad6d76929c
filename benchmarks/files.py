"""CSV files: opening one, and opening it with one question, against DuckDB's own reader.

DuckDB reads the file strictly, as text, into a table in memory; for the question it reads the
file itself. Ours is the whole way: the ledger, the policy, every line judged by itself, a
private copy on the disk, and for the question plan, charge, engine, noise and margins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

import deniable as dp
from benchmarks.queries import seconds
from benchmarks.stopwatch import Row, medians

ROWS = 4_000_000
ROUNDS = 5
MOST = {"open": 1.0, "open and ask": 1.5}
QUESTION = "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM {name} GROUP BY ward"
READ = "read_csv('{path}', header = true, all_varchar = true, strict_mode = true)"
MAKE = """COPY (SELECT i % 100000 AS patient, chr((65 + i % 4)::INTEGER) AS ward,
    (i * 37) % 1000 AS cost, 'a note of some length about visit ' || i AS note, i / 7 AS x
    FROM range({rows}) AS made(i)) TO '{path}'"""
POLICY = """[budget]
epsilon = 1e9
[ledger]
store = "memory"
[tables.visits]
source = "visits.csv"
[tables.visits.columns]
ward = { keys = ["A", "B", "C", "D"] }
cost = { bounds = [0, 1000], step = 1 }
"""


def rows() -> Iterator[Row]:
    """One row for opening, one for opening and asking."""
    with TemporaryDirectory() as folder:
        make(Path(folder), ROWS)
        megabytes = (Path(folder) / "visits.csv").stat().st_size / 1e6
        ours, theirs = private(Path(folder)), plain(Path(folder))
        for what, most in MOST.items():
            contestants = {"ours": seconds(ours[what]), "theirs": seconds(theirs[what])}
            taken = medians(contestants, ROUNDS)
            yield verdict(f"{what}, {megabytes:.0f} MB", taken["ours"], taken["theirs"], most)


def make(folder: Path, count: int) -> None:
    """The file and its policy."""
    with duckdb.connect() as database:
        database.execute(MAKE.format(rows=count, path=folder / "visits.csv"))
    (folder / "deniable.toml").write_text(POLICY)


def private(folder: Path) -> dict[str, Callable[[], object]]:
    """Ours: what is timed."""
    policy = str(folder / "deniable.toml")

    def open_policy() -> None:
        dp.open(policy).close()

    def ask() -> object:
        with dp.open(policy) as session:
            return session.sql(QUESTION.format(name="visits"), epsilon=1)

    return {"open": open_policy, "open and ask": ask}


def plain(folder: Path) -> dict[str, Callable[[], object]]:
    """The same without privacy."""
    read = READ.format(path=folder / "visits.csv")

    question = QUESTION.format(name=read).replace("cost)", "cost::BIGINT)")

    def run(sql: str) -> object:
        with duckdb.connect() as database:
            database.execute("SET enable_progress_bar = false")
            return database.execute(sql).fetchall()

    return {
        "open": lambda: run(f"CREATE TABLE visits AS FROM {read}"),
        "open and ask": lambda: run(question),
    }


def verdict(what: str, ours: float, theirs: float, most: float) -> Row:
    """A line of the results."""
    ratio = ours / theirs
    return Row(
        what, "s", ours, theirs, "DuckDB, not private", ratio, f"≤ {most:g}", ratio <= most
    )
