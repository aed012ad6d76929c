"""From a request to its one outcome: admitted, reserved, run, settled, handed over.

Everything that can be refused is refused before the charge, by public facts. The work goes on
in a thread of its own, whether or not the asker stays. What is handed over is the settled
record, at the end of the slot. If this process dies, anyone who asks for the job next gets the
outcome from the ledger, under the same question id: it never has a second one.
"""

import asyncio
import json
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool

from deniable.app.server.accounts.identity import Person
from deniable.app.server.children.turns import Found, Given, Turns
from deniable.app.server.problem_details import DatabaseError, as_ours
from deniable.app.server.questions import slots
from deniable.app.server.questions.question_queue import (
    NOBODY,
    AskedJob,
    Job,
    QuestionQueue,
)
from deniable.app.server.questions.question_requests import (
    AskedQuestions,
    question_hash,
    read_request,
)
from deniable.app.server.questions.served_policy import ServedPolicy
from deniable.app.server.questions.served_session import ServedSession, for_question
from deniable.app.server.questions.slots import Timetable
from deniable.errors import (
    AccessDenied,
    DeniableError,
    EngineFailed,
    LedgerUnavailable,
    QuestionPending,
    ServerUnavailable,
)
from deniable.ledger.questions import AskedQuestion
from deniable.query.plan.plan import Plan
from deniable.release.public_session import Session

log = logging.getLogger("deniable.server")
_GRACE = 10.0  # seconds after a slot, to sign, settle and write the outcome
MOST_PLANNED = 16  # requests of one person that wait for being planned
_LONG_REQUEST = 4096  # bytes; what takes much longer to plan than most questions
# No outcomes of a question: it is asked again.
_PASSING = LedgerUnavailable, ServerUnavailable, QuestionPending
NOT_RUN = "abandoned"  # the reference of a list of questions whose worker died


@dataclass(slots=True)
class _Work:
    """A job in progress: who waits for its reservation, and what refused it before that."""

    job: Job
    timetable: Timetable
    session: ServedSession  # of the person, which may know the plans
    again: bool = False  # whether somebody was told its id before, so that it must be found
    refusal: DeniableError | None = None


