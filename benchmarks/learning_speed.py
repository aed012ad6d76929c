"""Whole fits on a large file against plain scans of it, in processor time.

    python -m benchmarks.learning_speed [--rows 10000000] [--models NAME ...] [--file FILE]

The file has 14 features, eight texts and six numbers, and a target with two classes. A scan is
one GROUP BY of the file: the rows and a sum for each value of each feature, where numbers are
cut into 32 intervals. A fit is whole: plans, the kernel's checks, charges, engine, noise and
certificates. Scans are made before and after each fit. The aim is at most three scans a step.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

import deniable as dp

MOST = 3.0
TEXTS = {f"t{i}": count for i, count in enumerate((8, 16, 7, 14, 6, 5, 2, 41))}
NUMBERS = {f"x{i}": high for i, high in enumerate((90.0, 1e5, 20.0, 100.0, 50.0, 9.0))}
SCANS = 3  # before a fit, and after it


@dataclass(frozen=True)
class Measured:
    """A fit, and the scans beside it, in seconds of processor time."""

    model: str
    steps: int
    fit: float
    scan: float

    @property
    def scans(self) -> float:
        """How many scans a step takes."""
        return self.fit / self.steps / self.scan


def make_file(path: Path, rows: int) -> None:
    """Texts of which the first are frequent, even numbers, a quarter of class yes."""
    texts = [
        f"'value ' || (({count} * pow((hash(i, {place}) % 10007) / 10007, 3))::INT) AS {name}"
        for place, (name, count) in enumerate(TEXTS.items())
    ]
    numbers = [
        f"{high} * (hash(i, {100 + place}) % 1000003) / 1000003 AS {name}"
        for place, (name, high) in enumerate(NUMBERS.items())
    ]
    label = "CASE WHEN hash(i, 99) % 4 = 0 THEN 'yes' ELSE 'no' END AS target"
    query = f"SELECT {', '.join([*texts, *numbers, label])} FROM range({rows}) AS made(i)"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")


def scan_text(path: Path) -> str:
    """One GROUP BY of the file, by each feature."""
    cells = [f"floor({name} / {high / 32}) AS g_{name}" for name, high in NUMBERS.items()]
    sets = ", ".join(f"({name})" for name in [*TEXTS, *(f"g_{name}" for name in NUMBERS)])
    label = "SUM(CASE WHEN target = 'yes' THEN 1 ELSE 0 END)"
    named = ", ".join([*TEXTS, *cells])
    return f"SELECT {named}, COUNT(*), {label} FROM '{path}' GROUP BY GROUPING SETS ({sets})"


def processor_time(work: Callable[[], object]) -> float:
    """The seconds of processor time that something takes, in all threads."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(path: Path, rows: int, model: str) -> Measured:
    """One fit of a model, between scans."""
    keys = {name: [f"value {i}" for i in range(count)] for name, count in TEXTS.items()}
    price: dict[str, Any] = {} if model == "NaiveBayes" else {"delta": 1e-6}
    estimator = getattr(dp.learn, model)(epsilon=1, **price)
    with (
        duckdb.connect() as plain,
        dp.protect(
            path,
            name="data",
            epsilon=2,
            delta=1e-5,
            keys={**keys, "target": ["no", "yes"]},
            bounds={name: (0, high) for name, high in NUMBERS.items()},
            expected_rows=rows,
        ) as session,
    ):
        scan = scan_text(path)
        times = [processor_time(lambda: plain.execute(scan).fetchall()) for _ in range(SCANS)]
        fit = processor_time(lambda: estimator.fit(session.table("data"), target="target"))
        times += [processor_time(lambda: plain.execute(scan).fetchall()) for _ in range(SCANS)]
    return Measured(model, len(estimator.releases_), fit, statistics.median(times))


def main() -> None:
    """Prints one line for each model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--models", nargs="+", default=["LogisticRegression", "NaiveBayes"])
    parser.add_argument("--file", type=Path, help="kept, and used again if it is there")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = options.file or Path(folder) / "rows.parquet"
        if not path.exists():
            make_file(path, options.rows)
        for model in options.models:
            speed = measure(path, options.rows, model)
            print(
                f"{model}, {options.rows:,} rows: {speed.steps} steps, fit {speed.fit:.2f} s, "
                f"scan {speed.scan:.3f} s, {speed.scans:.2f} scans a step (aim {MOST:g})",
                flush=True,
            )


if __name__ == "__main__":
    main()
