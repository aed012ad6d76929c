"""SQL over released rows, run in a locked process that was started before and is ended late.

One process serves all sessions of a Python process, one question at a time. It keeps nothing
between two questions: each has an empty database of its own. If a question takes too long or
breaks the process, the process is ended, and the next question starts another one.
"""

import atexit
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import pyarrow as pa

from deniable.engines.duckdb import rows_worker
from deniable.engines.duckdb.rows_worker import table_from_bytes, table_to_bytes, with_length

SECONDS = 2.0  # for one question, of the process's own time where the system tells it
_PATIENCE = 10.0  # times as long may pass on the clock, if the machine is busy
_LOOK_SECONDS = 0.05  # between two looks at the process's own time
MOST_ROWS = 1_000_000
# After such an error a database may refuse all that follows.
_FATAL = ("FATAL", "INTERNAL", "emory", "bad_alloc")
_START_SECONDS = 60.0  # a busy machine may take long to import the libraries


class RowsRefused(Exception):
    """The SQL could not be run; the text says why. It is about released rows only."""


@dataclass(slots=True)
class RowsProcess:
    """A process that runs SQL over the rows that it gets."""

    seconds: float = SECONDS
    _child: "subprocess.Popen[bytes] | None" = None
    _sender: threading.Thread | None = None  # it still sends a request
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> None:
        """Starts the process, unless it runs, and waits until it is locked."""
        with self._lock:
            self._started()

    def query(
        self, tables: Mapping[str, "pa.Table"], sql: str, *, most_rows: int = MOST_ROWS
    ) -> "pa.Table":
        """The rows that a SELECT makes of these tables.

        >>> rows = {"t": pa.table({"x": [1, 2]})}
        >>> ROWS_PROCESS.query(rows, "SELECT MAX(x) AS x FROM t").to_pylist()
        [{'x': 2}]
        """
        (outcome,) = self.query_each(tables, [sql], most_rows=most_rows)
        if isinstance(outcome, RowsRefused):
            raise outcome
        return outcome

    def query_each(
        self,
        tables: Mapping[str, "pa.Table"],
        statements: Sequence[str],
        *,
        views: rows_worker.Views | None = None,
        most_rows: int = MOST_ROWS,
    ) -> "list[pa.Table | RowsRefused]":
        """What each SELECT makes of the same tables, or why it was refused.

        Every statement has its own time. `views` are names for some columns of a table.

        >>> rows = {"t": pa.table({"x": [1, 2]})}
        >>> answers = ROWS_PROCESS.query_each(rows, ["SELECT y FROM t", "SELECT x FROM t"])
        >>> type(answers[0]).__name__, answers[1].to_pylist()
        ('RowsRefused', [{'x': 1}, {'x': 2}])
        """
        request = {
            "statements": list(statements),
            "tables": list(tables),
            "views": dict(views or {}),
            "most_rows": most_rows,
        }
        messages = [json.dumps(request).encode(), *map(table_to_bytes, tables.values())]
        message = b"".join(map(with_length, messages))
        with self._lock:
            child = self._started()
            assert child.stdin is not None
            try:
                self._sender = _send(child.stdin, message)
                return [self._answer(child) for _ in statements]
            except BaseException:  # an answer may still come: nobody else may read it
                self._end()
                raise
            finally:
                self._join_sender()

    def _answer(self, child: "subprocess.Popen[bytes]") -> "pa.Table | RowsRefused":
        """The next answer. A process that gives none is ended."""
        if child is not self._child:
            return RowsRefused("the process that ran it ended")
        assert child.stdout is not None
        clock = _Clock(child.pid, self.seconds)
        try:
            answer = json.loads(_receive(child.stdout, clock))
            if answer["error"] is not None:
                if any(sign in answer["error"] for sign in _FATAL):
                    self._end()
                return RowsRefused(answer["error"])
            return table_from_bytes(_receive(child.stdout, clock))
        except TimeoutError:
            self._end()
            return RowsRefused(f"it takes more than {self.seconds:g} seconds")
        except (EOFError, OSError):
            self._end()
            return RowsRefused(
                "the process that ran it ended: it needs more memory than the "
                f"{rows_worker.MEMORY_BYTES >> 20} MB that it may have"
            )

    @property
    def pid(self) -> int | None:
        """The number of the running process."""
        return None if self._child is None else self._child.pid

    def forget(self) -> None:
        """Leaves the process to the parent of a fork: two users would mix up their rows."""
        child, self._child, self._lock = self._child, None, threading.Lock()
        self._sender = None
        for pipe in () if child is None else (child.stdin, child.stdout):
            if pipe is not None:
                _close(pipe)
        if child is not None:
            child.returncode = 0  # it is not ours to wait for

    def close(self) -> None:
        """Ends the process."""
        with self._lock:
            self._end()

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._child is not None and self._child.poll() is None:
            return self._child
        self._end()
        # Isolated, without the environment, and with no open file but the pipes.
        self._child = subprocess.Popen(
            [sys.executable, "-I", str(Path(rows_worker.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd=Path(rows_worker.__file__).parent,
            bufsize=0,
        )
        assert self._child.stdout is not None
        try:
            _receive(self._child.stdout, _Clock(self._child.pid, _START_SECONDS))
        except (TimeoutError, EOFError, OSError):
            self._end()
            raise RowsRefused("the process for SQL over released rows cannot start") from None
        return self._child

    def _join_sender(self) -> None:
        sender, self._sender = self._sender, None
        if sender is not None:
            sender.join()

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            self._join_sender()  # before the number of its pipe is another file's
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    _close(pipe)


def _close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except OSError:  # what was not sent is of no use any more
        return


def _send(pipe: IO[bytes], message: bytes) -> threading.Thread | None:
    """Sends what the pipe takes at once. A thread sends the rest: a full pipe must not hold up
    the clock."""
    rest = memoryview(message)
    os.set_blocking(pipe.fileno(), False)
    try:
        while rest:
            rest = rest[os.write(pipe.fileno(), rest) :]
    except BlockingIOError:
        os.set_blocking(pipe.fileno(), True)
        sender = threading.Thread(target=_send_rest, args=(pipe, rest), daemon=True)
        sender.start()
        return sender
    except OSError:  # the process has ended; the reader notices it
        return None
    return None


def _send_rest(pipe: IO[bytes], rest: memoryview) -> None:
    try:
        while rest:
            rest = rest[pipe.write(rest) :]
    except (OSError, ValueError):  # as above
        return


class _Clock:
    """Says when a process has had its time."""

    def __init__(self, pid: int, seconds: float) -> None:
        self.pid, self.seconds = pid, seconds
        self.began, self.used = time.monotonic(), _own_seconds(pid)

    @property
    def over(self) -> bool:
        now = _own_seconds(self.pid)
        passed = time.monotonic() - self.began
        if now is None or self.used is None:
            return passed > self.seconds
        return now - self.used > self.seconds or passed > self.seconds * _PATIENCE


def _own_seconds(pid: int) -> float | None:
    """How long a process has computed; None where the system does not tell it."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def _receive(pipe: IO[bytes], clock: _Clock) -> bytes:
    """The next message, if it comes in time."""
    length = int.from_bytes(_read(pipe, 8, clock), "little")
    return _read(pipe, length, clock)


def _read(pipe: IO[bytes], length: int, clock: _Clock) -> bytes:
    parts, missing = [], length
    while missing:
        while not select.select([pipe], [], [], _LOOK_SECONDS)[0]:
            if clock.over:
                raise TimeoutError
        part = os.read(pipe.fileno(), min(missing, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


ROWS_PROCESS = RowsProcess()
atexit.register(ROWS_PROCESS.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=ROWS_PROCESS.forget)
