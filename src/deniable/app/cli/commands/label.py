"""`deniable label`: the privacy label of a release, for the people in the data."""

from pathlib import Path
from typing import Annotated

import typer

import deniable as dp
from deniable.app.cli import session_options
from deniable.app.cli.commands.ledger import read_public_key, read_text
from deniable.app.cli.commands.verify import PublicKey, ReleaseFile


def label(
    release: ReleaseFile,
    html: Annotated[
        Path | None, typer.Option(help="Also write an HTML page.", metavar="FILE")
    ] = None,
    key: PublicKey = None,
) -> None:
    """Say in plain words what a release reveals about a person in the data.

    The certificate of the release is checked first.
    """
    from deniable.release.certificate.label import make_label
    from deniable.release.certificate.label_page import label_page

    session_options.check_writable(html)
    verified = dp.verify(read_text(release), key=None if key is None else read_public_key(key))
    certificate, plan = verified.certificate, verified.plan
    text = make_label(certificate.statement)
    print(text)
    if html is not None:
        outputs = [output["about"] for output in certificate.statement["margins"]["outputs"]]
        keys = [f" by {column.name}" for column in plan.keys]
        title = f"{', '.join(outputs)}{''.join(keys)}, from {', '.join(plan.tables)}"
        page = label_page(text, title=title, key=certificate.key)
        html.write_text(page, encoding="utf-8")
        print(f"\nThe page is in {html}")
