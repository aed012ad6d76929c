"""`deniable label`: the privacy label of a release, for those who are in the data."""

from pathlib import Path
from typing import Annotated

import typer

import deniable as dp
from deniable.app.cli import session_options
from deniable.app.cli.commands.ledger import public_key, read
from deniable.app.cli.commands.verify import PublicKey, ReleaseFile


def label(
    release: ReleaseFile,
    html: Annotated[
        Path | None, typer.Option(help="Write a page as well.", metavar="FILE")
    ] = None,
    key: PublicKey = None,
) -> None:
    """Say in plain words what a release tells about anybody in the data.

    Its certificate is checked first.
    """
    from deniable.release.certificate.label import make_label as labelled
    from deniable.release.certificate.label_page import label_page

    session_options.writable(html)
    found = dp.verify(read(release), key=None if key is None else public_key(key))
    made = labelled(found.certificate.statement)
    print(made)
    if html is not None:
        asked = [one["about"] for one in found.certificate.statement["margins"]["outputs"]]
        keys = [f" by {one.name}" for one in found.plan.keys]
        title = f"{', '.join(asked)}{''.join(keys)}, from {', '.join(found.plan.tables)}"
        html.write_text(label_page(made, title=title, key=found.certificate.key), encoding="utf-8")
        print(f"\nThe page is in {html}")
