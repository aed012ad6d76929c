"""`deniable verify`: check a release's certificate, offline."""

from pathlib import Path
from typing import Annotated

import typer

import deniable as dp
from deniable.app.cli.commands.ledger import read_public_key, read_text

ReleaseFile = Annotated[
    Path, typer.Argument(help="A release, or its certificate.", metavar="RELEASE")
]
PublicKey = Annotated[
    str | None,
    typer.Option("--key", help="The owner's public key, or its file.", metavar="KEY"),
]


def verify(release: ReleaseFile, key: PublicKey = None) -> None:
    """Check a release: recompute its signature, sensitivities, noise, price and margins.

    Needs no data, no ledger and no network. Without --key, the key in the release is used:
    compare it with the key that the owner published.
    """
    given = None if key is None else read_public_key(key)
    verified = dp.verify(read_text(release), key=given)
    for check in verified.checks:
        print(f"✓ {check}")
    if given is None:
        print(f"It names the key {verified.certificate.key}. Ask the owner if it is theirs.")
