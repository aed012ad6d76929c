"""The pages of a survey, and the hashes by which anyone can check what a server sends."""

import hashlib
import json
from typing import Any

from deniable.app.server.survey_routes import PageFile, SurveyPages
from deniable.app.web.survey.page import (
    CONTENT_TYPES,
    SCRIPTS,
    STYLES,
    build_page,
    hash_files,
    page_headers,
    read_file,
)
from deniable.surveys.collect.collection import SurveyCollection
from deniable.surveys.questionnaire.manifest import Manifest


def pages_of(collection: SurveyCollection) -> SurveyPages:
    """What the server shows for a survey."""
    files = respondent_files(collection.manifest)
    return SurveyPages(files, page_headers(), lambda manifest, batches: "")


def respondent_files(manifest: Manifest) -> dict[str, PageFile]:
    """The respondent's page in each language, and its files, by their path below the survey's
    address. They depend on the manifest alone. With an origin, the page that can be saved too.
    """
    html = CONTENT_TYPES[".html"]
    files = {
        f"?language={language}": PageFile(build_page(manifest, language=language), html)
        for language in manifest.languages
    }
    files[""] = files[f"?language={manifest.languages[0]}"]
    for name in (*SCRIPTS, *STYLES):
        kind = CONTENT_TYPES[f".{name.rpartition('.')[2]}"]
        files[name] = PageFile(read_file(name), kind)
    return files


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

    >>> hash_together({}, "")[:8]
    '92db62e0'
    """
    text = json.dumps({"files": files, "policy": policy}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
