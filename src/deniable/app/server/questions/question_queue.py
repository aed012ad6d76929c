"""The queue: which questions are being answered, in which place, and until when.

All workers share it, in the server's own database. A question takes one of a fixed number of
places from the start of its slot to its end, however soon its engine is ready. So who waits,
who is refused, and for how long, follows from plans and moments of asking, and from no row.
"""

import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deniable.app.server.accounts.server_database import ServerDatabase
from deniable.app.server.questions import slots
from deniable.errors import AccessDenied, InvalidParameter, TooManyQuestions

if TYPE_CHECKING:
    import sqlite3

MOST_OVERRUNS = 3
NOBODY = 0  # in place of the process that answers a job
_TABLES = (
    "CREATE TABLE IF NOT EXISTS jobs (id TEXT PRIMARY KEY, policy TEXT NOT NULL,"
    " person TEXT NOT NULL, question_id TEXT NOT NULL, request TEXT NOT NULL,"
    " plan TEXT NOT NULL, place INTEGER, start REAL NOT NULL, ready REAL NOT NULL,"
    " until REAL NOT NULL, worker INTEGER NOT NULL, outcome TEXT,"
    " UNIQUE (policy, person, question_id)) STRICT",
    "CREATE INDEX IF NOT EXISTS jobs_until ON jobs (until)",
    "CREATE INDEX IF NOT EXISTS jobs_plan ON jobs (policy, plan)",
    "CREATE TABLE IF NOT EXISTS overruns (person TEXT PRIMARY KEY, times INTEGER NOT NULL)"
    " STRICT",
)
_COLUMNS = (
    "id, policy, person, question_id, request, plan, start, ready, worker, place IS NULL,"
    " outcome"
)


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """How many questions are answered at once, and how many may wait."""

    places: int = 2  # engines that work at the same time
    of_one: int = 8  # questions of one person, waiting or being answered
    in_all: int = 32


@dataclass(frozen=True, slots=True)
class Job:
    """One question of one person, and its outcome if it has one."""

    id: str
    policy: str
    person: str
    question_id: str
    request: dict[str, Any]
    plan: str  # the hash by which an equal question is found
    start: float  # of its slot, in seconds since 1970
    ready: float  # when its outcome is handed over, not before
    worker: int  # the process that answers it
    joined: bool = False  # whether it waits for an equal question that is being answered
    outcome: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class AskedJob:
    """A question that wants a place."""

    policy: str
    person: str
    question_id: str
    request: dict[str, Any]
    plan: str
    lengths: Sequence[float]  # of its slots
    padded: bool
    joins: bool  # whether it may wait for an equal question that is being answered


