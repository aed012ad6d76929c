"""Children for the engines of servers in tests, which start in no time.

A server starts each of its children by exec, so each imports DuckDB, Arrow and sqlglot again:
half a second of processor time, hundreds of times in a run of the tests. Here one process per
worker has imported them and forks. A child gets the same pipes, environment and session, and
runs the same code. At full size, and in the tests of children themselves, children are started
as in a real server.
"""

import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

CHILD = "deniable.app.server.children.engine_child"
# What a child imports before it answers. None of it holds data, or starts a thread.
IMPORTED = (
    "deniable.engines.opening",
    "deniable.engines.rehearsal",
    "deniable.engines.duckdb.engine",
    "deniable.policy.written_policy",
)


class WarmChild:
    """As much of `subprocess.Popen` as a server uses of its child."""

    def __init__(self, number: int, stdin: int, stdout: int) -> None:
        self.pid = number
        self.stdin, self.stdout = os.fdopen(stdin, "wb", 0), os.fdopen(stdout, "rb", 0)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> None:
        """Waits until the process is gone."""
        with suppress(ProcessLookupError):
            handle = os.pidfd_open(self.pid)
            select.select([handle], [], [])
            os.close(handle)


class WarmChildren:
    """A process that forks children; it ends when this one does."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._ours, theirs = socket.socketpair()
        self._lock = threading.Lock()
        command = [sys.executable, "-I", str(Path(__file__)), str(theirs.fileno())]
        self._process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], env=dict(environment), start_new_session=True
        )
        theirs.close()

    def start(self, environment: Mapping[str, str]) -> WarmChild:
        """A child with pipes and these variables only."""
        child_in, ours_out = os.pipe()
        ours_in, child_out = os.pipe()
        with self._lock:
            told = json.dumps(dict(environment)).encode()
            socket.send_fds(self._ours, [len(told).to_bytes(8)], [child_in, child_out])
            self._ours.sendall(told)
            number = int.from_bytes(self._ours.recv(8))
        os.close(child_in)
        os.close(child_out)
        if not number:  # to kill process 0 is to kill our own group
            os.close(ours_in)
            os.close(ours_out)
            raise OSError("The process that forks children has ended.")
        return WarmChild(number, ours_out, ours_in)

    def close(self) -> None:
        """Ends the process. Children end with their servers."""
        self._ours.shutdown(socket.SHUT_RDWR)
        self._ours.close()
        self._process.wait()


def serve(requests: socket.socket) -> None:
    """Forks a child for each request, until there are no more."""
    for name in (CHILD, *IMPORTED):
        importlib.import_module(name)
    engine_child: Any = sys.modules[CHILD]
    engine_child.load_answering()
    signal.signal(signal.SIGCHLD, _reap)
    while True:
        size, handles, _, _ = socket.recv_fds(requests, 8, 2)
        if not size:
            return
        environment = json.loads(requests.recv(int.from_bytes(size), socket.MSG_WAITALL))
        child = os.fork()
        if child == 0:
            requests.close()
            _become(engine_child, environment, *handles)
        for handle in handles:
            os.close(handle)
        requests.sendall(child.to_bytes(8))


def _reap(*_: object) -> None:
    """Forgets the children that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _become(engine_child: Any, environment: dict[str, str], stdin: int, stdout: int) -> None:
    """What exec would do: a session, variables, pipes; then the program."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        os.environ.clear()
        os.environ.update(environment)
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.closerange(3, 256)
        engine_child.main()
    finally:
        os._exit(0)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
