"""Private queries against the same query without privacy, and against our peers.

COUNT and AVG by group over ten million rows in a DuckDB file. Ours is the whole way: plan,
charge, engine, noise, margins. Each is set against what DuckDB takes for the plain query:
row privacy and a million groups against GROUP BY, a person-level policy against GROUP BY
person and group, then GROUP BY group. Peers are timed on the same rows, in processes of
their own, once each: they take so long that a busy moment does not matter.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

import deniable as dp
from benchmarks import peers
from benchmarks.stopwatch import Row, medians

ROWS = 10_000_000
PEER_PERSON_ROWS = 1_000_000  # OpenDP sorts each person's groups, which takes minutes
GROUPS = 1_000
MANY_GROUPS = 1_000_000
UNIT = "s"

# Ten rows a person, in up to six groups, so that the limit of four has work to do.
MAKE = """
CREATE TABLE {name} AS
SELECT i // 10 AS person,
       (hash(i // 10, hash(i, 1) % 6) % {groups})::INTEGER AS g,
       (hash(i, 2) % 10001)::DOUBLE / 100 AS x
FROM range({rows}) AS made(i)
"""
PLAIN = "SELECT g, COUNT(*) AS n, AVG(x) AS mean FROM {name} GROUP BY g"
BY_PERSON = """
SELECT g, SUM(c) AS n, SUM(s) / SUM(c) AS mean
FROM (SELECT person, g, COUNT(*) AS c, SUM(x) AS s FROM {name} GROUP BY person, g) GROUP BY g
"""
PERSONS = {"unit": "person", "max_groups_per_unit": 4, "max_rows_per_unit_per_group": 10}


@dataclass(frozen=True)
class Case:
    """One table and policy, the plain query that it is set against, and the target."""

    what: str
    groups: int
    plain: str
    most: float
    policy: dict[str, Any]


CASES = (
    Case("COUNT, AVG: a row is a unit", GROUPS, PLAIN, 2.0, {}),
    Case("COUNT, AVG: a person is a unit", GROUPS, BY_PERSON, 4.0, PERSONS),
    Case("COUNT, AVG: many groups", MANY_GROUPS, PLAIN, 2.0, {}),
)


def rows() -> Iterator[Row]:
    with TemporaryDirectory() as folder:
        for case in CASES:
            yield from contest(case, Path(folder))
        yield from against_peers(Path(folder))


def contest(case: Case, folder: Path) -> Iterator[Row]:
    """Ours against the plain query, in turns."""
    path = table(folder, ROWS, case.groups)
    times = medians({"ours": seconds(private(path, case)), "plain": seconds(plain(path, case))})
    yield verdict(sized(case.what, ROWS, case.groups), times["ours"], times["plain"], case.most)


def against_peers(folder: Path) -> Iterator[Row]:
    """Ours beside each peer, on the same rows."""
    by_row, by_person, _ = CASES
    for peer, kind, case, count in (
        ("OpenDP", "opendp-rows", by_row, ROWS),
        ("diffprivlib", "diffprivlib-rows", by_row, ROWS),
        ("OpenDP", "opendp-persons", by_person, PEER_PERSON_ROWS),
    ):
        path = table(folder, count, case.groups)
        what = sized(case.what, count, case.groups)
        theirs = peers.seconds(kind, parquet(path), case.groups)
        if isinstance(theirs, str):
            yield Row(what, UNIT, None, None, peer, note=theirs)
            continue
        ours = medians({"ours": seconds(private(path, case))})["ours"]
        yield Row(what, UNIT, ours, theirs, peer, ours / theirs, note="timed once")


def private(path: Path, case: Case) -> Callable[[], object]:
    """The whole way of a private answer, for a budget that never ends."""
    session = dp.protect(
        str(path),
        name=path.stem,
        bounds={"x": (0, 100)},
        step={"x": 0.01},
        keys={"g": range(case.groups)},
        epsilon=10**9,
        **case.policy,
    )
    sql = PLAIN.format(name=path.stem)
    return lambda: session.sql(sql, epsilon=1, fresh=True)


def plain(path: Path, case: Case) -> Callable[[], object]:
    """The same numbers from DuckDB, without privacy, also into an Arrow table."""
    database = duckdb.connect()
    database.execute(f"ATTACH '{path}' AS source (READ_ONLY)")
    database.execute("SET preserve_insertion_order = false")
    database.execute("SET enable_progress_bar = false")
    sql = case.plain.format(name=f"source.{path.stem}")
    return lambda: database.sql(sql).to_arrow_table()


def table(folder: Path, count: int, groups: int) -> Path:
    """A DuckDB file with one table of that many rows and groups, made once."""
    path = folder / f"t{count}_{groups}.duckdb"
    if not path.exists():
        with duckdb.connect(str(path)) as database:
            database.execute(MAKE.format(name=path.stem, rows=count, groups=groups))
    return path


def parquet(path: Path) -> Path:
    """The same rows in a file that peers can read."""
    target = path.with_suffix(".parquet")
    if not target.exists():
        with duckdb.connect() as database:
            database.execute(f"ATTACH '{path}' AS source (READ_ONLY)")
            database.execute(f"COPY source.{path.stem} TO '{target}' (FORMAT parquet)")
    return target


def seconds(act: Callable[[], object]) -> Callable[[], float]:
    """A contestant that returns how long it took; caches are filled first."""
    act()

    def run() -> float:
        start = time.perf_counter()
        act()
        return time.perf_counter() - start

    return run


def verdict(what: str, ours: float, plain_: float, most: float) -> Row:
    ratio = ours / plain_
    target = f"≤ {most:g}"
    return Row(what, UNIT, ours, plain_, "DuckDB, not private", ratio, target, ratio <= most)


def sized(what: str, count: int, groups: int) -> str:
    return f"{what}, {count:.0e} rows, {groups:,} groups".replace("e+0", "e")
