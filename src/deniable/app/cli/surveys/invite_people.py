"""`deniable survey invite`: tokens for a mail merge, with QR codes.

A token stands in the part of the link after #, which browsers do not send to a server. The
manifest's hash stands there too, so the page refuses a survey that promises something else.
A browser keeps the links that were opened in its history. People who do not want that open the
survey's bare address, or a saved page, and paste the code: what stands after #.
"""

import csv
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

import deniable as dp
from deniable.app.cli.surveys.opened_survey import (
    Mode,
    Origin,
    Questionnaire,
    Rehearsal,
    SealingKey,
    Store,
    open_survey,
)

if TYPE_CHECKING:
    from deniable.surveys.questionnaire.manifest import Manifest
    from deniable.surveys.questionnaire.manifest import Mode as ModeName

MOST_PEOPLE = 1_000_000


def invite(
    file: Questionnaire,
    people: Annotated[int, typer.Option(help="How many people.", min=1, max=MOST_PEOPLE)],
    out: Annotated[Path, typer.Option(help="The CSV file to write.", metavar="CSV")],
    qr_codes: Annotated[
        Path | None, typer.Option(help="A folder for QR codes as PNG.", metavar="FOLDER")
    ] = None,
    store: Store = None,
    sealing_key: SealingKey = None,
    mode: Mode = None,
    origin: Origin = None,
    rehearsal: Rehearsal = False,
) -> None:
    """Make invitations: one link for each person, in a CSV file for a mail merge."""
    from deniable.surveys.collect.collection import CollectionChoices

    if out.exists():
        raise dp.InvalidParameter(f"{out.name} exists already. Choose another name.")
    survey = dp.surveys.load(file)
    mode_name = mode or ("pass" if survey.mode == "open" else None)
    choices = CollectionChoices(
        cast("ModeName | None", mode_name), origin, rehearsal, store, sealing_key
    )
    collection = open_survey(file, choices)
    try:
        if collection.manifest.origin is None:
            raise dp.InvalidParameter(
                "An invitation is a link, so it needs --origin, the address at which people "
                "reach the survey, from the first command on."
            )
        links = [
            invitation_link(collection.manifest, token) for token in collection.invite(people)
        ]
    finally:
        collection.close()
    _write_private(out, _csv(links, qr_codes).encode())
    print(f"{out}: {people:,} invitations. Anyone who has a link can answer for that person.")


def invitation_link(manifest: "Manifest", token: str) -> str:
    """The link for one person.

    >>> from types import SimpleNamespace
    >>> manifest = SimpleNamespace(origin="https://a.example", survey="s", hash="ab" * 32)
    >>> invitation_link(manifest, "01" * 16)[:60]
    'https://a.example/s/s#01010101010101010101010101010101.ababa'
    """
    return f"{manifest.origin}/s/{manifest.survey}#{token}.{manifest.hash}"


def _csv(links: list[str], qr_codes: Path | None) -> str:
    """The number of each person, the link, its code, and a QR code as a picture in the text."""
    try:
        import segno
    except ModuleNotFoundError:
        raise dp.MissingExtra(
            "QR codes need the package segno. Install it with   pip install 'deniable[server]'"
        ) from None
    if qr_codes is not None:
        qr_codes.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(["number", "link", "code", "qr_svg", *(["qr_file"] if qr_codes else [])])
    for number, link in enumerate(links, start=1):
        code = segno.make(link, error="m", micro=False)
        row = [number, link, link.partition("#")[2], code.svg_data_uri(border=2)]
        if qr_codes is not None:
            picture = qr_codes / f"{number:06}.png"
            image = io.BytesIO()
            code.save(image, kind="png", scale=4, border=2)
            picture.unlink(missing_ok=True)
            _write_private(picture, image.getvalue())
            row.append(str(picture))
        table.writerow(row)
    return text.getvalue()


def _write_private(file: Path, content: bytes) -> None:
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as out:
        out.write(content)
