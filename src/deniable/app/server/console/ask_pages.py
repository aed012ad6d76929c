"""The Ask page: a question, its free preview, and the button that spends."""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from deniable.app.server.accounts.identity import Person
from deniable.app.server.console.asked_form import CONFIDENCES, AskedForm
from deniable.app.server.console.console import Console, lead_to
from deniable.app.server.console.console_forms import read_form
from deniable.app.server.console.kept_answers import find_answer, form_fields
from deniable.app.server.console.offered_words import SQL_WORDS, OfferedTable, offered_tables
from deniable.app.server.console.page_routes import PageRoute
from deniable.app.server.console.question_preview import QuestionPreview, preview_question
from deniable.app.server.console.written_question import (
    COMPARISONS,
    MEASURES,
    example_margin,
    example_question,
    write_question,
)
from deniable.app.server.problem_details import problem_of
from deniable.app.server.questions.served_policy import ServedPolicy
from deniable.errors import DeniableError
from deniable.privacy.losses.loss_in_words import PRECISE_END, PRIVATE_END, STOPS

ASK = "/console/{policy}/ask"
PREVIEW = "/console/{policy}/preview"
ANSWERS = "/console/{policy}/releases"


class AskPages:
    """What is shown and done before an answer is there."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def routes(self) -> list[PageRoute]:
        """The routes of these pages."""
        return [
            PageRoute("GET", ASK, self.show_ask),
            PageRoute("POST", ASK, self.show_price),
            PageRoute("POST", PREVIEW, self.show_preview),
            PageRoute("POST", ANSWERS, self.ask),
        ]

    async def show_ask(self, request: Request, policy: str, release: str = "") -> Response:
        """The page with an example, or with an own question of before, and its price."""
        served, person = self._console.enter(request, policy)
        tables = await self._console.work(request, _tables, served, person)
        form = AskedForm(sql=example_question(tables), margin=example_margin(tables))
        if release:
            answer = await find_answer(
                self._console, request, served, release, whose=person.name
            )
            form = AskedForm.read(form_fields(answer.job.request))
        return await self._page(request, served, person, form)

    async def show_price(self, request: Request, policy: str) -> Response:
        """The same page for what was filled in, for browsers without our script: with its
        price, or with the SQL that the form of choices makes."""
        served, person = self._console.enter(request, policy)
        fields = await read_form(request)
        form = AskedForm.read(fields)
        problem = ""
        if fields.get("act") == "write":
            try:
                form = form.with_sql(write_question(_tables(served, person), fields))
            except DeniableError as refusal:
                problem = str(refusal)
        return await self._page(request, served, person, form, problem, fields)

    async def show_preview(self, request: Request, policy: str) -> Response:
        """The part of the page that says what the question costs."""
        served, person = self._console.enter(request, policy)
        form = AskedForm.read(await read_form(request))
        values = await self._preview(served, person, form)
        return self._console.show_part(request, "preview.html", **values)

    async def ask(self, request: Request, policy: str) -> Response:
        """Asks, if the question is the one whose price was shown; leads to its answer."""
        served, person = self._console.enter(request, policy)
        fields = await read_form(request)
        form = AskedForm.read(fields)
        try:
            job = await self._console.server.admission.admit(
                served,
                person,
                form.body(expects=[form.expects], question_id=form.question_id or None),
            )
        except DeniableError as refusal:
            page = await self._page(request, served, person, form, str(refusal), fields)
            page.status_code = problem_of(refusal).status_code
            return page
        return lead_to(request, f"/console/{served.name}/releases/{job.id}")

    async def _page(
        self,
        request: Request,
        served: ServedPolicy,
        person: Person,
        form: AskedForm,
        problem: str = "",
        choices: Mapping[str, str] | None = None,
    ) -> Response:
        return await self._console.work(
            request,
            self._console.show,
            request,
            "ask.html",
            title="Ask a question",
            refused=problem,
            choices=choices or {},
            tables=await self._console.work(request, _tables, served, person),
            words=SQL_WORDS,
            measures=MEASURES,
            comparisons=COMPARISONS,
            confidences=CONFIDENCES,
            stops=STOPS,
            ends=(PRIVATE_END, PRECISE_END),
            **await self._preview(served, person, form),
        )

    async def _preview(
        self, served: ServedPolicy, person: Person, form: AskedForm
    ) -> dict[str, Any]:
        """The preview of a form, and the form with its linked fields filled in."""
        preview: QuestionPreview | None = None
        problem = ""
        try:
            plan = self._console.server.admission.plan
            preview = await plan(person, form.body(), preview_question, served, person, form)
        except DeniableError as refusal:
            problem = str(refusal)
        else:
            linked = {"margin": preview.margin, "epsilon": preview.epsilon}
            own = {"margin": form.margin} if form.by == "margin" else {}
            own |= {"epsilon": form.epsilon} if form.by == "epsilon" else {}
            stop = form.stop if form.by == "stop" else preview.stop
            form = replace(form, **(linked | own), stop=stop)
        return {
            "policy": served.name,
            "form": form,
            "preview": preview,
            "problem": problem,
            "question_id": secrets.token_hex(16),
        }


def _tables(served: ServedPolicy, person: Person) -> list[OfferedTable]:
    return offered_tables(served.policy_for(person))
