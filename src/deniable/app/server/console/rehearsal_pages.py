"""Rehearse: questions to made-up rows, planned and answered as the real ones would be.

The rows fit the policy and nothing else is known of them: no source is opened. Nothing is
spent, and no answer of this page is kept.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from deniable.app.server.accounts.identity import Person
from deniable.app.server.console.asked_form import AskedForm
from deniable.app.server.console.console import Console
from deniable.app.server.console.console_forms import read_form
from deniable.app.server.console.offered_words import offered_tables
from deniable.app.server.console.page_routes import PageRoute
from deniable.app.server.console.written_question import example_question
from deniable.app.server.questions.served_policy import ServedPolicy
from deniable.app.web.console.answer_charts import draw_answer
from deniable.app.web.console.answer_tables import show_answer
from deniable.app.web.console.console_templates import amount_text
from deniable.app.web.console.page_notes import notes_of
from deniable.errors import DeniableError
from deniable.ledger.memory_ledger import MemoryLedger
from deniable.ledger.terms import Terms
from deniable.policy.policy import Policy
from deniable.policy.written_policy import read_policy, write_policy
from deniable.release.answer.wide_margins import describe_margins
from deniable.release.public_session import Session

REHEARSE = "/console/{policy}/rehearse"
_USUAL = "0.1"


class RehearsalPages:
    """What is shown of made-up rows."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def routes(self) -> list[PageRoute]:
        """The routes of these pages."""
        return [
            PageRoute("GET", REHEARSE, self.show_form),
            PageRoute("POST", REHEARSE, self.rehearse),
        ]

    async def show_form(self, request: Request, policy: str) -> Response:
        """The page with an example."""
        served, person = self._console.enter(request, policy)
        example = example_question(offered_tables(served.policy_for(person)))
        form = AskedForm(sql=example, by="epsilon", epsilon=_USUAL)
        return await self._console.work(request, self._page, request, served, form)

    async def rehearse(self, request: Request, policy: str) -> Response:
        """The answer to a question about made-up rows."""
        served, person = self._console.enter(request, policy)
        form = replace(AskedForm.read(await read_form(request)), by="epsilon")
        trials = self._console.server.admission.trials  # one at a time: a child is for slots
        context: dict[str, Any]
        try:
            async with trials.of(person.name, long=True):
                context = await trials.work(answer_rehearsal, served, person, form)
        except DeniableError as problem:
            context = {"problem": str(problem)}
        return await self._console.work(request, self._page, request, served, form, **context)

    def _page(
        self, request: Request, served: ServedPolicy, form: AskedForm, **context: Any
    ) -> Response:
        usual = {"problem": "", "table": None, "chart": None, "footer": ()}
        return self._console.show(
            request,
            "rehearse.html",
            title="Rehearse",
            policy=served.name,
            form=form,
            **(usual | context),
        )


def answer_rehearsal(served: ServedPolicy, person: Person, form: AskedForm) -> dict[str, Any]:
    """The table, the picture and the notes of an answer about made-up rows."""
    epsilon = Fraction(form.request()["epsilon"])
    policy = without_sources(served.policy_for(person))
    ledger = MemoryLedger(terms=Terms.from_policy(policy))
    with served.rehearsals.engine() as engine:
        session = Session(policy, engine, ledger, analyst=person.name, rehearsal=True)
        release = session.sql(form.sql, epsilon=epsilon)
    return {
        "table": show_answer(release.plan, release.answer),
        "chart": draw_answer(release.plan, release.answer),
        "footer": (
            f"The real question would cost epsilon {amount_text(release.plan.epsilon)}.",
            describe_margins(release.plan),
            *release.warnings,
            *notes_of(release.plan),
        ),
    }


def without_sources(policy: Policy) -> Policy:
    """The policy with tables that lead nowhere, so that a rehearsal cannot open a source.

    >>> from deniable.policy import Table
    >>> policy = Policy([Table("visits", "visits.csv")], epsilon=1)
    >>> print(without_sources(policy).tables["visits"].source)
    None
    """
    return read_policy(write_policy(policy))
