"""The routes of one survey: its page, the exchange of passes, reports, and the results.

A report may come from a page that was saved as a file, so any origin may read the answers. None
of them depends on who asks: there are no cookies and no credentials. A report that is accepted,
and one whose pass was spent before, get the same answer, to the byte.
"""

import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from deniable.app.server.application import run_apart
from deniable.app.server.rate_limits import AddressLimits, RateLimits
from deniable.errors import InvalidParameter
from deniable.surveys.collect.collection import SurveyCollection
from deniable.surveys.collect.store.batches import ReportBatch
from deniable.surveys.questionnaire.manifest import Manifest

RECEIVED = b'{"status":"received"}'
FOR_ANYONE = {
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
}
PREFLIGHT = FOR_ANYONE | {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Content-Type",
}
JSON = "application/json"

ResultsFiles = Callable[[Manifest, Sequence[ReportBatch], bool], "Mapping[str, PageFile]"]


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of the respondent's page."""

    content: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class SurveyPages:
    """What is shown: the respondent's page with its files and headers, and the results.

    The page has the empty name, and names such as ?language=de in other languages.
    """

    files: Mapping[str, PageFile]
    headers: Mapping[str, str]
    results: ResultsFiles
    results_headers: Mapping[str, str]


def survey_router(
    collection: SurveyCollection, pages: SurveyPages, *, reports_per_hour: int
) -> APIRouter:
    """The routes of one survey. Reports through an open link are limited by address."""
    limits = AddressLimits(reports_per_hour)
    router, routes = APIRouter(), SurveyRoutes(collection, pages, limits)
    here = f"/s/{collection.manifest.survey}"
    handlers: dict[str, Callable[..., Any]] = {
        here: routes.show_page,
        f"{here}/manifest.json": routes.show_manifest,
        f"{here}/totals.json": routes.show_totals,
        "/r/{secret}": routes.show_results,
        "/r/{secret}/{name}": routes.show_results,
    }
    for name in pages.files:
        if name and not name.startswith("?"):
            handlers[f"{here}/{name}"] = partial(routes.show_file, name)
    for path, show in handlers.items():
        router.add_api_route(path, show, methods=["GET"])
    for path, take in ((f"{here}/exchange", routes.exchange), (f"{here}/report", routes.take)):
        router.add_api_route(path, take, methods=["POST"])
        router.add_api_route(path, _answer_preflight, methods=["OPTIONS"])
    return router


class SurveyRoutes:
    """What each route of a survey answers. Those without `async` run in a thread."""

    def __init__(
        self, collection: SurveyCollection, pages: SurveyPages, limits: RateLimits
    ) -> None:
        self._collection, self._pages, self._limits = collection, pages, limits

    def show_page(self, language: str = "") -> Response:
        name = f"?language={language}"
        return self.show_file(name if name in self._pages.files else "")

    def show_file(self, name: str) -> Response:
        return _answer_file(self._pages.files[name], self._pages.headers)

    def has_file(self, name: str) -> bool:
        """Whether the page has a file of this name."""
        return name in self._pages.files and name != "" and not name.startswith("?")

    def show_manifest(self) -> Response:
        content = self._collection.manifest.canonical()
        return Response(content, media_type=JSON, headers=FOR_ANYONE)

    def show_totals(self) -> Response:
        """What is published when the survey has closed; nothing before."""
        self._collection.close_in_time()
        try:
            totals = self._collection.totals()
        except InvalidParameter:
            raise HTTPException(404) from None
        return Response(json.dumps(asdict(totals)), media_type=JSON, headers=FOR_ANYONE)

    def show_results(self, secret: str, name: str = "") -> Response:
        """The results page, or one of the files that it offers, for those who have its link."""
        known = self._collection.results_secret
        if not hmac.compare_digest(secret.encode(), known.encode()):
            raise HTTPException(404)
        self._collection.close_in_time()
        store = self._collection.store
        files = self._pages.results(self._collection.manifest, store.batches(), store.is_closed)
        if name not in files:
            raise HTTPException(404)
        return _answer_file(files[name], self._pages.results_headers)

    async def exchange(self, request: Request) -> Response:
        """A blinded pass for an invitation."""
        body = await request.body()
        signature = await run_in_threadpool(self._collection.exchange, body)
        answer = json.dumps({"signature": signature})
        return Response(answer, media_type=JSON, headers=FOR_ANYONE)

    async def take(self, request: Request) -> Response:
        """One report. A batch that is due is written after the answer was sent."""
        if self._collection.manifest.mode == "open":
            address = "" if request.client is None else request.client.host
            if not await run_in_threadpool(self._limits.allow, address):
                wait = str(self._limits.wait(address))
                raise HTTPException(429, headers={"Retry-After": wait})
        due = await run_in_threadpool(self._collection.receive, await request.body())
        write = BackgroundTask(run_apart, self._collection.store.write_batches)
        return Response(
            RECEIVED, media_type=JSON, headers=FOR_ANYONE, background=write if due else None
        )


def _answer_file(file: PageFile, headers: Mapping[str, str]) -> Response:
    return Response(file.content, headers={**headers, "Content-Type": file.media_type})


def _answer_preflight() -> Response:
    return Response(status_code=204, headers=PREFLIGHT)
