"""What a server costs in addition to a session on the owner's machine.

The same question is asked of a session over the same kind of ledger, and of a server on
loopback that hands answers over at once: with slots, an answer takes as long as its slot. The
clock is the asker's, so that other work on the machine counts; turns are interleaved.
"""

from __future__ import annotations

import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import deniable as dp
from benchmarks.stopwatch import REPEATS, Row, medians

COMMAND = [sys.executable, "-c", "from deniable.app.cli import main; main()"]
QUESTION = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
POLICY = """
[budget]
epsilon = 1000000
[tables.visits]
source = "visits.csv"
unit = "patient"
max_groups_per_unit = 1
max_rows_per_unit_per_group = 1
[tables.visits.columns]
ward = { keys = ["A", "B"] }
"""
EXPLAINED = 100
MOST_MORE, MOST_EXPLAINING, MOST_STARTING = 15.0, 100.0, 2.0  # ms, ms, s


def rows() -> Iterator[Row]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        files = [write(folder / name) for name in ("here", "there")]
        yield starting(files[1])
        url = stack.enter_context(serving(files[1]))
        people = "--database", str(database(files[1]))
        run_command("user", "add", "ann", "--role", "analyst", *people)
        token = run_command("token", "new", "ann", *people)
        local = stack.enter_context(dp.open(str(files[0])))
        remote = dp.connect(url, token=token, key=local_key(files[1]))
        yield answering(local, remote)
        yield explaining(local, remote)


def write(place: Path) -> Path:
    place.mkdir()
    lines = "".join(f"{i},{'AB'[i % 2]}\n" for i in range(10_000))
    (place / "visits.csv").write_text("patient,ward\n" + lines)
    (place / "deniable.toml").write_text(POLICY)
    return place / "deniable.toml"


def database(file: Path) -> Path:
    return file.parent / "server.sqlite"


def local_key(file: Path) -> str:
    return (file.parent / "deniable.ledger.key.pub").read_text().strip()


def run_command(*words: str) -> str:
    command = [*COMMAND, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@contextmanager
def serving(file: Path) -> Iterator[str]:
    command = [*COMMAND, "serve", str(file), "--port", "0", "--padding", "off", "--places", "1"]
    command += ["--database", str(database(file))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[-1].replace("/v1/", "/")
        finally:
            process.send_signal(signal.SIGTERM)


def starting(file: Path) -> Row:
    """From the command to the line that says the address; the peer is an import of FastAPI and
    DuckDB, which nothing that serves tables can do without."""

    def start() -> float:
        begun = time.perf_counter()
        with serving(file):
            return time.perf_counter() - begun

    def bare() -> float:
        begun = time.perf_counter()
        code = "import fastapi, uvicorn, duckdb, pyarrow, scipy.stats"
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - begun

    times = medians({"start": start, "bare": bare}, rounds=3)
    reached = times["start"] <= MOST_STARTING
    target = f"at most {MOST_STARTING:g} s"
    ratio = times["start"] / times["bare"]
    what, peer = "start of a server", "import of its libraries"
    return Row(what, "s", times["start"], times["bare"], peer, ratio, target, reached)


def milliseconds(ask: Callable[[], object]) -> Callable[[], float]:
    def run() -> float:
        begun = time.perf_counter()
        ask()
        return (time.perf_counter() - begun) * 1e3

    return run


def answering(local: dp.Session, remote: dp.Session) -> Row:
    """A new answer, charged and signed each time."""

    def ask(session: dp.Session) -> Callable[[], float]:
        return milliseconds(lambda: session.sql(QUESTION, epsilon=0.1, fresh=True))

    contestants = {"ours": ask(remote), "theirs": ask(local)}
    medians(contestants, rounds=2)  # both are warm
    times = medians(contestants, rounds=3 * REPEATS)
    more = times["ours"] - times["theirs"]
    return Row(
        "an answer over HTTP, without slots",
        "ms",
        times["ours"],
        times["theirs"],
        "a local session",
        times["ours"] / times["theirs"],
        f"at most {MOST_MORE:g} ms more",
        more <= MOST_MORE,
        f"{more:.1f} ms more",
    )


def explaining(local: dp.Session, remote: dp.Session) -> Row:
    """The server's own explanation: the 95th percentile of a hundred."""

    def ask(session: dp.Session) -> Callable[[], float]:
        plan = session.plan(QUESTION, epsilon=0.1)
        return milliseconds(lambda: session.check(plan))

    contestants = {"ours": ask(remote), "theirs": ask(local)}
    turns = [{name: run() for name, run in contestants.items()} for _ in range(EXPLAINED)]
    ours, theirs = (
        statistics.quantiles([turn[name] for turn in turns], n=20)[-1] for name in contestants
    )
    target, reached = f"at most {MOST_EXPLAINING:g} ms", ours <= MOST_EXPLAINING
    what, peer = "explain over HTTP, 95th percentile", "a local session"
    return Row(what, "ms", ours, theirs, peer, ours / theirs, target, reached)
