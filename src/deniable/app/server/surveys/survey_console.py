"""The pollster's pages: drafts, a preview on a phone, opening, closing and results."""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from deniable.app.cli.commands.survey import DRAFT
from deniable.app.server.console.console import CONTENT_POLICY, Console, go_to, lead_to
from deniable.app.server.console.console_forms import read_form, read_whole
from deniable.app.server.console.page_routes import PageRoute
from deniable.app.server.survey_pages import respondent_files, results_files
from deniable.app.server.surveys.survey_desk import (
    SurveyDesk,
    UnknownSurvey,
    check_questionnaire,
)
from deniable.app.web.page_styles import RESULTS_POLICY
from deniable.app.web.survey.page import content_policy, page_headers
from deniable.errors import DeniableError, InvalidParameter
from deniable.privacy.losses.loss_in_words import explain_loss
from deniable.surveys.questionnaire.manifest import Manifest
from deniable.surveys.results.privacy_sentences import survey_loss

LIST = "/console/surveys"
SURVEY = f"{LIST}/{{name}}"
PREVIEW = "/console/preview/{name}"
LONGEST = 48 * 1024
_WITH_FRAME = CONTENT_POLICY.replace("base-uri", "frame-src 'self'; base-uri")


class SurveyConsole:
    """What a pollster sees and does."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def routes(self) -> list[PageRoute]:
        """The routes of these pages."""
        return [
            PageRoute("GET", LIST, self.show_list),
            PageRoute("POST", LIST, self.add),
            PageRoute("GET", SURVEY, self.show_survey),
            PageRoute("POST", SURVEY, self.act),
            PageRoute("GET", PREVIEW, self.show_preview),
            PageRoute("GET", f"{PREVIEW}/{{form}}", self.show_preview_file),
            PageRoute("GET", f"{SURVEY}/results", self.show_results),
            PageRoute("GET", f"{SURVEY}/results/{{form}}", self.show_results),
        ]

    async def show_list(self, request: Request) -> Response:
        """All surveys, and a draft to begin with."""
        return await self._console.work(request, self._list, request, DRAFT)

    async def add(self, request: Request) -> Response:
        """Keeps a new draft."""
        text = (await read_form(request)).get("text", "").replace("\r\n", "\n")
        try:
            name = await self._console.work(request, self._desk().draft, text)
        except DeniableError as problem:
            return await self._console.work(request, self._list, request, text, str(problem))
        return lead_to(request, f"{LIST}/{name}")  # whose policy allows its frame

    async def show_survey(self, request: Request, name: str) -> Response:
        """One survey: a draft with its preview, or what becomes of it."""
        return await self._console.work(request, self._page, request, name)

    async def act(self, request: Request, name: str) -> Response:
        """Saves, opens or closes a survey, or makes invitations."""
        fields = await read_form(request)
        text = fields.get("text", "").replace("\r\n", "\n")
        try:
            links = await self._console.work(request, self._act, name, fields, text)
        except UnknownSurvey:
            raise HTTPException(404) from None
        except DeniableError as problem:
            draft_text = text or None
            return await self._console.work(
                request, self._page, request, name, draft_text, str(problem)
            )
        if links:
            return await self._console.work(request, self._page, request, name, None, "", links)
        return go_to(f"{LIST}/{name}")

    def show_preview(self, name: str, language: str = "") -> Response:
        """The respondent's page of a draft, in a frame of ours. It can send nothing."""
        return self._preview(name, f"?language={language}" if language else "")

    def show_preview_file(self, name: str, form: str) -> Response:
        """A file of that page."""
        return self._preview(name, form)

    async def show_results(self, request: Request, name: str, form: str = "") -> Response:
        """The results, by whole batches; or a file that they offer."""
        return await self._console.work(request, self._results, request, name, form)

    def _results(self, request: Request, name: str, form: str) -> Response:
        try:
            collection = self._desk().collection(name)
        except UnknownSurvey:
            raise HTTPException(404) from None
        collection.close_in_time()
        store = collection.store
        batches, closed = store.batches(), store.is_closed
        if not batches and not form:
            return self._console.show(
                request, "survey_results_none.html", title="Results", name=name, closed=closed
            )
        address = f"{LIST}/{name}/results"
        files = results_files(collection.manifest, batches, closed, address)
        if form not in files:
            raise HTTPException(404)
        policy = f"{RESULTS_POLICY}; frame-ancestors 'none'"
        headers = {"Content-Security-Policy": policy, "Content-Type": files[form].media_type}
        return Response(files[form].content, headers=headers)

    def _act(self, name: str, fields: dict[str, str], text: str) -> list[str]:
        desk = self._desk()
        match fields.get("act"):
            case "save":
                desk.change(name, text)
            case "open":
                if text and text != desk.text(name):  # what was checked is the saved one
                    raise InvalidParameter(
                        "The questionnaire was changed. Save and check it before you open it."
                    )
                desk.begin(name, fields.get("mode", ""))
            case "close" if fields.get("sure") == "on":
                desk.end(name)
            case "invite":
                return desk.invite(name, read_whole(fields.get("people", ""), digits=9))
        return []

    def _list(self, request: Request, text: str, problem: str = "") -> Response:
        desk = self._console.surveys
        listed = [] if desk is None else [(name, desk.state(name)) for name in desk.names()]
        return self._console.show(
            request,
            "surveys.html",
            title="Surveys",
            offered=desk is not None,
            surveys=listed,
            text=text,
            problem=problem,
            longest=LONGEST,
        )

    def _page(
        self,
        request: Request,
        name: str,
        text: str | None = None,
        problem: str = "",
        links: list[str] | None = None,
    ) -> Response:
        desk = self._desk()
        try:
            state, stored_text = desk.state(name), desk.text(name)
        except UnknownSurvey:
            raise HTTPException(404) from None
        shown_text = stored_text if text is None else text
        unsaved = shown_text != stored_text
        response = self._console.show(
            request,
            "survey.html",
            title=name,
            name=name,
            state=state,
            text=shown_text,
            unsaved=unsaved,
            problem=problem,
            links=links or (),
            modes=desk.modes,
            longest=LONGEST,
            **_describe(desk, name, state, shown_text, saved=not unsaved),
        )
        response.headers["Content-Security-Policy"] = _WITH_FRAME
        return response

    def _preview(self, name: str, file_name: str) -> Response:
        try:
            checked = check_questionnaire(self._desk().text(name))
        except UnknownSurvey:
            raise HTTPException(404) from None
        files = {} if checked.manifest is None else respondent_files(checked.manifest)
        if file_name not in files:
            raise HTTPException(404)
        file = files[file_name]
        policy = content_policy().replace("connect-src 'self'", "connect-src 'none'")
        framed = {
            "Content-Security-Policy": f"{policy}; frame-ancestors 'self'",
            "X-Frame-Options": "SAMEORIGIN",
            "Content-Type": file.media_type,
        }
        return Response(file.content, headers=page_headers() | framed)

    def _desk(self) -> SurveyDesk:
        if self._console.surveys is None:
            raise HTTPException(404)
        return self._console.surveys


def _describe(
    desk: SurveyDesk, name: str, state: str, text: str, *, saved: bool
) -> dict[str, Any]:
    """What a draft would promise, or what was promised and how far it is."""
    if state == "draft":
        checked = check_questionnaire(text)
        return {
            "draft_problem": checked.problem,
            "findings": [str(finding) for finding in checked.findings],
            "ready": checked.manifest is not None
            and saved
            and not any(finding.level == "error" for finding in checked.findings),
            "words": checked.manifest and _words(checked.manifest),
            "manifest": None,
            "reports": 0,
        }
    collection = desk.collection(name)
    batches = collection.store.batches()
    return {
        "draft_problem": "",
        "findings": (),
        "ready": False,
        "words": _words(collection.manifest),
        "manifest": collection.manifest,
        "reports": sum(len(batch.bodies) for batch in batches),
    }


def _words(manifest: Manifest) -> Any:
    return explain_loss(survey_loss(manifest), unit="person", whole="all reports together")
