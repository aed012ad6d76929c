"""`deniable verify`: check a release's certificate, offline."""

from pathlib import Path
from typing import Annotated

import typer

import deniable as dp
from deniable.app.cli.commands.ledger import read_bytes, read_public_key

ReleaseFile = Annotated[
    Path, typer.Argument(help="A release, or its certificate.", metavar="RELEASE")
]
PublicKey = Annotated[
    str | None,
    typer.Option("--key", help="The owner's public key, or its file.", metavar="KEY"),
]


def verify(release: ReleaseFile, key: PublicKey = None) -> None:
    """Check a release: recompute its signature, sensitivities, noise, price and margins.

    The certificate of a copy is checked in the same way, with all of its steps.

    Needs no data, no ledger and no network. Exit status 0: all holds, and it was signed with
    the key given. 1: all holds, but without --key nobody knows whose key it is. 2: refused.
    """
    verified = dp.verify(read_bytes(release), key=None if key is None else read_public_key(key))
    for check in verified.checks:
        print(f"✓ {check}")
    if not verified.signer_known:
        print(f"Signed, but by whom is unknown. The key is {verified.certificate.key}")
        print("Ask the owner for theirs, and give it with --key.")
        raise typer.Exit(1)
