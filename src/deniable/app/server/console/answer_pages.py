"""The page of an answer: its numbers, its certificate, its files, and free SQL over it."""

import math
from dataclasses import replace
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from deniable.app.server.console.console import Console, go_to
from deniable.app.server.console.console_forms import read_form
from deniable.app.server.console.kept_answers import (
    ANSWERED,
    WAITING,
    AskedAnswer,
    find_answer,
    read_kept,
)
from deniable.app.server.console.page_routes import PageRoute
from deniable.app.server.console.sampling_errors import PopulationTable, describe_population
from deniable.app.server.questions import slots
from deniable.app.server.questions.answer_formats import FORMATS, to_json
from deniable.app.web.console.answer_charts import draw_answers
from deniable.app.web.console.answer_notebook import write_notebook
from deniable.app.web.console.answer_tables import show_answer
from deniable.app.web.console.page_notes import notes_of
from deniable.errors import DeniableError
from deniable.release.answer.wide_margins import describe_margins
from deniable.release.asking.released_questions import ask_released
from deniable.release.certificate.label import make_label
from deniable.release.certificate.verification import verify
from deniable.release.session.release import Release

ANSWER = "/console/{policy}/releases/{name}"
DOWNLOADS = ("csv", "parquet", "json")


class AnswerPages:
    """What is shown and done with an answer."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def routes(self) -> list[PageRoute]:
        """The routes of these pages."""
        return [
            PageRoute("GET", ANSWER, self.show_answer),
            PageRoute("POST", ANSWER, self.ask_released),
            PageRoute("GET", f"{ANSWER}/notebook", self.show_notebook),
            PageRoute("POST", f"{ANSWER}/public", self.make_public),
            PageRoute("GET", "/public/{name}", self.show_public),
            PageRoute("GET", "/public/{name}/{form}", self.show_public_file),
        ]

    async def show_answer(self, request: Request, policy: str, name: str) -> Response:
        """The answer; before its slot has ended, only that it comes."""
        served, _ = self._console.enter(request, policy)
        answer = await find_answer(self._console, request, served, name)
        return await self._console.work(request, self._page, request, policy, answer)

    async def ask_released(self, request: Request, policy: str, name: str) -> Response:
        """SQL over the released rows. It spends nothing and reads no private row."""
        served, person = self._console.enter(request, policy)
        text = (await read_form(request)).get("over", "").replace("\r\n", "\n")
        answer = await find_answer(self._console, request, served, name)
        turns = self._console.server.admission.turns  # it keeps a processor busy
        return await turns.run(person.name, self._page, request, policy, answer, text)

    async def show_notebook(self, request: Request, policy: str, name: str) -> Response:
        """The answer as a notebook."""
        served, _ = self._console.enter(request, policy)
        answer = await find_answer(self._console, request, served, name)
        if answer.release is None:
            raise HTTPException(404)
        return await self._console.work(request, _notebook, answer)

    async def make_public(self, request: Request, policy: str, name: str) -> Response:
        """Opens or closes the link under which anybody sees an answer. Only an owner can."""
        served, _ = self._console.enter(request, policy)
        fields = await read_form(request)
        answer = await find_answer(self._console, request, served, name)
        if answer.state != ANSWERED:
            raise HTTPException(404)
        links = self._console.links
        act = links.open if fields.get("act") == "open" else links.close
        await run_in_threadpool(act, policy, name)
        return go_to(f"/console/{policy}/releases/{name}")

    async def show_public(self, request: Request, name: str) -> Response:
        """An answer that its owner made public, for anybody."""
        return await self._console.work(request, self._public, request, name)

    async def show_public_file(self, request: Request, name: str, form: str) -> Response:
        """A file of a public answer."""
        return await self._console.work(request, self._public_file, name, form)

    def _public(self, request: Request, name: str) -> Response:
        answer = self._find_public(name)
        values = _describe(answer, f"/public/{name}/")
        return self._console.show(
            request, "answer_public.html", title="A private answer", **values
        )

    def _public_file(self, name: str, form: str) -> Response:
        release = self._find_public(name).release
        if form not in DOWNLOADS or release is None or release.certificate is None:
            raise HTTPException(404)
        media_type, write = FORMATS[form]
        return Response(write(release.answer, release.certificate), media_type=media_type)

    def _find_public(self, link: str) -> AskedAnswer:
        location = self._console.links.find(link)
        job = location and self._console.server.admission.queue.find(*location, None)
        answer = read_kept(job) if job else None
        if answer is None or answer.release is None:
            raise HTTPException(404)
        return answer

    def _page(
        self, request: Request, policy: str, answer: AskedAnswer, over: str | None = None
    ) -> Response:
        if answer.release is None:
            page = self._console.show(
                request,
                "answer_none.html",
                title=_STATES[answer.state],
                policy=policy,
                kept=answer,
            )
            if answer.state == WAITING:
                left = max(1, math.ceil(answer.job.ready - slots.now()))
                page.headers["Refresh"] = str(left)
            return page
        return self._console.show(
            request,
            "answer.html",
            title="Answer",
            policy=policy,
            can_publish=request.state.person.role == "owner",
            link=self._console.links.of(policy, answer.job.id),
            **_describe(answer, f"/v1/{policy}/releases/{answer.job.id}."),
            population=self._population(policy, answer.release),
            **_over(answer.release, over),
        )

    def _population(self, policy: str, release: Release) -> PopulationTable:
        """What follows about the population, with the sample that the policy declares."""
        records = self._console.server.policies[policy].session._records
        return describe_population(replace(release, sample=records.sample_of(release.plan)))


_STATES = {
    "waiting": "The answer is on its way",
    "failed": "The question failed",
    "refused": "The question was refused",
}


def _describe(answer: AskedAnswer, files: str) -> dict[str, Any]:
    """What a page shows of an answer: all of it follows from what was released."""
    release = answer.release
    assert release is not None
    assert release.certificate is not None
    plan, certificate = release.plan, release.certificate
    document = to_json(release.answer, certificate)
    verified = verify(document, key=certificate.key)
    label = make_label(verified)
    return {
        "kept": answer,
        "files": files,
        "downloads": DOWNLOADS,
        "table": show_answer(plan, release.answer),
        "charts": draw_answers(plan, release.answer),
        "margins": describe_margins(plan),
        "notes": notes_of(plan),
        "warnings": release.warnings,
        "epsilon": certificate.statement["loss"]["epsilon"],
        "delta": certificate.statement["loss"]["delta"],
        "label": label.sections,
        "key": certificate.key,
    }


def _over(release: Release, text: str | None) -> dict[str, Any]:
    """SQL over the answer, and what it gave."""
    first = next(iter(release.answer.margins), None)
    usual = f'SELECT SUM("{first}") AS total FROM answer' if first else "SELECT * FROM answer"
    context: dict[str, Any] = {"over": usual if text is None else text}
    context |= {"over_rows": None, "over_notes": (), "over_problem": ""}
    if text is not None:
        try:
            answer, notes = ask_released(text, {"answer": release})
        except DeniableError as refusal:
            return context | {"over_problem": str(refusal)}
        context |= {"over_rows": show_answer(release.plan, answer), "over_notes": notes}
    return context


def _notebook(answer: AskedAnswer) -> Response:
    release = answer.release
    assert release is not None
    assert release.certificate is not None
    document = to_json(release.answer, release.certificate).decode("ascii")
    content = write_notebook(document, question=answer.sql, key=release.certificate.key)
    headers = {"Content-Disposition": 'attachment; filename="answer.ipynb"'}
    return Response(content, media_type="application/x-ipynb+json", headers=headers)
