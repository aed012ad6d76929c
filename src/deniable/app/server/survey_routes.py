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

from fastapi import APIRouter, Request
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from deniable.app.server.application import run_apart
from deniable.app.server.rate_limits import AddressLimits
from deniable.errors import InvalidParameter
from deniable.surveys.collect.collection import SurveyCollection
from deniable.surveys.collect.store.report_store import ReportBatch
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

ResultsPage = Callable[[Manifest, Sequence[ReportBatch]], str]


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
    results: ResultsPage


def survey_router(
    collection: SurveyCollection, pages: SurveyPages, *, reports_per_hour: int
) -> APIRouter:
    """The routes of one survey. Reports through an open link are limited by address."""
    router = APIRouter()
    here = f"/s/{collection.manifest.survey}"
    limits = AddressLimits(reports_per_hour)
    router.add_api_route(
        f"{here}/manifest.json", partial(_show_manifest, collection), methods=["GET"]
    )
    router.add_api_route(
        f"{here}/totals.json", partial(_show_totals, collection), methods=["GET"]
    )
    for name in pages.files:
        if name and not name.startswith("?"):
            show = partial(_show_file, pages, name)
            router.add_api_route(f"{here}/{name}", show, methods=["GET"])

    def page(language: str = "") -> Response:
        name = f"?language={language}"
        return _show_file(pages, name if name in pages.files else "")

    async def exchange(request: Request) -> Response:
        body = await request.body()
        signature = await run_in_threadpool(collection.exchange, body)
        answer = json.dumps({"signature": signature})
        return Response(answer, media_type=JSON, headers=FOR_ANYONE)

    async def report(request: Request) -> Response:
        if collection.manifest.mode == "open" and not limits.allow(_address(request)):
            raise HTTPException(429, headers={"Retry-After": "600"})
        due = await run_in_threadpool(collection.receive, await request.body())
        write = BackgroundTask(run_apart, collection.store.write_batches) if due else None
        return Response(RECEIVED, media_type=JSON, headers=FOR_ANYONE, background=write)

    async def results(secret: str) -> Response:
        known = await run_in_threadpool(lambda: collection.results_secret)
        if not hmac.compare_digest(secret.encode(), known.encode()):
            raise HTTPException(404)
        return await run_in_threadpool(_show_results, collection, pages)

    router.add_api_route(here, page, methods=["GET"])
    for name, act in (("exchange", exchange), ("report", report)):
        router.add_api_route(f"{here}/{name}", act, methods=["POST"])
        router.add_api_route(f"{here}/{name}", _answer_preflight, methods=["OPTIONS"])
    router.add_api_route("/r/{secret}", results, methods=["GET"])
    return router


def _show_file(pages: SurveyPages, name: str) -> Response:
    file = pages.files[name]
    headers = {**pages.headers, "Content-Type": file.media_type}
    return Response(file.content, headers=headers)


def _show_manifest(collection: SurveyCollection) -> Response:
    content = collection.manifest.canonical()
    return Response(content, media_type=JSON, headers=FOR_ANYONE)


def _show_totals(collection: SurveyCollection) -> Response:
    """What is published when the survey has closed; nothing before."""
    try:
        totals = collection.store.totals()
    except InvalidParameter:
        raise HTTPException(404) from None
    return Response(json.dumps(asdict(totals)), media_type=JSON, headers=FOR_ANYONE)


def _show_results(collection: SurveyCollection, pages: SurveyPages) -> Response:
    text = pages.results(collection.manifest, collection.store.batches())
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    policy += "form-action 'none'; frame-ancestors 'none'"
    return Response(text, media_type="text/html", headers={"Content-Security-Policy": policy})


def _answer_preflight() -> Response:
    return Response(status_code=204, headers=PREFLIGHT)


def _address(request: Request) -> str:
    return request.client.host if request.client is not None else ""
