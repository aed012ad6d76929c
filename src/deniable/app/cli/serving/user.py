"""`deniable user` and `deniable who`: the people of a server, and how they log in."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.app.cli.serving.access import PeoplesPlace, open_identities
from deniable.errors import InvalidParameter

if TYPE_CHECKING:
    from deniable.app.server.accounts.people import Account

users = typer.Typer(name="user", help="Add people to a server.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The person's name, which is that of the budget.")]
Policies = Annotated[
    list[str] | None,
    typer.Option("--policy", help="A policy that the person may use; all unless given."),
]
Tables = Annotated[
    list[str] | None,
    typer.Option("--table", help="A table that the person may use; all unless given."),
]
AskPassword = Annotated[
    bool, typer.Option("--password", help="Ask for a password, which is not shown.")
]
PasswordFile = Annotated[
    Path | None, typer.Option(help="The file that holds the password.", metavar="FILE")
]
Codes = Annotated[
    bool,
    typer.Option("--codes", help="Also ask for the codes of an authenticator app at log-in."),
]


@users.command()
def add(
    name: Name,
    role: Annotated[str, typer.Option(help="owner, analyst, auditor, pollster or operator.")],
    ask_password: AskPassword = False,
    password_file: PasswordFile = None,
    codes: Codes = False,
    policy: Policies = None,
    table: Tables = None,
    database: PeoplesPlace = None,
) -> None:
    """Add a person. Nobody is ever added by logging in.

    Without a password the person uses tokens, or logs in elsewhere (`deniable user link`).
    """
    password, secret = _read_login(ask_password, password_file, codes)
    people = open_identities(database).people
    granted = {"policies": _names(policy), "tables": _names(table)}
    added = people.add(name, role=role, password_hash=password, code_secret=secret, **granted)
    print(f"Added {added}, {role}.")
    _show_codes(secret, added)


@users.command()
def grant(
    name: Name,
    policy: Policies = None,
    table: Tables = None,
    database: PeoplesPlace = None,
) -> None:
    """Replace which policies and tables a person may use. Tokens can only narrow that."""
    people = open_identities(database).people
    people.grant(name, policies=_names(policy), tables=_names(table))
    print("Granted.")


@users.command()
def password(
    name: Name,
    password_file: PasswordFile = None,
    codes: Codes = False,
    database: PeoplesPlace = None,
) -> None:
    """Change a person's password. All sessions of the person end."""
    changed, secret = _read_login(password_file is None, password_file, codes)
    assert changed is not None
    people = open_identities(database).people
    people.change_password(name, changed, secret)
    print("Changed.")
    _show_codes(secret, people.find(name))


@users.command()
def link(
    name: Name,
    issuer: Annotated[str, typer.Option(help="The issuer, as the provider names itself.")],
    subject: Annotated[str, typer.Option(help="The person's `sub` there; not an e-mail.")],
    database: PeoplesPlace = None,
) -> None:
    """Let a person log in elsewhere: one subject of one OpenID provider."""
    open_identities(database).people.link(name, issuer=issuer, subject=subject)
    print("Linked.")


@users.command()
def disable(name: Name, database: PeoplesPlace = None) -> None:
    """End all sessions and tokens of a person. The name stays taken, and so does its budget."""
    open_identities(database).people.disable(name)
    print("Disabled.")


def who(database: PeoplesPlace = None) -> None:
    """List the people of a server, how they log in, and their tokens."""
    accounts = open_identities(database).people.listed()
    for account in accounts:
        print(describe_account(account))
    if not accounts:
        print("Nobody yet. Add a person with   deniable user add NAME --role ROLE")


def describe_account(account: "Account") -> str:
    """A person in a line, and each token in a line below."""
    ways = ["password"] * account.password + ["codes"] * account.codes
    ways += [f"{subject} at {issuer}" for issuer, subject in account.subjects]
    state = "disabled" if account.disabled else ", ".join(ways) or "tokens only"
    scope = "" if account.scope == "everything" else f"  {account.scope}"
    lines = [f"{account.name}  {account.role}  {state}{scope}"]
    lines += [f"  token {id_}  {scope}  until {end}" for id_, scope, end in account.tokens]
    return "\n".join(lines)


def _names(names: list[str] | None) -> tuple[str, ...] | None:
    return tuple(names) if names else None


def _read_login(ask: bool, file: Path | None, codes: bool) -> tuple[str | None, str | None]:
    """The hash of a password, and a new secret for codes."""
    from deniable.app.server.accounts.one_time_codes import make_secret
    from deniable.app.server.accounts.passwords import Passwords

    if ask and file is not None:
        raise InvalidParameter("Give one of --password and --password-file.")
    if file is not None:
        password_text = _read_file(file)
    elif ask:
        password_text = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    elif codes:
        raise InvalidParameter("--codes need a password: give --password as well.")
    else:
        return None, None
    return Passwords().hash(password_text), make_secret() if codes else None


def _read_file(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, ValueError):
        raise InvalidParameter(f"{str(file)!r} cannot be read as text.") from None


def _show_codes(secret: str | None, name: str) -> None:
    if secret is not None:
        from deniable.app.server.accounts.one_time_codes import setup_uri

        print("Set up the authenticator app with this address. It is shown this once:")
        print(setup_uri(secret, name))