class Admission:
    """Takes the questions of all people about all policies of a server."""

    def __init__(self, queue: QuestionQueue) -> None:
        self.queue = queue
        self.turns, self.rehearsals = Turns(MOST_PLANNED), Turns(MOST_PLANNED)
        self.trials = Turns(MOST_PLANNED)  # of questions about made-up rows
        self._working: dict[str, _Work] = {}
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)

    async def plan(
        self,
        person: Person,
        body: bytes,
        act: Callable[Given, Found],
        *arguments: Given.args,
        **how: Given.kwargs,
    ) -> Found:
        """Plans a request in a turn, because that keeps a processor busy and is free."""
        async with self.turns.of(person.name, long=len(body) > _LONG_REQUEST):
            return await self.turns.work(act, *arguments, **how)

    async def admit(self, served: ServedPolicy, person: Person, body: bytes) -> Job:
        """The job of a request: a new one, or the one that its id has. When this returns, the
        question is reserved, or waits for the same question, or has an outcome."""
        request = await self.plan(person, body, read_request, body)
        session = served.session_for(person.name)
        plans = await self.plan(person, body, check_request, served, person, request, session)
        if not await run_in_threadpool(served.has_slots, plans):
            await self.rehearsals.run(person.name, served.slot_lengths, plans)
        work = await run_in_threadpool(self._take, served, person, session, request, plans)
        if isinstance(work, Job):
            return work
        # Until it is reserved, or refused, or answered from the ledger.
        await asyncio.shield(asyncio.wrap_future(work.timetable.reserved))
        if work.refusal is not None:
            raise work.refusal
        job = work.job
        stored_job = await run_in_threadpool(self.queue.find, job.policy, job.id, job.person)
        return stored_job or job

    def _take(
        self,
        served: ServedPolicy,
        person: Person,
        session: ServedSession,
        request: AskedQuestions,
        plans: tuple[Plan, ...],
    ) -> Job | _Work:
        """A new job in progress, unless it waits for another one or its id has one."""
        job, is_new = self.queue.take(
            AskedJob(
                policy=served.name,
                person=person.name,
                question_id=_check_id(request.question_id),
                request=request.told,
                plan=question_hash(session, plans),
                lengths=served.slot_lengths(plans),
                padded=served.padded,
                joins=not request.fresh,
            )
        )
        if not is_new:
            return self.recover(served, job, request)
        work = self._start(served, job, request, plans, session)
        return job if job.joined else work

    def recover(self, served: ServedPolicy, job: Job, request: AskedQuestions | None) -> Job:
        """A job that has an outcome, or is being worked on. If its worker died, it is asked
        for again under its id: the ledger has one reservation and one outcome for it."""
        if job.outcome is not None or not self._is_lost(served, job):
            return job
        read = request or _request_of(job)
        if read.kind == "questions":  # the ledger knows no id for a list: it is not run again
            self.queue.finish(job, _failed(EngineFailed(NOT_RUN)), engine_ran=True)
            return self.queue.find(job.policy, job.id, job.person) or job
        if not self.queue.adopt(job):
            return job
        log.error("job %s lost its worker and is asked for again", job.id)
        plans = read.plans(read.about(served.session_for(job.person)))
        self._start(served, job, read, plans, again=True)
        return job

    def drain(self, seconds: float = 60.0) -> None:
        """Waits for the questions that this process is answering, so that none is lost."""
        until = time.monotonic() + seconds
        with self._idle:
            while self._working and (left := until - time.monotonic()) > 0:
                self._idle.wait(left)

    def _is_lost(self, served: ServedPolicy, job: Job) -> bool:
        """Whether nobody is at work on a job: its process is gone, or it is long overdue."""
        if slots.now() < job.ready:
            return False
        if job.worker != os.getpid():
            limit = 0.0 if served.padded else served.time_limit
            return not _is_running(job.worker) or slots.now() > job.ready + limit + _GRACE
        with self._lock:
            if job.id in self._working:
                return False
        again = self.queue.find(job.policy, job.id, job.person)  # it may have just ended
        return again is not None and again.outcome is None

    def _start(
        self,
        served: ServedPolicy,
        job: Job,
        request: AskedQuestions,
        plans: tuple[Plan, ...],
        session: ServedSession | None = None,
        *,
        again: bool = False,
    ) -> _Work:
        # Who waits for an equal question runs it only if that one was abandoned.
        start = slots.now() if again else job.ready if job.joined else job.start
        timetable = Timetable(
            start,
            served.slot_lengths(plans),
            padded=served.padded,
            count_late=partial(self.queue.count_overrun, job.person),
            is_locked=partial(self.queue.is_locked, job.person),
        )
        work = _Work(job, timetable, session or served.session_for(job.person), again)
        with self._lock:
            if job.id in self._working:
                return self._working[job.id]
            self._working[job.id] = work
        name = f"question {job.id[:8]}"
        threading.Thread(
            target=self._work, args=(work, request), name=name, daemon=True
        ).start()
        return work

    def _work(self, work: _Work, request: AskedQuestions) -> None:
        job = work.job
        try:
            outcome = self._find_outcome(work, request)
            if outcome is None:
                self.queue.withdraw(job)
                return
            ran = work.timetable.reserved.done() or job.joined
            self.queue.finish(job, outcome, engine_ran=ran)
        except _PASSING as problem:
            log.error("job %s: %s, asked for again", job.id, type(problem).__name__)
            self.queue.give_up(job)
        except Exception as problem:
            log.error("job %s: %s after its outcome", job.id, type(problem).__name__)
        finally:
            with self._idle:
                self._working.pop(job.id, None)
                self._idle.notify_all()
            work.timetable.announce()

    def _find_outcome(self, work: _Work, request: AskedQuestions) -> dict[str, Any] | None:
        """What is handed over; None for a refusal before anything was spent."""
        job, timetable = work.job, work.timetable
        session = for_question(work.session, job.person, timetable, job.question_id)
        if job.joined:
            slots.wait_until(job.ready)  # a slot may last longer than the ledger's patience
        try:
            return request.answer(request.about(session), job.question_id)
        except EngineFailed as failure:
            return _failed(failure)
        except (DeniableError, DatabaseError) as error:
            problem = as_ours(error)
            away, listed = isinstance(problem, LedgerUnavailable), request.kind == "questions"
            began = timetable.reserved.done() or job.joined or work.again
            if isinstance(problem, _PASSING) and began and not listed:
                raise problem from None  # the ledger has its outcome, or gets it later
            # A list has no id in the ledger: if its charge may have been written, it ends here.
            if began or (away and listed):
                kind = type(problem).__name__
                return {"kind": "refused", "error": kind, "message": str(problem)}
            work.refusal = problem
            return None
        except Exception as problem:
            reference = secrets.token_hex(4)
            log.error("failure %s: %s in a question", reference, type(problem).__name__)
            return _failed(EngineFailed(reference))


def check_request(
    served: ServedPolicy,
    person: Person,
    request: AskedQuestions,
    session: ServedSession | None = None,
) -> tuple[Plan, ...]:
    """The plans of a request that this person may ask. Refuses others; spends nothing. They are
    made by a session of this person, which knows them then."""
    own: Session = session or served.session_for(person.name)
    if person.tables is None:
        about = request.about(own)
        plans = request.plans(about)
    else:  # a refusal names no table or column that is not theirs
        allowed = served.session_for(person.name)
        allowed.policy = served.policy_for(person)
        request.plans(request.about(allowed))
        try:
            about = request.about(own)
            plans = request.plans(about)
        except DeniableError:  # among all tables it is not clear which one is meant
            raise AccessDenied(
                "Your token opens some tables of this policy only. Name the table that you ask "
                "about. Nothing was spent."
            ) from None
    request.check_expected(plans)
    for plan in plans:
        if not person.may_read(served.name, (*plan.tables, *plan.public)):
            raise AccessDenied(
                "Your token does not open a table of this question. Nothing was spent."
            )
        about.check(plan)
    return plans


def tables_of(served: ServedPolicy, job: Job) -> list[str]:
    """The tables that a question is about."""
    request = _request_of(job)
    plans = request.plans(request.about(served.session_for(job.person)))
    return [name for plan in plans for name in (*plan.tables, *plan.public)]


def _is_running(process: int) -> bool:
    if process == NOBODY:
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _check_id(question_id: str | None) -> str:
    """The id of a question, or a new one."""
    if question_id is None:
        return secrets.token_hex(16)
    return AskedQuestion("", "", None, question_id=question_id).question_id or ""


def _request_of(job: Job) -> AskedQuestions:
    return read_request(json.dumps(job.request).encode())


def _failed(failure: EngineFailed) -> dict[str, Any]:
    return {"kind": "failed", "reference": failure.reference}
