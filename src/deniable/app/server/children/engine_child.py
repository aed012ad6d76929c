"""The process that runs an engine: `python -m deniable.app.server.children.engine_child`.

It is started by exec with pipes only, gets the sources of one policy, and returns integers as
Arrow. It has no key, no ledger, no token and no connection of the server. Where all sources are
files it has no network either, if the system allows that. It ends when its server ends.
"""

import ctypes
import logging
import os
import queue
import resource
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from deniable.app.server.children.messages import PipeBroken, receive, send

_NEW_USERS, _NEW_NETWORK = 0x10000000, 0x40000000  # of Linux's unshare
_TRIES = 3  # of a rehearsal; the fastest depends least on what else the machine does
_HEADROOM = 4 << 30  # of addresses, beyond the engine's own memory: libraries, threads, results


class _LastMessage(logging.Handler):
    """Keeps what the engine logged last, for the owner's log. It holds no value of a row."""

    text = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.text = record.getMessage()


def main() -> None:
    """Serves requests from standard input until it is closed."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):  # whatever a library prints goes nowhere
        os.dup2(nothing, handle)
    first, _ = receive(requests)
    _limit(first)
    waiting: queue.Queue[dict[str, Any]] = queue.Queue()
    threading.Thread(target=_read_requests, args=(requests, waiting), daemon=True).start()
    _serve(first, waiting, answers)


def _read_requests(handle: int, waiting: "queue.Queue[dict[str, Any]]") -> None:
    """Takes requests; ends the process at once when the server is gone, even in a statement,
    and when a request does not fit into the memory: nobody would read the next one."""
    try:
        while True:
            waiting.put(receive(handle)[0])
    finally:
        os._exit(0)


def _serve(first: dict[str, Any], waiting: "queue.Queue[dict[str, Any]]", answers: int) -> None:
    from deniable.engines.opening import open_engine
    from deniable.engines.rehearsal import open_rehearsal
    from deniable.errors import DeniableError
    from deniable.policy.written_policy import read_policy

    last = _LastMessage()
    logging.getLogger("deniable.engine").addHandler(last)
    try:
        policy = read_policy(first["policy"], sources=first["sources"])
        made_up = first["sources"] is None
        engine: Any = open_rehearsal(policy) if made_up else open_engine(policy)
    except DeniableError as problem:
        send(answers, {"refused": str(problem)})
        return
    schemas = {name: engine.schema(name) for name in policy.tables}
    load_answering()
    send(
        answers,
        {"name": engine.name, "runs_plan_text": engine.runs_plan_text, "schemas": schemas},
    )
    while True:
        reply, body = _answer(engine, waiting.get(), last)
        _forget_stored(engine)
        send(answers, reply, body)


def _forget_stored(engine: Any) -> None:
    """Drops the rows that a plan has stored: no request finds anything of another one."""
    forget = getattr(engine, "forget_stored", None)
    if forget is not None:
        forget()


def load_answering() -> None:
    """Loads what a statement needs, before there is one: its slot has no time for that.

    Arrow would look for pandas at its first list.
    """
    import numpy.ma  # noqa: F401  (DuckDB does it at its first result)

    from deniable.app.cli.quick_start import keep_pandas_out_of_arrow
    from deniable.app.server.children import integer_tables, written_plans  # noqa: F401
    from deniable.query.plan import canonical  # noqa: F401

    keep_pandas_out_of_arrow()


def _answer(
    engine: Any, request: dict[str, Any], last: _LastMessage
) -> tuple[dict[str, Any], bytes]:
    from deniable.app.server.children.integer_tables import write_groups
    from deniable.app.server.children.written_plans import (
        read_statements,
        write_statements,
    )
    from deniable.engines.handover.written_plan import WrittenPlan
    from deniable.errors import EngineFailed, Unsupported
    from deniable.query.plan import canonical

    plan = canonical.from_json(request["plan"])
    if request["act"] == "prepare":
        try:
            return {"statements": write_statements(engine.prepare(plan).statements)}, b""
        except Unsupported as problem:
            return {"unsupported": str(problem)}, b""
    if request["act"] == "rehearse":
        return {"seconds": _time(engine, plan)}, b""
    written = WrittenPlan(plan, read_statements(request["statements"]))
    try:
        tables, body = engine.run(written).reveal_to(write_groups)
    except EngineFailed as failure:
        return {"failed": failure.reference, "log": last.text}, b""
    except Exception as problem:
        return {"failed": "", "log": f"{type(problem).__name__} in a child"}, b""
    return {"tables": tables}, body


def _time(engine: Any, plan: Any) -> float:
    """How long a plan takes at least; 0 if it cannot be run."""
    from deniable.errors import DeniableError

    try:
        written, times = engine.prepare(plan), []
        for _ in range(_TRIES):
            begun = time.perf_counter()
            engine.run(written)
            times.append(time.perf_counter() - begun)
    except DeniableError:
        return 0.0
    return min(times)


def _limit(first: dict[str, Any]) -> None:
    """No core files, a limit of memory, and no network unless a source needs it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most = 2 * (first.get("memory") or 0) or _memory_of_machine()
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (most + _HEADROOM,) * 2)
    if first.get("offline") and sys.platform == "linux":
        library = ctypes.CDLL(None, use_errno=True)
        if library.unshare(_NEW_NETWORK) != 0:
            library.unshare(_NEW_USERS | _NEW_NETWORK)


def _memory_of_machine() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


if __name__ == "__main__":
    with suppress(PipeBroken, KeyboardInterrupt):
        main()
