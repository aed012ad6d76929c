"""`deniable survey serve` and `deniable survey close`."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from deniable.app.cli.surveys.opened_survey import (
    Mode,
    Origin,
    Questionnaire,
    Rehearsal,
    SealingKey,
    Store,
    open_survey,
    reopen_survey,
)

if TYPE_CHECKING:
    from deniable.app.server.serving import ServerPlace
    from deniable.surveys.collect.collection import SurveyCollection
    from deniable.surveys.questionnaire.manifest import Mode as ModeName

KIOSK_REPORTS = 400  # in an hour: one device, many people
USUAL_REPORTS = 30
_EXPOSED = (
    "Note: one address may hold 64 connections of 512. Without a proxy, several machines that "
    "open as many as they may can still keep everybody else out."
)
REHEARSAL_REPORTS = 1_000_000  # made-up people share an address


def serve(
    file: Questionnaire,
    store: Store = None,
    sealing_key: SealingKey = None,
    mode: Mode = None,
    origin: Origin = None,
    rehearsal: Rehearsal = False,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 for any.", min=0, max=65535)] = 8000,
    certificate: Annotated[
        Path | None, typer.Option(help="A certificate for https, in PEM.", metavar="FILE")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(help="The certificate's key, in PEM.", metavar="FILE")
    ] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="A proxy on this machine speaks https.")
    ] = False,
    reports_per_hour: Annotated[
        int | None, typer.Option(help="Of one address, through an open link.", min=1)
    ] = None,
    print_hashes: Annotated[
        bool, typer.Option("--print-hashes", help="Print the hashes for a poster, and end.")
    ] = False,
) -> None:
    """Let people take a survey: serve its page, take reports, show results."""
    from deniable.app.server.serving import ServerPlace
    from deniable.surveys.collect.collection import CollectionChoices

    place = ServerPlace(host, port, certificate, key, behind_proxy or print_hashes)
    place.check(origin=origin)
    choices = CollectionChoices(
        cast("ModeName | None", mode), origin, rehearsal, store, sealing_key
    )
    collection = open_survey(file, choices)
    try:
        place.check(origin=collection.manifest.origin)
        if print_hashes:
            _print_hashes(collection)
            return
        if place.https:
            print(_EXPOSED, file=sys.stderr)
        _serve(collection, place, reports_per_hour or _usual_limit(collection))
    finally:
        collection.close()


def close(
    file: Questionnaire,
    store: Store = None,
    rehearsal: Rehearsal = False,
    without_waiting: Annotated[
        bool,
        typer.Option(
            "--without-waiting", help="Give up waiting reports whose sealing key is lost."
        ),
    ] = False,
) -> None:
    """End a survey: the reports that wait are written, and no more are taken."""
    from deniable.exact.suggestions import pluralize
    from deniable.surveys.collect.collection import CollectionChoices

    collection = reopen_survey(file, CollectionChoices(rehearsal=rehearsal, store=store))
    try:
        collection.store.close_survey(without_waiting=without_waiting)
        totals = collection.totals()
    finally:
        collection.close()
    print(f"Closed, with {pluralize(totals.reports, 'report')}.")
    if collection.manifest.mode != "open":
        accepted = pluralize(totals.accepted, "report")
        print(f"Given out: {pluralize(totals.invited, 'invitation')}; accepted: {accepted}.")
    if collection.manifest.mode == "pass":
        print(f"Exchanged for a pass: {pluralize(totals.exchanged, 'invitation')}.")
    again = " --rehearsal" if rehearsal else ""
    print(f"Read them:   deniable survey report {file}{again}")


def _usual_limit(collection: "SurveyCollection") -> int:
    """How many reports of one address an open link takes in an hour."""
    if collection.manifest.rehearsal:
        return REHEARSAL_REPORTS
    return KIOSK_REPORTS if collection.manifest.kiosk else USUAL_REPORTS


def _serve(collection: "SurveyCollection", place: "ServerPlace", reports_per_hour: int) -> None:
    from deniable.app.server.application import make_application
    from deniable.app.server.serving import serve as serve_application
    from deniable.app.server.survey_pages import pages_of
    from deniable.app.server.survey_routes import survey_router

    collection.store.write_batches()  # one may have been due when the last server ended
    router = survey_router(collection, pages_of(collection), reports_per_hour=reports_per_hour)
    https = place.https or (collection.manifest.origin or "").startswith("https:")

    def tell(url: str) -> None:
        address = collection.manifest.origin or url
        print(f"Survey:   {address}/s/{collection.manifest.survey}")
        print(f"Results:  {address}/r/{collection.results_secret}   (keep this link secret)")
        print(f"Manifest: {collection.manifest.hash}", flush=True)

    serve_application(make_application(router, https=https), place, ready=tell)


def _print_hashes(collection: "SurveyCollection") -> None:
    from deniable.app.server.survey_pages import hash_pages

    print(json.dumps(hash_pages(collection.manifest), indent=1, sort_keys=True))
