"""Several processes that serve one address, over one ledger and one queue.

Each is started by exec with the listening socket and nothing else of its parent. One that ends
by itself is replaced. A question that it was answering is found again by its id.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from deniable.app.server.accounts.server_database import ServerDatabase
from deniable.app.server.questions.server_settings import ServerSettings
from deniable.app.server.serving import ServerPlace, bind, serve_on
from deniable.errors import DeniableError, ServerUnavailable

READY = "ready"
_SOON = 5.0  # seconds; workers that end sooner, one after the other, have a fault that stays
_MOST_SOON = 10


def serve_workers(
    settings: ServerSettings, place: ServerPlace, count: int, *, ready: Callable[[str], None]
) -> None:
    """Serves with that many processes until this one is told to end."""
    settings.check()
    ServerDatabase(settings.database).close()  # which says what is wrong with it, once
    with bind(place) as bound:
        _Workers(settings, place, bound).run(count, ready)


class _Workers:
    """The processes that share a socket."""

    def __init__(
        self, settings: ServerSettings, place: ServerPlace, bound: socket.socket
    ) -> None:
        self._settings, self._place, self._bound = settings, place, bound
        self._ending = threading.Event()
        self._ended_soon = 0  # workers, in a row
        self._running: dict[int, tuple[subprocess.Popen[str], float]] = {}

    def run(self, count: int, ready: Callable[[str], None]) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._ending.set())
        try:
            for started in [self._start() for _ in range(count)]:
                if _first_line(started.stdout) != READY and not self._ending.is_set():
                    raise ServerUnavailable("A worker did not start: see the lines above.")
            ready(self._place.url(self._bound.getsockname()[1]))
            while not self._ending.wait(0.2):
                self._replace_ended()
        finally:
            self._end_all()

    def _start(self) -> "subprocess.Popen[str]":
        handle = self._bound.fileno()
        place = asdict(self._place) | {
            name: None if path is None else str(path)
            for name, path in (
                ("certificate", self._place.certificate),
                ("key", self._place.key),
            )
        }
        arguments = json.dumps({"socket": handle, "place": place})
        started = subprocess.Popen(
            [sys.executable, "-m", "deniable.app.server.workers", arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(handle,),
            text=True,
            start_new_session=True,
        )
        assert started.stdin is not None
        with suppress(BrokenPipeError):  # it was killed already: it will be replaced
            started.stdin.write(f"{self._settings.to_json()}\n")
            started.stdin.flush()
        self._running[started.pid] = started, time.monotonic()
        return started

    def _replace_ended(self) -> None:
        for pid, (process, begun) in list(self._running.items()):
            if process.poll() is None:
                continue
            del self._running[pid]
            self._ended_soon += 1 if time.monotonic() - begun < _SOON else -self._ended_soon
            if self._ended_soon > _MOST_SOON:
                raise ServerUnavailable("Workers end soon after their start, again and again.")
            self._start()

    def _end_all(self) -> None:
        processes = [process for process, _ in self._running.values()]
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


def _first_line(stream: IO[str] | None) -> str:
    return "" if stream is None else stream.readline().strip()


def _end_with_parent() -> None:
    """Ends this worker in order when its parent is gone: its standard input closes then."""
    while sys.stdin.readline():
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def work(arguments: dict[str, Any]) -> None:
    """One worker: serves on the socket that it was given. Only here all of it is loaded."""
    from deniable.app.server.questions.opened_server import make_server

    settings = ServerSettings.from_json(sys.stdin.readline())
    place = arguments["place"]
    for name in ("certificate", "key"):
        place[name] = None if place[name] is None else Path(place[name])
    where = ServerPlace(**place)
    application = make_server(settings, https=where.https or where.behind_proxy)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with socket.socket(fileno=arguments["socket"]) as bound:
        print(READY, flush=True)
        serve_on(bound, application, where)


if __name__ == "__main__":
    from deniable.app.server.problem_details import DatabaseError, as_ours

    try:
        work(json.loads(sys.argv[1]))
    except (DeniableError, DatabaseError) as problem:
        print(f"deniable serve: {as_ours(problem)}", file=sys.stderr)
        sys.exit(2)
