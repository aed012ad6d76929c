"""Runs benchmarks and prints their tables: `make bench` runs all, `make bench-noise` one part.

Each figure is a ratio of medians of nine interleaved repeats from this one run, because
absolute speeds say more about the machine than about the code. A run of all parts is also
written to `benchmarks/results.json`.
"""

from __future__ import annotations

import json
import platform
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks import (
    accounting,
    choosing,
    console,
    engines,
    files,
    growth,
    imports,
    inference,
    joins,
    keys,
    ledger,
    medians,
    noise,
    outer,
    quantiles,
    queries,
    scale,
    server,
    surveys,
)
from benchmarks.stopwatch import REPEATS, Row

RESULTS = Path(__file__).with_name("results.json")
WIDE = 160
BENCHMARKS = {
    "accounting": accounting.rows,
    "choosing": choosing.rows,
    "console": console.rows,
    "engines": engines.rows,
    "files": files.rows,
    "growth": growth.rows,
    "imports": imports.rows,
    "inference": inference.rows,
    "joins": joins.rows,
    "keys": keys.rows,
    "ledger": ledger.rows,
    "medians": medians.rows,
    "noise": noise.rows,
    "outer": outer.rows,
    "quantiles": quantiles.rows,
    "queries": queries.rows,
    "scale": scale.rows,
    "server": server.rows,
    "surveys": surveys.rows,
}


def main(parts: list[str]) -> None:
    if unknown := [name for name in parts if name not in BENCHMARKS]:
        sys.exit(f"bench: there is no part {unknown[0]!r}, only {', '.join(BENCHMARKS)}.")
    console = Console()
    if not console.is_terminal:  # a file has room for whole tables
        console.width = max(console.width, WIDE)
    tables = {
        name: list(track(rows(), f"measuring {name}", console=console, transient=True))
        for name, rows in BENCHMARKS.items()
        if name in parts or not parts
    }
    for name, rows in tables.items():
        console.print(table(name, rows))
    console.print(summary([row for rows in tables.values() for row in rows]))
    if not parts:
        RESULTS.write_text(json.dumps(record(tables), indent=2) + "\n")


def table(name: str, rows: list[Row]) -> Table:
    title = f"{name} ({rows[0].unit}): medians of {REPEATS} interleaved repeats"
    drawn = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for column in ("what", "against"):
        drawn.add_column(column, no_wrap=True)
    for column in ("ours", "theirs", "ratio", "target"):
        drawn.add_column(column, justify="right", no_wrap=True)
    drawn.add_column("reached")
    for row in rows:
        figures = [
            figure(row.ours),
            figure(row.theirs),
            figure(row.ratio) if row.ratio else "-",
        ]
        drawn.add_row(row.what, row.peer, *figures, row.target, answer(row))
    return drawn


def summary(rows: list[Row]) -> str:
    """How many targets were reached, and why some could not be measured."""
    counts = Counter(row.reached for row in rows)
    lines = [f"{counts[True]} targets reached, {counts[False]} not reached."]
    missing = Counter((row.peer, row.note) for row in rows if row.ratio is None)
    lines += [f"{n} not measured: {peer} {note}." for (peer, note), n in missing.items()]
    return "\n".join(lines)


def figure(number: float | None) -> str:
    return (
        "missing" if number is None else f"{number:,.3g}" if number < 1000 else f"{number:,.0f}"
    )


def answer(row: Row) -> str:
    return {True: "yes", False: "[red]not reached[/red]", None: "-"}[row.reached]


def record(tables: dict[str, list[Row]]) -> dict[str, object]:
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "results": {name: [asdict(row) for row in rows] for name, rows in tables.items()},
    }


if __name__ == "__main__":
    main(sys.argv[1:])
