"""A session whose engine runs in children, and whose answers wait for their slots."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Unpack

from deniable.app.server.children.pooled_engine import PooledEngine
from deniable.app.server.questions import slots
from deniable.app.server.questions.slots import Timetable, in_monotonic_time
from deniable.engines.handover.written_plan import WrittenPlan
from deniable.errors import EngineFailed, ServerUnavailable
from deniable.query.language.question import Question
from deniable.query.plan.plan import Plan
from deniable.release.answer.answer_table import Answer
from deniable.release.public_session import Session
from deniable.release.session.ask_options import AskOptions
from deniable.release.session.engine_run import KeptCounts, run
from deniable.release.session.runs import RecalledRun, Run


class ServedSession(Session):
    """One question of one person. The engine may work until its slot ends; then all is told."""

    _timetable: Timetable
    _question_id: str | None = None
    _planned: dict[tuple[str, str], Plan]  # of this request
    record: str | None = None  # of the last run
    repeated = False  # whether its answers were kept

    def plan(self, question: str | Question, **options: Unpack[AskOptions]) -> Plan:
        """The plan for a question. A request makes each of its plans once: what is explained
        or asked is the plan that was checked."""
        if not isinstance(question, str) or self.rows.part:
            return super().plan(question, **options)
        key = question, repr(sorted(options.items()))
        if key not in self._planned:
            self._planned[key] = super().plan(question, **options)
        return self._planned[key]

    @contextmanager
    def run_like(
        self,
        plans: Sequence[Plan],
        *,
        fresh: bool = False,
        question_id: str | None = None,
        purpose: Mapping[str, Any] | None = None,
    ) -> Iterator[Run | RecalledRun]:
        """A run under this question's id, whose answers are handed over together."""
        own = question_id or self._question_id
        with super().run_like(plans, fresh=fresh, question_id=own) as steps:
            yield steps
        self.record, self.repeated = steps.record, isinstance(steps, RecalledRun)

    def _run(
        self, written: WrittenPlan, kept: KeptCounts | None = None
    ) -> Answer | BaseException:
        """The answer or the failure. A step of several is told at the end of its slot; a single
        question is certified first, and settled then."""
        table, engine = self._timetable, self._engine
        table.begin_step()
        deadline = in_monotonic_time(table.work_ends)
        timed: Any = engine.until(deadline) if isinstance(engine, PooledEngine) else engine
        outcome = run(timed, written, self._log, kept, noise_first=True)
        if not table.padded:
            return outcome
        if slots.now() > table.ends or getattr(timed, "overran", False):
            table.late = True
            if not isinstance(outcome, BaseException):
                outcome = EngineFailed(secrets.token_hex(4))
        late = self._wait_for_slot() if kept is not None else None
        return outcome if late is None or isinstance(outcome, BaseException) else late

    def _wait_for_slot(self) -> EngineFailed | None:
        """Returns at the slot's end. An answer that was signed after it is a failure, and
        counted: its moment would tell when the engine was ready. So is one for somebody who
        was late too often while it waited."""
        table = self._timetable
        if not table.padded:
            return None
        table.late = table.late or slots.now() > table.ends
        slots.wait_until(table.work_ends)  # what ended before this slot began is known by then
        counted = allowed = False  # also if the server's own database cannot say
        with suppress(ServerUnavailable):
            allowed = not table.is_locked()
        slots.wait_until(table.ends)
        with suppress(ServerUnavailable):
            table.count_once()
            counted = True
        in_time = not table.late and allowed and counted
        return None if in_time else EngineFailed(secrets.token_hex(4))


def for_question(
    session: ServedSession,
    analyst: str,
    timetable: Timetable,
    question_id: str | None = None,
) -> ServedSession:
    """A session for one question of one person. Of a session of that person it takes over the
    plans, and what the kernel found about them."""
    own = object.__new__(ServedSession)
    own.__dict__ |= session.__dict__
    known = session.__dict__.get("_planned")
    if known is None:
        own._records = replace(session._records, analyst=analyst)
    own._timetable, own._question_id = timetable, question_id
    own._planned = {} if known is None else known
    return own
