"""The routes of questions: tables, explain, releases, budget and the ledger.

Every route asks first who it is. A policy or a release that is not there for a person does not
exist for that person: the answer is the same. Nothing that is answered tells how long an engine
worked, or how many rows it read.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from deniable.app.server.accounts.identity import Identities, Person
from deniable.app.server.children.turns import Found, Given, Turns
from deniable.app.server.problem_details import problem_of, show_problem
from deniable.app.server.questions import slots
from deniable.app.server.questions.admission import Admission, tables_of
from deniable.app.server.questions.answer_formats import FORMATS, write_form
from deniable.app.server.questions.public_facts import (
    describe_entries,
    describe_head,
    describe_tables,
    explain_request,
    read_budget_request,
)
from deniable.app.server.questions.question_queue import Job
from deniable.app.server.questions.question_requests import describe_remaining
from deniable.app.server.questions.served_policy import ServedPolicy
from deniable.errors import AccessDenied, EngineFailed

_WAITS = 25.0  # seconds that one request for an answer may wait
_LOOK = 0.02  # seconds between two looks for an outcome, after its slot
MOST_READ = 64  # long pages of one person that wait
READING_THREADS = 4  # that make long pages: more would only share a processor


@dataclass(frozen=True, slots=True)
class QuestionServer:
    """What the routes need: the policies, the people and the admission."""

    policies: Mapping[str, ServedPolicy]
    people: Identities
    admission: Admission
    reading: Turns = field(default_factory=lambda: Turns(MOST_READ, threads=READING_THREADS))

    async def read(
        self,
        request: Request,
        act: Callable[Given, Found],
        *arguments: Given.args,
        **how: Given.kwargs,
    ) -> Found:
        """Does what may take long for a long answer, or a long ledger: one thing of a person at
        a time, and few of all people. So pages leave threads to short requests, always."""
        person: Person | None = getattr(request.state, "person", None)
        asker = f"address {request.client and request.client.host}"
        return await self.reading.run(person.name if person else asker, act, *arguments, **how)


def question_router(server: QuestionServer) -> APIRouter:
    """The routes of all policies."""
    router, routes, here = APIRouter(), _QuestionRoutes(server), "/v1/{policy}"
    get_handlers: dict[str, Callable[..., Any]] = {
        f"{here}/tables": routes.show_tables,
        f"{here}/budget": routes.show_budget,
        f"{here}/ledger/head": routes.show_head,
        f"{here}/ledger/entries": routes.show_entries,
        f"{here}/releases/{{name}}": routes.show_release,
        f"{here}/releases/{{name}}/{{form}}": routes.show_release,
        "/problems/{name}": show_problem,
    }
    post_handlers: dict[str, Callable[..., Any]] = {
        f"{here}/explain": routes.explain,
        f"{here}/releases": routes.ask,
        f"{here}/budget": routes.ask_budget,
    }
    for path, show in get_handlers.items():
        router.add_api_route(path, show, methods=["GET"])
    for path, take in post_handlers.items():
        router.add_api_route(path, take, methods=["POST"])
    return router


class _QuestionRoutes:
    """What each route answers."""

    def __init__(self, server: QuestionServer) -> None:
        self._server = server

    def _enter(self, request: Request, policy: str) -> tuple[ServedPolicy, Person]:
        """About what somebody asks whom the gate let in, and who that is."""
        person: Person = request.state.person
        served = self._server.policies.get(policy)
        if served is None or not person.may_use(policy):
            raise HTTPException(404)
        return served, person

    def show_tables(self, request: Request, policy: str) -> Response:
        served, person = self._enter(request, policy)
        return JSONResponse(describe_tables(served, person))

    def show_budget(self, request: Request, policy: str) -> Response:
        served, person = self._enter(request, policy)
        session = served.session_for(person.name)
        return JSONResponse(describe_remaining(session.remaining))

    async def ask_budget(self, request: Request, policy: str) -> Response:
        """What is left for some tables, or for a part of one."""
        served, person = self._enter(request, policy)
        body = await request.body()

        def find() -> dict[str, Any]:
            scope = read_budget_request(body)
            if not person.may_read(policy, scope["tables"] or ()):
                raise AccessDenied("Your token does not open one of these tables.")
            ledger = served.session_for(person.name).ledger
            return describe_remaining(ledger.remaining_for(person.name, **scope))

        return JSONResponse(await run_in_threadpool(find))

    def show_head(self, request: Request, policy: str) -> Response:
        served, _ = self._enter(request, policy)
        return JSONResponse(describe_head(served.session.ledger))

    async def show_entries(self, request: Request, policy: str) -> Response:
        served, person = self._enter(request, policy)
        whose = None if request.state.reach == "any" else person.name

        def write() -> Response:
            return JSONResponse(describe_entries(served, person, whose))

        return await self._server.read(request, write)

    async def explain(self, request: Request, policy: str) -> Response:
        served, person = self._enter(request, policy)
        body = await request.body()

        plan = self._server.admission.plan
        return JSONResponse(await plan(person, body, explain_request, served, person, body))

    async def ask(self, request: Request, policy: str) -> Response:
        """Takes a question. The answer is there at the slot's end, under the id."""
        served, person = self._enter(request, policy)
        body = await request.body()
        job = await self._server.admission.admit(served, person, body)
        return _tell_waiting(job, policy)

    async def show_release(
        self, request: Request, policy: str, name: str, form: str = ""
    ) -> Response:
        """The answer in one of its forms; before its slot has ended, only that it comes."""
        served, person = self._enter(request, policy)
        job_id, _, ending = name.partition(".")
        format_name = form or ending or "json"
        if (form and ending) or format_name not in (*FORMATS, "record"):
            raise HTTPException(406)
        whose = None if request.state.reach == "any" else person.name
        job = await run_in_threadpool(self._find, policy, job_id, whose)
        if person.tables is not None and not person.may_read(
            policy, await self._server.admission.turns.run(person.name, tables_of, served, job)
        ):
            raise HTTPException(404)
        if slots.now() < job.ready:
            return _tell_waiting(job, policy)
        until = time.monotonic() + _WAITS
        while job.outcome is None:
            await run_in_threadpool(self._server.admission.recover, served, job, None)
            if time.monotonic() > until:
                return _tell_waiting(job, policy)
            await asyncio.sleep(_LOOK)
            job = await run_in_threadpool(self._find, policy, job_id, whose)
        return await self._server.read(request, _hand_over, job, format_name)

    def _find(self, policy: str, job_id: str, whose: str | None) -> Job:
        job = self._server.admission.queue.find(policy, job_id, whose)
        if job is None:
            raise HTTPException(404)
        return job


def _tell_waiting(job: Job, policy: str) -> Response:
    """The id of a question, and when its slot ends."""
    left = max(0.0, job.ready - slots.now())
    message = {"id": job.id, "question_id": job.question_id, "ready": job.ready, "wait": left}
    headers = {
        "Location": f"/v1/{policy}/releases/{job.id}",
        "Retry-After": str(int(left) + 1),
    }
    return JSONResponse(message, status_code=202, headers=headers)


def _hand_over(job: Job, format_name: str) -> Response:
    outcome = job.outcome or {}
    if outcome["kind"] == "failed":
        return problem_of(EngineFailed(outcome["reference"]))
    if outcome["kind"] == "refused":
        return _repeat_refusal(outcome)
    if format_name == "record":
        return JSONResponse(outcome)
    return Response(write_form(outcome, format_name), media_type=FORMATS[format_name][0])


def _repeat_refusal(outcome: Mapping[str, Any]) -> Response:
    from deniable import errors

    return problem_of(getattr(errors, outcome["error"])(outcome["message"]))
