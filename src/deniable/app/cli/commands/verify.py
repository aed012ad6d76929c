"""`deniable verify`: whether a release's certificate holds, offline."""

from pathlib import Path
from typing import Annotated

import typer

import deniable as dp
from deniable.app.cli.commands.ledger import public_key, read

ReleaseFile = Annotated[
    Path, typer.Argument(help="A release, or its certificate.", metavar="RELEASE")
]
PublicKey = Annotated[
    str | None,
    typer.Option("--key", help="The owner's public key, or its file.", metavar="KEY"),
]


def verify(release: ReleaseFile, key: PublicKey = None) -> None:
    """Check a release: signature, sensitivities, noise, price and margins, all anew.

    Needs no data, no ledger and no network. Without --key it is checked with the key that it
    names; compare that key with the one that the owner published.
    """
    given = None if key is None else public_key(key)
    found = dp.verify(read(release), key=given)
    for check in found.checks:
        print(f"✓ {check}")
    if given is None:
        print(f"Its key is {found.certificate.key}: ask the owner whether that is theirs.")
