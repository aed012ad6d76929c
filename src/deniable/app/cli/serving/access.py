"""`deniable token new` and `deniable token revoke`: who may ask a server."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.errors import InvalidParameter

if TYPE_CHECKING:
    from deniable.app.server.accounts.identity import Identities

Database = Annotated[
    Path | None,
    typer.Option(help="The server's database: deniable.server.sqlite.", metavar="FILE"),
]
PeoplesPlace = Annotated[
    str | None,
    typer.Option(
        "--database",
        help="The server's database, or the address in PostgreSQL where people are kept.",
        metavar="PLACE",
    ),
]
tokens = typer.Typer(
    name="token", help="Give people tokens for a server.", no_args_is_help=True
)


@tokens.command()
def new(
    person: Annotated[str, typer.Argument(help="The name of the person's budget.")],
    policy: Annotated[
        list[str] | None, typer.Option(help="A policy that the token opens; all unless given.")
    ] = None,
    table: Annotated[
        list[str] | None, typer.Option(help="A table that the token opens; all unless given.")
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="A token that can look, but spend nothing.")
    ] = False,
    days: Annotated[int, typer.Option(help="When the token ends.", min=1, max=3650)] = 365,
    database: PeoplesPlace = None,
) -> None:
    """Print a new token of a person. It is shown this once: only its hash is stored."""
    token = open_identities(database).new_token(
        person,
        role=None,
        read_only=read_only,
        policies=tuple(policy) if policy else None,
        tables=tuple(table) if table else None,
        days=days,
    )
    print(token)


@tokens.command()
def revoke(
    token: Annotated[
        str | None,
        typer.Argument(help="The token or its id; read from standard input if missing."),
    ] = None,
    database: PeoplesPlace = None,
) -> None:
    """End a token. What it paid for stays paid."""
    text = token if token is not None else input()
    if not open_identities(database).revoke(text.strip()):
        raise InvalidParameter("This token is unknown, so there is nothing to end.")
    print("Revoked.")


def open_identities(database: str | None) -> "Identities":
    """The people in a server's database."""
    from deniable.app.server.accounts.account_stores import open_store
    from deniable.app.server.accounts.identity import Identities

    return Identities(open_store(database))
