"""The pages of a survey, and the hashes by which anyone can check what a server sends."""

import hashlib
import json
import threading
from collections.abc import Sequence
from typing import Any

from deniable.app.server.survey_routes import PageFile, SurveyPages
from deniable.app.web.page_styles import RESULTS_POLICY
from deniable.app.web.results_page import build_results_page
from deniable.app.web.survey.html_elements import element
from deniable.app.web.survey.page import (
    CONTENT_TYPES,
    hash_files,
    page_files,
    page_headers,
)
from deniable.surveys.collect.collection import SurveyCollection
from deniable.surveys.collect.store.batches import ReportBatch
from deniable.surveys.questionnaire.manifest import Manifest
from deniable.surveys.results.result_files import export_files
from deniable.surveys.results.survey_results import find_results

_PLAIN = "text/plain; charset=utf-8"


def pages_of(collection: SurveyCollection) -> SurveyPages:
    """What the server shows for a survey."""
    files = respondent_files(collection.manifest)
    policy = {"Content-Security-Policy": f"{RESULTS_POLICY}; frame-ancestors 'none'"}
    return SurveyPages(files, page_headers(), _ResultsCache(collection.results_secret), policy)


class _ResultsCache:
    """The results page and its files, made once for each batch."""

    def __init__(self, secret: str) -> None:
        self._secret, self._lock = secret, threading.Lock()
        self._pages: tuple[object, dict[str, PageFile]] = (None, {})

    def __call__(
        self, manifest: Manifest, batches: Sequence[ReportBatch], closed: bool
    ) -> dict[str, PageFile]:
        state = len(batches), closed
        with self._lock:
            if self._pages[0] != state:
                self._pages = state, results_files(manifest, batches, closed, self._secret)
            return self._pages[1]


def results_files(
    manifest: Manifest, batches: Sequence[ReportBatch], closed: bool, address: str
) -> dict[str, PageFile]:
    """The results page (the empty name) and the files that it offers, below `address`."""
    if not batches:
        return {"": PageFile(_empty_results(manifest, closed), CONTENT_TYPES[".html"])}
    pairs = [(batch.day, batch.bodies) for batch in batches]
    results = find_results(manifest, pairs, closed=closed)
    exported = export_files(results)
    page = build_results_page(
        results, downloads={name: f"{address}/{name}" for name in exported}
    )
    files = {name: PageFile(text, _PLAIN) for name, text in exported.items()}
    return {"": PageFile(page, CONTENT_TYPES[".html"]), **files}


def _empty_results(manifest: Manifest, closed: bool) -> bytes:
    language = manifest.languages[0]
    title = manifest.title[language]
    words = "No reports came." if closed else "No batch of reports is there yet."
    rehearsal = element("p", element("strong", "REHEARSAL: these numbers mean nothing."))
    head = element("head", element("meta", charset="utf-8"), element("title", title))
    body = element(
        "body",
        *([rehearsal] if manifest.rehearsal else []),
        element("h1", title, lang=language),
        element("p", words),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n".encode()


def respondent_files(manifest: Manifest) -> dict[str, PageFile]:
    """The respondent's page in each language, and its files, by their path below the survey's
    address. They depend on the manifest alone. With an origin, the page that can be saved too.
    """
    return {
        name: PageFile(content, kind)
        for name, (content, kind) in page_files(manifest).items()
        if name != "manifest.json"  # it has a route of its own, which any origin may read
    }


def hash_pages(manifest: Manifest) -> dict[str, Any]:
    """The hashes of a manifest and of the page that this version makes of it, with its files.

    `page` is one hash of all of them, short enough for a poster.
    """
    files, policy = hash_files(manifest), page_headers()["Content-Security-Policy"]
    return {
        "manifest": manifest.hash,
        "page": hash_together(files, policy),
        "files": files,
        "policy": policy,
    }


def hash_together(files: dict[str, str], policy: str) -> str:
    """One hash of the hashes of all files, and of the policy of the page.

    >>> hash_together({"": "00"}, "") == hash_together({"": "01"}, "")
    False
    """
    text = json.dumps({"files": files, "policy": policy}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
