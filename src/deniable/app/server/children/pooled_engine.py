"""An engine whose statements run in a pool of warm children.

To a session it is an engine like any other. The server never opens a source itself. A child
that failed, or was late, is killed and replaced; another request never sees it.
"""

import logging
import queue
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from deniable.app.server.children.child_process import ChildProcess, ChildSources
from deniable.app.server.children.integer_tables import read_groups
from deniable.app.server.children.messages import PipeBroken, PipeTimeout
from deniable.app.server.children.written_plans import read_statements, write_statements
from deniable.engines.handover.exact_groups import ExactGroups
from deniable.engines.handover.withheld import Withheld
from deniable.engines.handover.written_plan import WrittenPlan
from deniable.errors import DeniableError, EngineFailed, ServerUnavailable, Unsupported
from deniable.policy import Policy
from deniable.query.plan import canonical
from deniable.query.plan.plan import Plan

log = logging.getLogger("deniable.engine")
_PREPARE_SECONDS = 60.0


class PooledEngine:
    """Children over the sources of one policy: as many statements at once as there are."""

    def __init__(self, policy: Policy, *, children: int, made_up: bool = False) -> None:
        self._sources = ChildSources.made_up(policy) if made_up else ChildSources.of(policy)
        self._idle: queue.LifoQueue[ChildProcess] = queue.LifoQueue()
        self._all: set[ChildProcess] = set()
        self._lock = threading.Lock()
        self._closed = False
        first = ChildProcess(self._sources)
        self.name, self.runs_plan_text = first.engine_name, first.runs_plan_text
        self._schemas = first.schemas
        self._add(first)
        # One more than asked for, so that writing a text never waits for a statement.
        for _ in range(children):
            threading.Thread(target=self._start, daemon=True).start()

    def schema(self, table: str) -> Mapping[str, str]:
        """The table's columns and their types, which are public."""
        return self._schemas[table]

    def prepare(self, plan: Plan) -> WrittenPlan:
        """The plan's final text, written by a child; Unsupported if it cannot run it."""
        request = {"act": "prepare", "plan": canonical.to_json(plan)}
        try:
            reply, _ = self._ask(request, _PREPARE_SECONDS, _PREPARE_SECONDS)
        except (PipeBroken, PipeTimeout, queue.Empty):
            raise ServerUnavailable(
                "The engine cannot be asked now. Nothing was spent. Try again later."
            ) from None
        if "unsupported" in reply:
            raise Unsupported(reply["unsupported"])
        return WrittenPlan(plan, read_statements(reply["statements"]))

    def run(self, written: WrittenPlan, /) -> Withheld[ExactGroups]:
        """Runs a plan without a deadline."""
        return self.until(None).run(written)

    def until(self, deadline: float | None) -> "TimedEngine":
        """This engine, until a moment of `time.monotonic`: then the child is killed."""
        return TimedEngine(self, deadline)

    @property
    def process_ids(self) -> list[int]:
        """The numbers of the children's processes."""
        with self._lock:
            return [child.id for child in self._all]

    def close(self) -> None:
        """Ends all children."""
        with self._lock:
            self._closed, children = True, list(self._all)
            self._all = set()
        for child in children:
            child.end()

    def _ask(
        self, request: dict[str, Any], wait: float | None, work: float | None = None
    ) -> tuple[dict[str, Any], bytearray]:
        """The answer of a child. It may take `wait` seconds until one is free, and `work` from
        then on; without `work`, `wait` is for both."""
        begun = time.monotonic()
        child = self._idle.get(timeout=wait)
        start, left = (begun, wait) if work is None else (time.monotonic(), work)
        try:
            answer = child.ask(request, None if left is None else start + left)
        except BaseException:
            self._replace(child)
            raise
        if "failed" in answer[0]:
            self._replace(child)
        else:
            self._idle.put(child)
        return answer

    def _replace(self, child: ChildProcess) -> None:
        with self._lock:
            self._all.discard(child)
        child.end()
        threading.Thread(target=self._start, daemon=True).start()

    def _start(self) -> None:
        """Adds a child; tries again while the sources cannot be opened."""
        while not self._closed:
            try:
                self._add(ChildProcess(self._sources))
                return
            except (DeniableError, OSError) as problem:
                if self._closed:  # its sources may be gone with what closed it
                    return
                log.error("a child for the engine did not start: %s", type(problem).__name__)
                time.sleep(1.0)

    def _add(self, child: ChildProcess) -> None:
        with self._lock:
            if not self._closed:
                self._all.add(child)
                self._idle.put(child)
                return
        child.end()


@dataclass(slots=True)
class TimedEngine:
    """A pool of children, until a deadline. `overran` says whether it has passed."""

    pool: PooledEngine
    deadline: float | None
    overran: bool = False

    @property
    def name(self) -> str:
        """The engine's name."""
        return self.pool.name

    @property
    def _left(self) -> float | None:
        """The seconds until the deadline."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def schema(self, table: str) -> Mapping[str, str]:
        """The table's columns and their types."""
        return self.pool.schema(table)

    def prepare(self, plan: Plan) -> WrittenPlan:
        """The plan's final text."""
        return self.pool.prepare(plan)

    def run(self, written: WrittenPlan, /) -> Withheld[ExactGroups]:
        """Runs a plan in a child; every failure is one error, with a reference."""
        request = {
            "act": "run",
            "plan": canonical.to_json(written.plan),
            "statements": write_statements(written.statements),
        }
        try:
            reply, body = self.pool._ask(request, self._left)
            if "failed" not in reply:
                return Withheld(read_groups(reply["tables"], body))
            why = reply.get("log", "")
        except (PipeTimeout, queue.Empty):
            self.overran, why = True, "killed at the end of its slot"
        except (PipeBroken, KeyError, TypeError, ValueError, pa.ArrowException) as problem:
            why = f"{type(problem).__name__} while asking a child"
        reference = secrets.token_hex(4)
        log.error("reference %s: %s", reference, why)
        raise EngineFailed(reference)

    def close(self) -> None:
        """Leaves the children as they are."""
        return
