"""Runs plans on made-up rows, in children that are killed when a plan takes too long.

A rehearsal decides how long a slot is, before anything is charged. Somebody may ask for a plan
that runs without end on any rows, so it may neither run in the server itself nor hold up the
plans of other people: who asks for times takes turns, one plan of a person at a time.
"""

import queue
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from deniable.app.server.children.messages import PipeBroken, PipeTimeout
from deniable.app.server.children.pooled_engine import PooledEngine, TimedEngine
from deniable.errors import EngineFailed, TooManyQuestions, Unsupported
from deniable.policy import Policy
from deniable.query.plan import canonical
from deniable.query.plan.plan import Plan

LONGEST_REHEARSAL = 10.0  # seconds, of all tries of one plan
_MOST_WAITING = 30.0  # seconds for a child that is free


class RehearsalChildren:
    """Children over made-up rows that fit a policy. They open no source."""

    def __init__(self, policy: Policy, *, longest: float = LONGEST_REHEARSAL) -> None:
        self._policy, self._longest = policy, longest
        self._pool: PooledEngine | None = None
        self._lock = threading.Lock()

    def seconds(self, plan: Plan) -> float:
        """How long a plan takes on made-up rows: the fastest of some tries. Refuses a plan that
        takes too long, or breaks its child."""
        request = {"act": "rehearse", "plan": canonical.to_json(plan)}
        try:
            reply, _ = self._open()._ask(request, _MOST_WAITING, self._longest)
        except queue.Empty:
            raise TooManyQuestions(
                "Other new questions are being tried on made-up rows. Nothing was spent. Try "
                "again later."
            ) from None
        except (PipeBroken, PipeTimeout):
            raise self._too_long("So no slot can be found for it. ") from None
        return float(reply["seconds"])

    @contextmanager
    def engine(self) -> Iterator[TimedEngine]:
        """An engine over the made-up rows, for as long as a plan may take. Its failures are
        told apart: there is no row that they could depend on."""
        timed = self._open().until(time.monotonic() + self._longest)
        try:
            yield timed
        except EngineFailed:
            if timed.overran:
                raise self._too_long("") from None
            raise

    def _too_long(self, so: str) -> Unsupported:
        return Unsupported(
            f"On made-up rows this question takes more than {self._longest:g} seconds, or more "
            f"memory than the policy allows. {so}Nothing was spent. Ask a simpler question."
        )

    def close(self) -> None:
        """Ends the children."""
        with self._lock:
            if self._pool is not None:
                self._pool.close()

    def _open(self) -> PooledEngine:
        """The children, which are started when the first plan comes."""
        with self._lock:
            if self._pool is None:
                self._pool = PooledEngine(self._policy, children=1, made_up=True)
            return self._pool
