"""What people who take a survey get from a server with accounts: the page, and where it sends.

These routes are for anyone, and answer as `deniable survey serve` does. They take reports from
the survey's own page only: a page that was saved as a file cannot send to a server with
accounts.
"""

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from deniable.app.server.application import answer_ours
from deniable.app.server.console.page_routes import PageRoute
from deniable.app.server.survey_routes import SurveyRoutes
from deniable.app.server.surveys.survey_desk import SurveyDesk, UnknownSurvey
from deniable.errors import DeniableError

HERE = "/s/{name}"
_NOT_OFFERED = "saved"  # files whose pages could not send here


class RespondentPages:
    """The routes of all surveys that have begun."""

    def __init__(self, desk: SurveyDesk | None) -> None:
        self._desk = desk

    def routes(self) -> list[PageRoute]:
        """The routes, for use behind an `AccessGate`."""
        return [
            PageRoute("GET", HERE, self.show_page),
            PageRoute("GET", f"{HERE}/{{form}}", self.show_file),
            PageRoute("POST", f"{HERE}/{{form}}", self.take),
        ]

    def show_page(self, name: str, language: str = "") -> Response:
        """The page of a survey."""
        return self._find(name).show_page(language)

    async def show_file(self, request: Request, name: str, form: str) -> Response:
        """A file of the page, the manifest, or the totals after closing."""
        routes = await run_in_threadpool(self._find, name)
        handlers = {"manifest.json": routes.show_manifest, "totals.json": routes.show_totals}
        try:
            if form in handlers:
                return await run_in_threadpool(handlers[form])
            if routes.has_file(form) and not form.startswith(_NOT_OFFERED):
                return routes.show_file(form)
        except DeniableError as problem:
            return await answer_ours(request, problem)
        raise HTTPException(404)

    async def take(self, request: Request, name: str, form: str) -> Response:
        """A report, or an invitation to be exchanged."""
        routes = await run_in_threadpool(self._find, name)
        acts = {"report": routes.take, "exchange": routes.exchange}
        if form not in acts:
            raise HTTPException(404)
        try:
            return await acts[form](request)
        except DeniableError as problem:
            return await answer_ours(request, problem)

    def _find(self, name: str) -> SurveyRoutes:
        if self._desk is None:
            raise HTTPException(404)
        try:
            return self._desk.routes(name)
        except UnknownSurvey:
            raise HTTPException(404) from None