class QuestionQueue:
    """The questions of all workers of a server."""

    def __init__(
        self,
        database: ServerDatabase,
        limits: QueueLimits | None = None,
    ) -> None:
        self.database = database
        self.limits = limits or QueueLimits()
        database.create(*_TABLES)

    def take(self, question: AskedJob) -> tuple[Job, bool]:
        """The job of a question, and whether it is new. A question id has one job only."""
        with self.database.writing() as connection:
            known = _find(
                connection,
                "policy = ? AND person = ? AND question_id = ?",
                (question.policy, question.person, question.question_id),
            )
            if known is not None:
                return _check_same(known, question), False
            self._check_lock(connection, question.person)
            now = slots.now()
            place, start, ready = self._find_slot(connection, question, now)
            until = ready if question.padded else start + sum(question.lengths)
            job = Job(
                secrets.token_hex(16),
                question.policy,
                question.person,
                question.question_id,
                question.request,
                question.plan,
                start,
                ready if question.padded else start,
                os.getpid(),
                place is None,
            )
            connection.execute(
                "INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
                (
                    *(job.id, job.policy, job.person, job.question_id),
                    *(
                        json.dumps(job.request),
                        job.plan,
                        place,
                        start,
                        job.ready,
                        until,
                        job.worker,
                    ),
                ),
            )
        return job, True

    def _find_slot(
        self, connection: "sqlite3.Connection", question: AskedJob, now: float
    ) -> tuple[int | None, float, float]:
        """The place (none for who joins an equal question), and when the slot begins and ends.

        TooManyQuestions if the person, or everybody together, has too many."""
        rows = connection.execute(
            "SELECT person, place, until, plan, policy, ready FROM jobs WHERE until > ?", (now,)
        ).fetchall()
        own = sum(person == question.person for person, *_ in rows)
        if own >= self.limits.of_one or len(rows) >= self.limits.in_all:
            who = "You have" if own >= self.limits.of_one else "The server has"
            raise TooManyQuestions(
                f"{who} as many questions in the queue as are allowed. Nothing was spent. Ask "
                "again when one of them has been answered."
            )
        same = [
            ready
            for _, place, _, plan, policy, ready in rows
            if (policy, plan) == (question.policy, question.plan) and place is not None
        ]
        if question.joins and question.padded and same:
            return None, now, max(same)
        free = dict.fromkeys(range(self.limits.places), now)
        for _, place, until, *_ in rows:
            if place in free:
                free[place] = max(free[place], until)
        place = min(free, key=lambda number: (free[number], number))
        start = free[place] if question.padded else now
        return place, start, start + sum(question.lengths)

    def count(self) -> dict[str, int]:
        """How many questions were taken, and are in the queue: public facts, because a place is
        held until its slot ends."""
        with self.database.reading() as connection:
            (total,) = connection.execute("SELECT count(*) FROM jobs").fetchone()
            (queued,) = connection.execute(
                "SELECT count(*) FROM jobs WHERE until > ?", (slots.now(),)
            ).fetchone()
        return {"questions_taken_total": total, "questions_in_queue": queued}

    def find(self, policy: str, job_id: str, person: str | None) -> Job | None:
        """A job of this person, or of anybody if `person` is None; None for an unknown one."""
        with self.database.reading() as connection:
            job = _find(connection, "id = ? AND policy = ?", (job_id, policy))
        return job if job is None or person in (None, job.person) else None

    def listed(self, policy: str, person: str | None, most: int, *, skip: int = 0) -> list[Job]:
        """The last jobs of a person, or of anybody, after the newest `skip`; last one first."""
        with self.database.reading() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM jobs WHERE policy = ? AND (? IS NULL OR person = ?)"
                " ORDER BY start DESC, id LIMIT ? OFFSET ?",
                (policy, person, person, most, skip),
            ).fetchall()
        return [_read_job(row) for row in rows]

    def finish(self, job: Job, outcome: dict[str, Any], *, engine_ran: bool) -> None:
        """Records the one outcome of a job. A place is free when its slot has ended; at once,
        if no engine was started for it."""
        now = slots.now()
        with self.database.writing() as connection:
            connection.execute(
                "UPDATE jobs SET outcome = ? WHERE id = ? AND outcome IS NULL",
                (json.dumps(outcome), job.id),
            )
            if not engine_ran:
                connection.execute(
                    "UPDATE jobs SET until = min(until, ?), ready = min(ready, ?), place = NULL"
                    " WHERE id = ?",
                    (now, now, job.id),
                )
            elif job.ready <= job.start:  # without padding
                connection.execute(
                    "UPDATE jobs SET until = min(until, ?) WHERE id = ?", (now, job.id)
                )

    def adopt(self, job: Job) -> bool:
        """Makes this process the one that answers a job; False if another was faster."""
        with self.database.writing() as connection:
            cursor = connection.execute(
                "UPDATE jobs SET worker = ? WHERE id = ? AND worker = ? AND outcome IS NULL",
                (os.getpid(), job.id, job.worker),
            )
            return cursor.rowcount > 0

    def give_up(self, job: Job) -> None:
        """Leaves a job to the worker that is asked for it next."""
        with self.database.writing() as connection:
            connection.execute(
                "UPDATE jobs SET worker = ? WHERE id = ? AND worker = ?",
                (NOBODY, job.id, os.getpid()),
            )

    def withdraw(self, job: Job) -> None:
        """Forgets a job that was refused before anything was spent."""
        with self.database.writing() as connection:
            connection.execute("DELETE FROM jobs WHERE id = ? AND outcome IS NULL", (job.id,))

    def count_overrun(self, person: str) -> None:
        """Counts an engine that was killed at the end of its slot."""
        with self.database.writing() as connection:
            connection.execute(
                "INSERT INTO overruns VALUES (?, 1)"
                " ON CONFLICT (person) DO UPDATE SET times = times + 1",
                (person,),
            )

    def is_locked(self, person: str) -> bool:
        """Whether questions of a person were late too often. It holds for those that wait, too:
        each would tell one more thing."""
        with self.database.reading() as connection:
            return _is_locked(connection, person)

    def unlock(self, person: str) -> bool:
        """Forgets a person's overruns, when the owner has looked; False if there were none."""
        with self.database.writing() as connection:
            gone = connection.execute("DELETE FROM overruns WHERE person = ?", (person,))
            return gone.rowcount > 0

    def _check_lock(self, connection: "sqlite3.Connection", person: str) -> None:
        if _is_locked(connection, person):
            raise AccessDenied(
                f"{MOST_OVERRUNS} of your questions were not ready when their slots ended. "
                "The data owner has to look at this before you can ask more. Nothing was spent."
            )


def _is_locked(connection: "sqlite3.Connection", person: str) -> bool:
    row = connection.execute(
        "SELECT times FROM overruns WHERE person = ?", (person,)
    ).fetchone()
    return row is not None and row[0] >= MOST_OVERRUNS


def _find(
    connection: "sqlite3.Connection", where: str, values: tuple[object, ...]
) -> Job | None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM jobs WHERE {where}", values).fetchone()
    return None if row is None else _read_job(row)


def _read_job(row: tuple[Any, ...]) -> Job:
    (
        job,
        policy,
        person,
        question_id,
        request,
        plan,
        start,
        ready,
        worker,
        joined,
        outcome_text,
    ) = row
    return Job(
        *(job, policy, person, question_id, json.loads(request), plan, start, ready, worker),
        joined=bool(joined),
        outcome=None if outcome_text is None else json.loads(outcome_text),
    )


def _check_same(known: Job, question: AskedJob) -> Job:
    if known.request != question.request or known.plan != question.plan:
        raise InvalidParameter(
            f"The question id {question.question_id!r} was used for another question, or for "
            "another version of the data. An id belongs to one question. Nothing was spent. "
            "Ask under another id."
        )
    return known
