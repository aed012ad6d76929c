"""Runs tests again and again, each time in a process of its own that starts in no time.

This process has imported pytest and the packages that tests need, and nothing of ours. For each
request it forks, and the child runs pytest on our code as it is in the files at that moment.
Requests and replies are lines of JSON:

    {"tests": ["tests/a.py::test_b"], "first": true, "longest": 60, "folder": "/tmp/x"}
    {"code": 1, "tests": {"tests/a.py::test_b": "failed"}, "seconds": 0.7}

`first` stops at the first failure and writes no compiled code; `code` is what pytest returned,
or null if it did not end in time or the process died.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# What many tests import and what takes long. Not here: what starts threads when imported, and
# plugins that OPTIONS name, which pytest must import itself.
PACKAGES = (
    "pytest",
    "_pytest.pytester",
    "_pytest.assertion.rewrite",
    "hypothesis.strategies",
    "hypothesis.extra.numpy",
    "hypothesis.stateful",
    "numpy.testing",
    "scipy.special",
    "scipy.stats",
    "scipy.optimize",
    "scipy.sparse",
    "duckdb",
    "pyarrow.parquet",
    "pyarrow.csv",
    "pyarrow.compute",
    "pandas",
    "narwhals",
    "sqlglot.optimizer",
    "sqlglot.dialects.duckdb",
    "sqlglot.dialects.spark",
    "sqlglot.dialects.postgres",
    "sqlglot.dialects.sqlite",
    "sqlalchemy.dialects.sqlite",
    "sqlalchemy.dialects.postgresql",
    "cryptography.x509",
    "cryptography.hazmat.primitives.asymmetric.ed25519",
    "pydantic",
    "rich.console",
    "rich.table",
    "typer.testing",
    "fastapi.testclient",
    "jinja2",
    "mpmath",
)
OPTIONS = ["-q", "-p", "no:cacheprovider", "--disable-plugin-autoload", "-p", "xdist.plugin"]


class Outcomes:
    """A plugin of pytest: what became of each test."""

    def __init__(self) -> None:
        self.tests: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        known = self.tests.get(report.nodeid)
        if known != "failed" and (report.outcome != "passed" or report.when == "call"):
            self.tests[report.nodeid] = report.outcome


def serve(packages: Sequence[str]) -> None:
    """Imports packages, then answers requests until there are no more."""
    requests, replies = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    silence = os.open(os.devnull, os.O_RDWR)
    os.dup2(silence, 0)
    os.dup2(2, 1)  # what tests print follows what fails to our log
    sys.path[0] = str(Path.cwd())  # as `python -m pytest` has it
    for name in packages:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()
    for line in requests:
        replies.write(json.dumps(run(json.loads(line))) + "\n")
        replies.flush()


def run(request: dict[str, Any]) -> dict[str, Any]:
    """What pytest says of some tests, in a child; all that it started is ended afterwards."""
    start = time.monotonic()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.setsid()
        _run_in_child(request, writer)
    os.close(writer)
    reply = {"code": None, "tests": {}} | _read(reader, request["longest"])
    os.close(reader)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return reply | {"seconds": round(time.monotonic() - start, 1)}


def _run_in_child(request: dict[str, Any], writer: int) -> None:
    """Runs the tests, reports, and leaves as an interpreter would that ends."""
    try:
        import pytest

        sys.dont_write_bytecode = request["first"]
        first = ["-x"] if request["first"] else []
        options = [*OPTIONS, *first, f"--basetemp={request['folder']}"]
        outcomes = Outcomes()
        try:
            code = int(pytest.main([*options, *request["tests"]], plugins=[outcomes]))
        except BaseException:  # at its end: a test that failed left a connection open
            if "failed" not in outcomes.tests.values():
                raise
            code = 1
        atexit._run_exitfuncs()
        os.write(writer, json.dumps({"code": code, "tests": outcomes.tests}).encode() + b"\n")
    finally:
        os._exit(0)


def _read(reader: int, longest: float) -> dict[str, Any]:
    """The line that a child writes, or nothing if it dies or takes too long."""
    text, end = b"", time.monotonic() + longest
    while not text.endswith(b"\n"):
        ready, _, _ = select.select([reader], [], [], max(0.0, end - time.monotonic()))
        piece = os.read(reader, 1 << 16) if ready else b""
        if not piece:
            return {}
        text += piece
    reply: dict[str, Any] = json.loads(text)
    return reply


if __name__ == "__main__":
    serve(sys.argv[1:])
