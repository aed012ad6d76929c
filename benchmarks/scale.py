"""Growth: from 10^5 to 10^8 rows and up to 10^7 groups, with a small allowance of memory.

COUNT and AVG by group over tables made on the fly in a DuckDB file, the largest of which does
not fit into the half gigabyte that a query may use. Each point is a process of its own: first
the private query alone, for the most memory that the process ever held; then it and the same
engine's plain query in turns.
The time grows as a power of the rows; its exponent is the slope of the best line through the
logarithms. The same up to 10^7 rows on Spark in this machine, over Parquet, and a million
private keys there, for the memory of our process. A picture of all points goes to
`benchmarks/scale.svg`.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

import deniable as dp
from benchmarks.queries import BY_PERSON, MAKE, PERSONS, PLAIN, seconds
from benchmarks.stopwatch import REPEATS, Row, medians
from deniable.figures.canvas import save
from deniable.figures.scale import exponent, growth

MEMORY = 500_000_000  # bytes: what the engine may use
ALLOWED = 2**30  # bytes: what our process may use beside it
ROWS = (10**5, 10**6, 10**7, 10**8)
MANY = 10**7  # rows of the points that differ in their groups
GROUPS = 1_000
BY_GROUPS = (10, 10**5, 10**6)
PRIVATE = (10**6, 10**7)  # keys that are not declared
SPARK_ROWS = (10**5, 10**6, 10**7)
MOST_EXPONENT = 1.05
MOST_SPARK_TAX = 1.5  # at the most rows
PICTURE = Path(__file__).with_name("scale.svg")
POINTS = Path(__file__).with_name("scale.json")
HOURS = 3600


# As in `queries`, but with numbers that no compression makes smaller: 9 bytes a row at least.
MADE = MAKE.replace("(hash(i, 2) % 10001)::DOUBLE / 100", "hash(i, 2) / 2.0**64 * 100")


@dataclass(frozen=True)
class Point:
    """One table and question, and what was measured."""

    engine: str
    policy: str  # "rows", "persons" or "private": rows with keys that are not declared
    rows: int
    groups: int
    ours: float = math.nan  # seconds
    plain: float = math.nan
    beyond: float = math.nan  # bytes that our process held beside the engine's allowance

    @property
    def what(self) -> str:
        unit = {"persons": "a person is a unit", "private": "private keys"}.get(self.policy)
        counted = f"{self.rows:.0e} rows, {self.groups:,} groups".replace("e+0", "e")
        return counted if unit is None else f"{counted}, {unit}"


def points() -> Iterator[Point]:
    """What is measured, the cheapest of each engine first."""
    for count in ROWS:
        yield Point("DuckDB", "rows", count, GROUPS)
    for groups in BY_GROUPS:
        yield Point("DuckDB", "rows", MANY, groups)
    for keys in PRIVATE:
        yield Point("DuckDB", "private", MANY, keys)
    yield Point("DuckDB", "persons", MANY, GROUPS)
    for count in SPARK_ROWS:
        yield Point("Spark", "rows", count, GROUPS)
    yield Point("Spark", "private", SPARK_ROWS[-1], PRIVATE[0])


def rows() -> Iterator[Row]:
    measured_points: list[Point] = []
    missing = missing_spark()
    with TemporaryDirectory() as folder:
        for point in points():
            if point.engine == "Spark" and missing:
                yield Row(point.what, "s", None, None, "Spark, not private", note=missing)
                continue
            measured_points.append(measure_in_process(point, Path(folder)))
            POINTS.write_text(
                json.dumps(
                    [asdict(measured_point) for measured_point in measured_points], indent=2
                )
                + "\n"
            )
            yield row_of(measured_points[-1])
    yield from verdicts(measured_points)
    draw(measured_points, PICTURE)


def missing_spark() -> str:
    """Why Spark cannot be measured here; empty where it can."""
    if importlib.util.find_spec("pyspark") is None:
        return "is not installed"
    return "" if shutil.which("java") or os.environ.get("JAVA_HOME") else "needs Java"


def measure_in_process(point: Point, folder: Path) -> Point:
    """The point with its figures, from a process of its own."""
    path = table(folder, point.rows, point.groups)
    if point.engine == "Spark":
        path = parquet(path)
    argument = json.dumps([asdict(point), str(path)])
    command = [sys.executable, "-m", "benchmarks.scale", argument]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=HOURS)
    return Point(**json.loads(done.stdout))


def measure(point: Point, path: Path) -> Point:
    """In this process: memory first, then times in turns."""
    ours = private(point, path)
    ours()
    # Spark is a process of its own, so all of ours is beside its allowance.
    beyond = peak() - (MEMORY if point.engine == "DuckDB" else 0)
    rounds = REPEATS if point.rows <= 10**6 else 5 if point.rows <= 10**7 else 3
    seconds_taken = medians(
        {"ours": seconds(ours), "plain": seconds(plain(point, path))}, rounds
    )
    return Point(**asdict(point) | {"beyond": float(beyond)} | seconds_taken)


def private(point: Point, path: Path) -> Callable[[], object]:
    """The whole way of a private answer, for a budget that never ends."""
    declared: dict[str, Any] = {"g": range(point.groups)}
    if point.policy == "private":
        declared = {"g": "private"}
    session = dp.protect(
        str(path) if point.engine == "DuckDB" else f"spark://local?parquet={path}",
        name="t",
        bounds={"x": (0, 100)},
        step={"x": 0.01},
        keys=declared,
        epsilon=10**9,
        delta=0.5,
        memory=MEMORY,
        **(PERSONS if point.policy == "persons" else {}),
    )
    wishes = {"delta": 1e-5} if point.policy == "private" else {}
    return lambda: session.sql(PLAIN.format(name="t"), epsilon=1, fresh=True, **wishes)


def plain(point: Point, path: Path) -> Callable[[], object]:
    """The same numbers without privacy, with the same allowance."""
    if point.engine == "Spark":
        return plain_spark(path)
    database = duckdb.connect()
    database.execute(f"ATTACH '{path}' AS source (READ_ONLY)")
    database.execute(f"SET memory_limit = '{MEMORY} B'")
    database.execute("SET preserve_insertion_order = false")
    database.execute("SET enable_progress_bar = false")
    database.execute(f"SET temp_directory = '{path.parent}'")
    sql = PLAIN if point.policy != "persons" else BY_PERSON
    return lambda: database.sql(sql.format(name="source.t")).to_arrow_table()


def plain_spark(path: Path) -> Callable[[], object]:
    """The same in the session that the private query started, also into an Arrow table."""
    from pyspark.sql import SparkSession

    spark: Any = SparkSession.getActiveSession()
    spark.read.parquet(str(path)).createOrReplaceTempView("plain")
    return lambda: spark.sql(PLAIN.format(name="plain")).toArrow()


def parquet(path: Path) -> Path:
    """The same rows in a folder of Parquet files, one for each core and more."""
    folder = path.with_suffix("")
    if not folder.exists():
        with duckdb.connect(str(path), read_only=True) as database:
            database.execute(f"SET memory_limit = '{MEMORY} B'")
            options = "FORMAT parquet, PER_THREAD_OUTPUT true, ROW_GROUP_SIZE 500000"
            database.execute(f"COPY t TO '{folder}' ({options})")
    return folder


def table(folder: Path, count: int, groups: int) -> Path:
    """A DuckDB file with one table, made once; it is as large as its rows."""
    path = folder / f"r{count}_{groups}.duckdb"
    if not path.exists():
        with duckdb.connect(str(path)) as database:
            database.execute(f"SET memory_limit = '{MEMORY} B'")
            database.execute("SET preserve_insertion_order = false")
            database.execute("SET enable_progress_bar = false")
            database.execute(MADE.format(name="t", rows=count, groups=groups))
    return path


def peak() -> int:
    """The most memory that this process has held, in bytes."""
    status = Path("/proc/self/status").read_text()
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
    return int(kilobytes) * 1024


def row_of(point: Point) -> Row:
    """The privacy tax of one point, and its memory in the note."""
    note = f"{point.beyond / 2**20:,.0f} MiB beside the allowance"
    plain_ = f"{point.engine}, not private"
    ratio = point.ours / point.plain
    return Row(point.what, "s", point.ours, point.plain, plain_, ratio, note=note)


def verdicts(measured_points: Sequence[Point]) -> Iterator[Row]:
    """Growth of each engine, and the memory of the whole run, against their limits."""
    for engine in dict.fromkeys(point.engine for point in measured_points):
        grown = [
            point
            for point in measured_points
            if (point.engine, point.policy, point.groups) == (engine, "rows", GROUPS)
        ]
        for some in (grown, grown[-3:]):
            most = f"{some[0].rows:.0e} to {some[-1].rows:.0e}".replace("e+0", "e")
            slope = exponent([point.rows for point in some], [point.ours for point in some])
            yield limit(f"growth exponent, {most} rows", engine, slope, MOST_EXPONENT, "")
        if engine == "Spark":
            tax = grown[-1].ours / grown[-1].plain
            what = f"privacy tax, {grown[-1].what}"
            yield limit(what, engine, tax, MOST_SPARK_TAX, "")
        beyond = (
            max(point.beyond for point in measured_points if point.engine == engine) / ALLOWED
        )
        yield limit("most memory beside the allowance", engine, beyond, 1, " GiB")


def limit(what: str, engine: str, number: float, most: float, unit: str) -> Row:
    target = f"≤ {most:g}{unit}"
    return Row(what, "s", number, None, engine, number / most, target, number <= most)


def draw(measured_points: Sequence[Point], path: Path) -> None:
    save(growth([asdict(point) for point in measured_points], groups=GROUPS, rows=MANY), path)


if __name__ == "__main__":
    asked_point, asked_path = json.loads(sys.argv[1])
    print(json.dumps(asdict(measure(Point(**asked_point), Path(asked_path)))))
