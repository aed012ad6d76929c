"""`deniable label`: the privacy label of a release, for the people in the data."""

from pathlib import Path
from typing import Annotated

import typer

import deniable as dp
from deniable.app.cli import session_options
from deniable.app.cli.commands.ledger import read_bytes, read_public_key
from deniable.app.cli.commands.verify import PublicKey, ReleaseFile


def label(
    release: ReleaseFile,
    html: Annotated[
        Path | None, typer.Option(help="Also write an HTML page.", metavar="FILE")
    ] = None,
    key: PublicKey = None,
) -> None:
    """Say in plain words what a release reveals about a person in the data.

    The certificate of the release is checked first. The exit status is that of `verify`.
    """
    from deniable.exact.foreign_text import quoted
    from deniable.release.certificate.label import label_title, make_label
    from deniable.release.certificate.label_page import label_page
    from deniable.release.certificate.outer_certificate import VerifiedOuter
    from deniable.synth.copies.any_certificate import VerifiedCopy

    session_options.check_writable(html)
    public_key = None if key is None else read_public_key(key)
    verified = dp.verify(read_bytes(release), key=public_key)
    if isinstance(verified, VerifiedCopy):
        text = verified.certificate.label
        title = f"A private copy of {quoted(verified.certificate.statement['table'])}"
    elif isinstance(verified, VerifiedOuter):
        raise dp.InvalidCertificate(
            "This release has several parts. Make a label of each private part, in `inner`."
        )
    else:
        text, title = make_label(verified), label_title(verified)
    print(text)
    if html is not None:
        html.write_text(label_page(text, title=title), encoding="utf-8")
        print(f"\nThe page is in {html}")
    if not verified.signer_known:
        raise typer.Exit(1)
