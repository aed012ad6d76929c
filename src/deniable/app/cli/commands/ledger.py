"""`deniable ledger`: the charges so far, a check that nothing was changed, and the head."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import deniable as dp
from deniable.app.cli import session_options

if TYPE_CHECKING:
    from deniable.ledger import Entry, Head

ledger = typer.Typer(help="What was spent, and that nobody changed it.", no_args_is_help=True)


@ledger.command()
def log(
    policy: session_options.PolicyFile = session_options.POLICY,
    analyst: session_options.Analyst = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List every charge: when, by whom, about what, for how much, and how it ended."""
    with session_options.ledger(policy) as opened:
        entries = [one for one in opened.entries if analyst in (None, one.analyst)]
    if as_json:
        for one in entries:
            print(json.dumps(asdict(one), default=str))
        return
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    drawn = Table(
        *("entry", "time", "analyst", "about", "epsilon", "delta", "state"), box=box.SIMPLE_HEAD
    )
    for one in entries:
        drawn.add_row(*(escape(cell) for cell in cells(one)))
    Console(highlight=False).print(drawn)


def cells(entry: "Entry") -> tuple[str, ...]:
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
            help="An earlier head, or a release that carries one; may be repeated.",
            metavar="FILE",
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(help="Check this ledger, without a policy.", metavar="FILE"),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(help="The public key, or its file; with --store.", metavar="KEY"),
    ] = None,
) -> None:
    """Replay the whole ledger: any change, deletion, swap or truncation is found.

    With an earlier head (`deniable ledger head`, or a release) also a ledger that was set back
    to an older copy.
    """
    heads = [head_in(path) for path in head or ()]
    if store is not None:
        if key is None:
            raise dp.InvalidParameter("--store needs --key, the public key to check it with.")
        from deniable.ledger import verify_ledger

        found = verify_ledger(store, public_key=public_key(key), heads=heads)
    else:
        with session_options.ledger(policy) as opened:
            found = opened.verify(heads)
    earlier = f", with {found.earlier} earlier head(s) in place" if found.earlier else ""
    print(f"The ledger is sound: {found.entries:,} entries{earlier}.")
    print(f"Its head is entry {found.head.number}, {found.head.hash}")


@ledger.command()
def head(policy: session_options.PolicyFile = session_options.POLICY) -> None:
    """Print the signed head: keep it elsewhere, and a ledger set back to before it shows."""
    with session_options.ledger(policy) as opened:
        print(json.dumps(asdict(opened.head) | {"key": opened.public_key}, indent=2))


def head_in(path: Path) -> "Head":
    """The head in a file: one that was printed, or that of a release or certificate."""
    from deniable.ledger import Head
    from deniable.query.plan.canonical import parse_json

    found: Any = parse_json(read(path))
    try:
        found = found.get("certificate", found)
        found = found["statement"]["ledger"]["head"] if "statement" in found else found
        return Head(*(found[name] for name in ("number", "hash", "state", "signature")))
    except (AttributeError, KeyError, TypeError):
        raise dp.InvalidParameter(f"There is no ledger's head in {str(path)!r}.") from None


def public_key(text: str) -> str:
    """A public key given as such, or in a file.

    >>> public_key(" ab12\\n")
    'ab12'
    """
    return (read(Path(text)) if Path(text).is_file() else text).strip()


def read(path: Path) -> str:
    """A file's text."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise dp.InvalidParameter(f"{str(path)!r} cannot be read.") from None
