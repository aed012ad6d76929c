"""Answers that the server keeps, as pages show them: what was asked, and its one outcome."""

import asyncio
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request

from deniable.app.server.accounts.identity import Person
from deniable.app.server.console.asked_form import CONFIDENCES
from deniable.app.server.console.console import Console
from deniable.app.server.questions import slots
from deniable.app.server.questions.answer_formats import last_receipt, read_release
from deniable.app.server.questions.question_queue import Job
from deniable.app.server.questions.served_policy import ServedPolicy
from deniable.app.web.console.console_templates import amount_text
from deniable.ledger.ledger import Remaining
from deniable.query.plan import canonical
from deniable.release.session.release import Release

_WAITS = 3.0  # seconds that a page may wait for an answer whose slot has ended
_LOOK = 0.02
WAITING, FAILED, REFUSED, ANSWERED = "waiting", "failed", "refused", "answered"
IN_PARTS = "answered in parts"  # SQL over several private answers: not shown on these pages
STATES = (WAITING, FAILED, REFUSED, ANSWERED, IN_PARTS)


@dataclass(frozen=True, slots=True)
class AskedAnswer:
    """A question of somebody, and its answer if its slot has ended and it has one."""

    job: Job
    state: str
    release: Release | None = None

    @property
    def sql(self) -> str:
        """What was asked; empty if it was not a single question in SQL."""
        return str(self.job.request.get("sql", ""))

    @property
    def name(self) -> str:
        """What it is about, in a line."""
        line = " ".join(self.sql.split()) or "several questions at once"
        return line if len(line) <= 120 else f"{line[:119]}…"

    @property
    def fits_form(self) -> bool:
        """Whether the Ask page can ask this again: its form has no other options."""
        request = self.job.request
        names = {name for name, value in request.items() if value not in (None, False, [])}
        sure = amount_text(request.get("confidence") or "0.95") in CONFIDENCES
        priced = names in (
            {"sql", by, *(names & {"confidence"})} for by in ("margin", "epsilon")
        )
        return sure and priced

    @property
    def day(self) -> str:
        """When it was asked: the start of its slot."""
        return time.strftime("%Y-%m-%d %H:%M", time.gmtime(self.job.start))

    @property
    def problem(self) -> str:
        """Why there is no answer."""
        outcome = self.job.outcome or {}
        if self.state == FAILED:
            return (
                f"The question failed (reference {outcome['reference']}). Its charge stays. "
                "The operator of the server finds the reason in its log. It is not told here, "
                "because it could depend on the data; often the server was too busy."
            )
        if self.state == IN_PARTS:
            return (
                "This is SQL over private answers. Read it in Python with dp.connect(...), "
                f"or at /v1/{self.job.policy}/releases/{self.job.id}.json."
            )
        return str(outcome.get("message", ""))


def read_kept(job: Job) -> AskedAnswer:
    """A job with its answer; without it before its slot has ended, whatever is stored."""
    if slots.now() < job.ready or job.outcome is None:
        return AskedAnswer(job, WAITING)
    kind = job.outcome["kind"]
    if kind in (FAILED, REFUSED):
        return AskedAnswer(job, kind)
    if kind == "outer":
        return AskedAnswer(job, IN_PARTS)
    answer, certificate = read_release(last_receipt(job.outcome))
    plan = canonical.from_json(dict(certificate.plan))
    nothing = Remaining(Fraction(0), Fraction(0))  # what is left now is another matter
    release = Release(
        plan,
        answer,
        nothing,
        certificate=certificate,
        repeated=bool(job.outcome.get("repeated", False)),
    )
    return AskedAnswer(job, ANSWERED, release)


def is_theirs(served: ServedPolicy, person: Person, answer: AskedAnswer) -> bool:
    """Whether all tables of an answer are there for a person. What has no answer to look at is
    there for its asker, and for those who may read every table."""
    if answer.release is None:
        return answer.job.person == person.name or person.tables is None
    plan = answer.release.plan
    return person.may_read(served.name, (*plan.tables, *plan.public))


async def find_answer(
    console: Console,
    request: Request,
    served: ServedPolicy,
    name: str,
    *,
    whose: str | None = None,
) -> AskedAnswer:
    """The answer under an id, if it is there for who asks; 404 otherwise.

    `whose`: only answers to this person. Without it the role says whose answers are there.
    """
    person: Person = request.state.person
    if whose is None and request.state.reach != "any":
        whose = person.name
    admission, until = console.server.admission, time.monotonic() + _WAITS
    while True:
        job = await run_in_threadpool(admission.queue.find, served.name, name, whose)
        if job is None:
            raise HTTPException(404)
        answer = await console.work(request, read_kept, job)
        if answer.state != WAITING or slots.now() < job.ready or time.monotonic() > until:
            break
        await run_in_threadpool(admission.recover, served, job, None)
        await asyncio.sleep(_LOOK)
    if not is_theirs(served, person, answer):
        raise HTTPException(404)
    return answer


def list_answers(
    console: Console, served: ServedPolicy, person: Person, *, everybody: bool, most: int = 100
) -> list[AskedAnswer]:
    """The last questions of a person, or of everybody: those that are there for who asks."""
    whose = None if everybody else person.name
    jobs = console.server.admission.queue.listed(served.name, whose, most)
    answers = [read_kept(job) for job in jobs]
    return [answer for answer in answers if is_theirs(served, person, answer)]


def form_fields(request: dict[str, Any]) -> dict[str, str]:
    """The fields of the Ask page's form for a request that was made before.

    >>> form_fields({"sql": "SELECT 1", "margin": "81/2"})
    {'sql': 'SELECT 1', 'by': 'margin', 'margin': '40.5', 'confidence': '0.95'}
    """
    by = "margin" if request.get("margin") is not None else "epsilon"
    fields = {"sql": str(request.get("sql", "")), "by": by}
    amounts = {by: request.get(by) or "", "confidence": request.get("confidence") or "0.95"}
    return fields | {name: amount and _typed(amount) for name, amount in amounts.items()}


def _typed(amount: object) -> str:
    """An amount as a person types it: a decimal if that is short, or a fraction."""
    text = amount_text(amount)
    return str(Fraction(str(amount))) if "e" in text else text
