"""What SQL over released rows adds to a question, in processor time.

A question with 1,000 groups is asked by itself, and with SQL above it, in turns. The time of
the process that runs the SQL counts, too, where the system tells it; it was started before.
Every statement is new: it has a name that no statement had before.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import numpy as np
import pyarrow as pa

import deniable as dp
from benchmarks.stopwatch import Row, medians
from deniable.engines.duckdb.rows_process import ROWS_PROCESS

UNIT = "ms"
GROUPS = 1_000
ROWS = 50_000
MOST = 15.0
COUNTS = "SELECT g, COUNT(*) AS n FROM data GROUP BY g"
MEANS = "SELECT g, AVG(x) AS m FROM data GROUP BY g"
CASES = {
    "share by SUM(n) OVER ()": (COUNTS, "SELECT g, 100.0 * n / SUM(n) OVER () AS {} FROM ({})"),
    "ORDER BY ... LIMIT": (COUNTS, "SELECT g, n AS {} FROM ({}) ORDER BY n DESC LIMIT 10"),
    "CASE": (
        COUNTS,
        "SELECT g, CASE WHEN n > 50 THEN 'many' ELSE 'few' END AS {}, n FROM ({})",
    ),
    "ROUND of AVG": (MEANS, "SELECT g, ROUND(m, 2) AS {} FROM ({})"),
    "LAG": (COUNTS, "SELECT g, n - LAG(n) OVER (ORDER BY g) AS {} FROM ({})"),
}


def rows(groups: int = GROUPS) -> Iterator[Row]:
    draw = np.random.default_rng(0)
    table = pa.table({"g": draw.integers(0, groups, ROWS), "x": draw.integers(0, 100, ROWS)})
    declared = {"bounds": {"x": (0, 100)}, "keys": {"g": range(groups)}}
    with dp.protect(table, epsilon=10**9, **declared) as session:
        for what, (inner, outer) in CASES.items():
            yield contest(session, f"{what}, {groups:,} groups", inner, outer)


def contest(session: dp.Session, what: str, inner: str, outer: str) -> Row:
    """A question with SQL above it against the question alone, in turns."""
    numbers = count()
    contestants = {
        "whole": milliseconds(session, lambda: outer.format(f"v_{next(numbers)}", inner)),
        "alone": milliseconds(session, lambda: inner),
    }
    times = medians(contestants)
    added = times["whole"] - times["alone"]
    ratio = times["whole"] / times["alone"]
    note = f"adds {added:.1f} ms"
    peer = "without the SQL above"
    target = f"adds ≤ {MOST:g} ms"
    return Row(
        what, UNIT, times["whole"], times["alone"], peer, ratio, target, added <= MOST, note
    )


def milliseconds(session: dp.Session, write: Callable[[], str]) -> Callable[[], float]:
    """A contestant that returns the processor time of a question; the first is not timed."""
    session.sql(write(), epsilon=1, fresh=True)

    def run() -> float:
        text, start = write(), used_seconds()
        session.sql(text, epsilon=1, fresh=True)
        return 1000 * (used_seconds() - start)

    return run


def used_seconds() -> float:
    """What this process has computed, and the one that runs SQL over released rows."""
    own, pid = time.process_time(), ROWS_PROCESS.pid
    times = Path(f"/proc/{pid}/schedstat")
    if pid is None or os.name != "posix" or not times.exists():
        return own
    return own + int(times.read_text().split()[0]) / 1e9
