"""What an import costs, and `deniable sql`, in fresh interpreters that take turns.

Processor time, because other work on the machine must not count. `deniable sql` is compared
with the import of four libraries that every question needs. It needs more of them (SQLAlchemy
for the ledger, PyArrow, Typer, cryptography): all together take twice as long as the four.

All contestants find their bytecode compiled, as an installed package has it: a cache of their
own is filled in a first, untimed round. Without it our sources would be compiled each time in
environments that forbid Python to write bytecode, while an installed peer's would not.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from benchmarks.stopwatch import Row, medians

UNIT = "ms"
CLOCK = "import time; t = time.process_time(); {}; print(1000 * (time.process_time() - t))"
LIBRARIES = "numpy, duckdb, sqlglot, pydantic"

BARE = "deniable"
USED = "deniable.Laplace"  # a lazy face defers its cost: count that too
NUMPY = "numpy"
OURS = {
    BARE: "import deniable",
    USED: "import deniable; deniable.Laplace",
    NUMPY: "import numpy",
}
_QUESTION = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
_POLICY = """
[budget]
epsilon = 1000

[tables.visits]
source = "visits.csv"

[tables.visits.columns.ward]
keys = ["A", "B"]
"""
# Started: the policy is read, engine and ledger are open, and the question comes next.
_END_BEFORE_QUESTION = (
    "from deniable.release.public_session import Session; "
    "Session.sql = lambda *_, **__: sys.exit(); "
)
PEERS = {"opendp.prelude": "import opendp.prelude", "diffprivlib": "import diffprivlib"}


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as cache:
        problems = {name: problem(code, cache) for name, code in PEERS.items()}
        present = {name: PEERS[name] for name in PEERS if not problems[name]}
        statements = {**OURS, **present}
        for code in statements.values():
            interpreter(code, cache)
        times = medians({name: time_imports(code, cache) for name, code in statements.items()})
    for ours in (BARE, USED):
        ratio = times[ours] / times[NUMPY]
        yield Row(ours, UNIT, times[ours], times[NUMPY], "numpy", ratio, "≤ 1.5", ratio <= 1.5)
    for name, trouble in problems.items():
        if trouble:
            yield Row(USED, UNIT, times[USED], None, name, note=trouble)
        else:
            ratio = times[USED] / times[name]
            yield Row(USED, UNIT, times[USED], times[name], name, ratio, "< 1", ratio < 1)

    yield from _commands()


def _commands() -> Iterator[Row]:
    """`deniable sql` from its start: to its help, to the question, and to the answer."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
        Path(folder, "visits.csv").write_text("ward\n" + "A\nB\n" * 500)
        Path(folder, "deniable.toml").write_text(_POLICY)
        prices = count(1)
        runs: dict[str, Callable[[], float]] = {
            LIBRARIES: lambda: _processor_time(["-c", f"import {LIBRARIES}"], folder, cache),
            "deniable sql --help": lambda: _run("--help", folder=folder, cache=cache),
            "deniable sql, started": lambda: _run(
                *_ask(next(prices)), folder=folder, cache=cache, before=_END_BEFORE_QUESTION
            ),
            "deniable sql, answered": lambda: _run(
                *_ask(next(prices)), folder=folder, cache=cache
            ),
        }
        for run in runs.values():
            run()  # fills the cache, and begins the ledger
        times = medians(runs)
    for name in list(runs)[1:]:
        ratio = times[name] / times[LIBRARIES]
        yield Row(
            name, UNIT, times[name], times[LIBRARIES], LIBRARIES, ratio, "≤ 2", ratio <= 2
        )


def _ask(price: int) -> tuple[str, ...]:
    """A question that was not asked before, because its price differs."""
    return (_QUESTION, "--epsilon", f"0.{price:04}")


def _run(*words: str, folder: str, cache: str, before: str = "") -> float:
    start = f"import sys; {before}from deniable.app.cli import main; main()"
    return _processor_time(["-c", start, "sql", *words], folder, cache)


def _processor_time(arguments: list[str], folder: str, cache: str) -> float:
    """Milliseconds of processor time that a fresh interpreter takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, *arguments]
    subprocess.run(command, env=_with_cache(cache), cwd=folder, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def time_imports(statement: str, cache: str) -> Callable[[], float]:
    """Milliseconds that the statement takes in a fresh interpreter."""
    return lambda: float(interpreter(CLOCK.format(statement), cache).stdout)


def problem(statement: str, cache: str) -> str:
    """Why a peer cannot take part, or nothing."""
    outcome = interpreter(statement, cache)
    if outcome.returncode == 0:
        return ""
    last = outcome.stderr.strip().splitlines()[-1]
    if last.startswith("ModuleNotFoundError"):
        return "is not installed (extra: bench)"
    return f"does not import here: {last.split(' (')[0]}"


def interpreter(code: str, cache: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, env=_with_cache(cache), capture_output=True, text=True, check=False
    )


def _with_cache(cache: str) -> dict[str, str]:
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment
