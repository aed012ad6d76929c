"""`deniable survey publish`: the page as a file, the manifest, and the hashes for a poster."""

import json
from pathlib import Path
from typing import Annotated, cast

import typer

import deniable as dp
from deniable.app.cli.surveys.opened_survey import (
    Mode,
    Origin,
    Questionnaire,
    Rehearsal,
    Store,
    open_survey,
)


def publish(
    file: Questionnaire,
    out: Annotated[Path, typer.Option(help="The folder to write.", metavar="FOLDER")],
    store: Store = None,
    mode: Mode = None,
    origin: Origin = None,
    rehearsal: Rehearsal = False,
) -> None:
    """Write what can be handed out: the page as one file per language, manifest and hashes."""
    from deniable.app.server.survey_pages import hash_pages
    from deniable.app.web.survey.page import build_page
    from deniable.surveys.collect.collection import CollectionChoices
    from deniable.surveys.questionnaire.manifest import Mode as ModeName

    choices = CollectionChoices(cast(ModeName | None, mode), origin, rehearsal, store)
    collection = open_survey(file, choices)
    collection.close()
    manifest = collection.manifest
    if manifest.origin is None:
        raise dp.InvalidParameter(
            "A page that is saved as a file sends its report to --origin, which this survey "
            "has begun without."
        )
    hashes = hash_pages(manifest)
    out.mkdir(parents=True, exist_ok=True)
    for language in manifest.languages:
        name = "page.html" if language == manifest.languages[0] else f"page.{language}.html"
        (out / name).write_bytes(build_page(manifest, language=language, saved=True))
    (out / "manifest.json").write_bytes(manifest.canonical())
    text = json.dumps(hashes, indent=1, sort_keys=True)
    (out / "hashes.json").write_text(f"{text}\n", encoding="utf-8")
    print(f"{out}: the page as a file, manifest.json and hashes.json. For a poster:")
    print(f"  manifest  {hashes['manifest']}")
    print(f"  page      {hashes['page']}")
    print(f"Anyone can then run   deniable survey check {manifest.origin}/s/{manifest.survey}")
