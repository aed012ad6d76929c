"""The pages of a survey, and the hashes by which anyone can check what a server sends."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from deniable.app.server.survey_routes import PageFile, SurveyPages
from deniable.surveys.collect.collection import SurveyCollection
from deniable.surveys.questionnaire.manifest import Manifest


def pages_of(collection: SurveyCollection) -> SurveyPages:
    """What the server shows for a survey."""
    return SurveyPages(respondent_files(collection.manifest), lambda manifest, batches: "")


def respondent_files(manifest: Manifest) -> dict[str, PageFile]:
    """The respondent's page and its files. They depend on the manifest alone."""
    html = f"<!doctype html><title>{manifest.survey}</title>".encode()
    return {"": PageFile(html, "text/html", "default-src 'none'")}


def hash_pages(manifest: Manifest, files: Mapping[str, PageFile]) -> dict[str, Any]:
    """The hashes of a manifest and of a page with its files and policies.

    `page` is one hash of all of them, short enough for a poster.
    """
    described = {
        name: {"sha256": hashlib.sha256(file.content).hexdigest(), "policy": file.policy}
        for name, file in files.items()
    }
    text = json.dumps(described, sort_keys=True, separators=(",", ":"))
    return {
        "manifest": manifest.hash,
        "page": hashlib.sha256(text.encode()).hexdigest(),
        "files": described,
    }
