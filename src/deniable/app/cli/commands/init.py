"""`deniable init`: drafts a policy from names and types; no value is read."""

import os
from pathlib import Path
from typing import Annotated

import typer

import deniable as dp


def init(
    source: Annotated[
        str,
        typer.Argument(
            help="A CSV, Parquet or DuckDB file; or an address: postgresql://, spark://, "
            "ibis://, or '$NAME' for one in the environment.",
            metavar="SOURCE",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The policy to write.", metavar="POLICY")] = Path(
        "deniable.toml"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace an older one.")] = False,
) -> None:
    """Draft a policy for a file or a database, from its columns' names and types alone.

    What only you can decide is marked FILL IN. Not one value is looked at. Passwords and
    tokens come from the environment, never from an address on the command line.
    """
    if out.exists() and not force:
        raise dp.InvalidParameter(
            f"{str(out)!r} is there already. Write elsewhere with --out, or replace it with "
            "--force."
        )
    text = drafted(source, out.parent)
    try:
        out.write_text(text, encoding="utf-8")
        key = key_for(out)
    except OSError as problem:
        raise dp.InvalidParameter(
            f"{str(problem.filename or out)!r} cannot be written: {problem.strerror}. Write "
            "into a folder of yours with --out."
        ) from None
    print(f"{out} is drafted: {text.count(MARK_LINE)} lines are yours to FILL IN.")
    print(f"The key that signs its ledger is {key}: keep it to yourself.")
    print("Then ask what there is with   deniable tables")


def key_for(policy: Path) -> Path:
    """The file of the signing key, made if there is none."""
    from deniable.ledger.signing_keys import SigningKey
    from deniable.policy.ledger_settings import locate_ledger

    place = Path(str(locate_ledger(None, None, policy)["ledger_key"]))
    SigningKey.read_or_create(place)
    return place


MARK_LINE = '= "FILL IN"'


def drafted(source: str, folder: Path) -> str:
    """The draft for a file or an address, as a policy in that folder would name it."""
    from deniable.engines.opening import list_tables, open_engine
    from deniable.policy.draft import draft
    from deniable.policy.source_addresses import is_address

    there, tables = is_address(source), list_tables(source)
    if there and not tables and not alone(source):
        raise dp.InvalidPolicy("There is no table at this address that may be read.")
    names = distinct(tables) if there else dict(zip(tables, tables, strict=True))
    chosen = {name: f"{source}#{table}" for name, table in names.items()}
    chosen = chosen or {called(source): source}
    with open_engine(chosen) as engine:
        schemas = {name: engine.schema(name) for name in chosen}
    if there:
        return draft(schemas, chosen)
    nearby = os.path.relpath(source, folder)
    written = {name: nearby + one.removeprefix(source) for name, one in chosen.items()}
    return draft(schemas, written)


def alone(source: str) -> bool:
    """Whether an address names its one table.

    >>> alone("postgresql://reader@db/hospital"), alone("spark://local?parquet=/data/visits")
    (False, True)
    """
    from deniable.policy.source_addresses import read_address

    found = read_address(source)
    return found.table is not None or "parquet=" in found.address


def distinct(tables: list[str]) -> dict[str, str]:
    """Each table under a name of its own: its last word, or all of it where two share that.

    >>> list(distinct(["public.visits", "old.visits", 'public."The Wards"']))
    ['public.visits', 'old.visits', 'The Wards']
    """
    last = [one.rpartition(".")[2].strip('"`') for one in tables]
    return {
        short if last.count(short) == 1 else table: table
        for short, table in zip(last, tables, strict=True)
    }


def called(source: str) -> str:
    """A table's name, after its file or what stands after #.

    >>> called("data/Visits 2024.csv.gz"), called("2024.parquet")
    ('Visits_2024', 'data')
    >>> called("spark://local?parquet=/data/visits/"), called("ibis://duckdb/a.db#main.visits")
    ('visits', 'visits')
    """
    from deniable.policy.source_addresses import is_address, read_address

    if is_address(source):
        found = read_address(source)
        return word(
            (found.table or found.address.rstrip("/").rpartition("/")[2]).rpartition(".")[2]
        )
    path, _, inner = source.partition("#")
    return word(inner or Path(path).name.partition(".")[0])


def word(name: str) -> str:
    """A name of letters, digits and underscores that is like another."""
    plain = "".join(one if one.isalnum() else "_" for one in name).strip("_")
    return plain if plain.isidentifier() else "data"
