"""What an import costs, in fresh interpreters that take turns.

All contestants find their bytecode compiled, as an installed package has it: a cache of their
own is filled in a first, untimed round. Without it our sources would be compiled each time in
environments that forbid Python to write bytecode, while an installed peer's would not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

from benchmarks.stopwatch import Row, medians

UNIT = "ms"
CLOCK = "import time; t = time.perf_counter(); {}; print(1000 * (time.perf_counter() - t))"

BARE = "deniable"
USED = "deniable.Laplace"  # a lazy face defers its cost: count that too
NUMPY = "numpy"
OURS = {
    BARE: "import deniable",
    USED: "import deniable; deniable.Laplace",
    NUMPY: "import numpy",
}
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
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
