"""`deniable ledger`: the charges so far, a check that none was changed, and the head."""

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import deniable as dp
from deniable.app.cli import session_options

if TYPE_CHECKING:
    from deniable.ledger import Entry, Head

ledger = typer.Typer(
    help="List what was spent, and check that the ledger was not changed.",
    no_args_is_help=True,
)


@ledger.command()
def log(
    policy: session_options.PolicyFile = session_options.POLICY,
    analyst: Annotated[
        str | None, typer.Option(help="Only the charges of this analyst.", metavar="NAME")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line.")] = False,
) -> None:
    """List every charge: its time, analyst, table, amount, and how it ended."""
    with session_options.open_policy_ledger(policy) as opened:
        entries = [entry for entry in opened.entries if _is_by(entry, analyst)]
    if as_json:
        for entry in entries:
            print(json.dumps(asdict(entry), default=str))
        return
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from deniable.exact.foreign_text import printable

    table = Table(
        *("entry", "time", "analyst", "about", "epsilon", "delta", "state"), box=box.SIMPLE_HEAD
    )
    for entry in entries:
        table.add_row(*(escape(printable(cell)) for cell in entry_cells(entry)))
    Console(highlight=False).print(table)


def _is_by(entry: "Entry", analyst: str | None) -> bool:
    from deniable.ledger.entries import known_as  # slow to import

    return analyst is None or known_as(entry.analyst) == known_as(analyst)


def entry_cells(entry: "Entry") -> tuple[str, ...]:
    """One charge as a row of text."""
    part = "".join(f" {name.rpartition('#')[0]} = {key}" for name, key in entry.part)
    state = entry.state if entry.reference is None else f"{entry.state} ({entry.reference})"
    return (
        f"{entry.number}.{entry.place}" if entry.place else str(entry.number),
        entry.time.replace("+00:00", "Z"),
        entry.analyst or "",
        f"{entry.table}{part}",
        f"{float(entry.epsilon):g}",
        f"{float(entry.delta):g}",
        state,
    )


@ledger.command()
def verify(
    policy: session_options.PolicyFile = session_options.POLICY,
    head: Annotated[
        list[Path] | None,
        typer.Option(
            help="An earlier head, or a release that holds one; may be repeated.",
            metavar="FILE",
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(help="Check this ledger without a policy.", metavar="FILE"),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(help="The public key, or its file; with --store.", metavar="KEY"),
    ] = None,
) -> None:
    """Replay the whole ledger. This finds any change, deletion, swap or truncation.

    With an earlier head (from `deniable ledger head` or a release) it also finds a ledger that
    was replaced by an older copy.
    """
    from deniable.exact.foreign_text import printable  # slow to import
    from deniable.exact.suggestions import pluralize

    heads = [read_head(path) for path in head or ()]
    if store is not None:
        if key is None:
            raise dp.InvalidParameter("--store needs --key: the public key to check it with.")
        from deniable.ledger import verify_ledger

        verified = verify_ledger(store, public_key=read_public_key(key), heads=heads)
    else:
        with session_options.open_policy_ledger(policy) as opened:
            verified = opened.verify(heads)
    heads_found = pluralize(verified.earlier, "earlier head")
    earlier = f", and it contains {heads_found}" if verified.earlier else ""
    print(f"The ledger is sound. It has {verified.entries:,} entries{earlier}.")
    print(f"Its head is entry {verified.head.number}, {verified.head.hash}")
    print(f"Its id is {printable(verified.id)}")
    if verified.because:
        print(f"It was begun because: {printable(verified.because)}")


@ledger.command()
def begin(
    policy: session_options.PolicyFile = session_options.POLICY,
    because: Annotated[
        str,
        typer.Option(help="Why a ledger is begun where there was one.", metavar="REASON"),
    ] = "",
) -> None:
    """Begin another ledger for a policy whose ledger is lost. Its budget starts again.

    What the new ledger grants is spent in addition to all that was spent before. The reason is
    recorded in its first entry. The file of an older ledger stays, under another name.
    """
    from deniable.ledger.beginning import begin_ledger

    print(
        f"The ledger {begin_ledger(policy, because=because)} is begun, with its whole budget."
    )


@ledger.command()
def amend(
    policy: session_options.PolicyFile = session_options.POLICY,
    because: Annotated[
        str,
        typer.Option(help="Why the policy may give away more than before.", metavar="REASON"),
    ] = "",
) -> None:
    """Consent to an edited policy that gives away more than before.

    What narrows a policy needs no consent. The reason, and what is given away in epsilon, are
    recorded in the ledger.
    """
    from deniable.ledger.beginning import amend_ledger

    gifts = amend_ledger(policy, because=because)
    print("The policy is in force. It gives away:" if gifts else "The policy is in force.")
    for gift in gifts:
        print(f"  {gift}")


@ledger.command()
def accept(
    policy: session_options.PolicyFile = session_options.POLICY,
    because: Annotated[
        str,
        typer.Option(help="Why this is the latest copy of the ledger.", metavar="REASON"),
    ] = "",
) -> None:
    """Use a ledger whose mark is not on this host, such as one restored from a backup.

    The mark says how far the ledger was. Without it an older copy is not noticed, and what was
    spent since would be spent again. Every entry is checked, and the reason is recorded.
    """
    from deniable.ledger.beginning import accept_ledger

    print(f"The ledger is accepted. It has {accept_ledger(policy, because=because)} entries.")


@ledger.command()
def migrate(policy: session_options.PolicyFile = session_options.POLICY) -> None:
    """Bring a ledger of an older format to the format of this version.

    Entries are added; all entries before them stay as they are. Earlier heads and certificates
    stay valid. Earlier versions of Deniable cannot use the ledger any more.
    """
    from deniable.ledger.durable_ledger import open_ledger
    from deniable.ledger.stores.ledger_formats import FORMAT
    from deniable.policy import load

    open_ledger(load(str(policy)), migrate=True).close()
    print(f"The ledger has format {FORMAT}.")


@ledger.command()
def head(policy: session_options.PolicyFile = session_options.POLICY) -> None:
    """Print the signed head. Keep it elsewhere to detect a ledger replaced by an older copy."""
    with session_options.open_policy_ledger(policy) as opened:
        print(json.dumps(asdict(opened.head) | {"key": opened.public_key}, indent=2))


def read_head(path: Path) -> "Head":
    """The head in a file: a printed head, a release or a certificate."""
    return parse_head(read_bytes(path), repr(str(path)))


def parse_head(content: bytes, name: str) -> "Head":
    """The head in the content of such a file; `name` is that of the file in errors.

    >>> parse_head(b'{"number": 0, "hash": "a", "state": "b", "signature": "c"}', "it").number
    0
    """
    from deniable.ledger import Head
    from deniable.query.plan.canonical import parse_json

    head: Any = parse_json(content)
    try:
        head = head.get("certificate", head)
        head = head["statement"]["ledger"]["head"] if "statement" in head else head
        ledger_head = Head(**{name: value for name, value in head.items() if name != "key"})
    except (AttributeError, KeyError, TypeError):
        ledger_head = Head(-1, "", "", "")
    number, *texts = asdict(ledger_head).values()
    if type(number) is not int or number < 0 or set(map(type, texts)) != {str}:
        raise dp.InvalidParameter(
            f"{name} holds no ledger head. Give a file from `deniable ledger head`, or a "
            "release."
        )
    return ledger_head


def read_public_key(text: str) -> str:
    """A public key: the text itself, or the content of the file that it names.

    >>> read_public_key(f" {'ab' * 32}\\n") == "ab" * 32
    True
    """
    try:
        content = read_bytes(Path(text)).decode("ascii") if Path(text).is_file() else text
    except (OSError, ValueError):  # too long for a name, or not the content of a key's file
        content = text
    key = content.strip().lower()
    if not re.fullmatch("[0-9a-f]{64}", key):
        from deniable.exact.foreign_text import quoted

        raise dp.InvalidParameter(
            "A public key is 64 hexadecimal digits, or the file that holds them, such as "
            f"deniable.ledger.key.pub. Found {quoted(text)}."
        )
    return key


def read_bytes(path: Path) -> bytes:
    """The content of a file, up to the most that is read of any file."""
    from deniable.exact.foreign_text import MOST_BYTES  # slow to import

    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except (OSError, ValueError):
        raise dp.InvalidParameter(
            f"{str(path)!r} cannot be read: it does not exist, or is not a file."
        ) from None
