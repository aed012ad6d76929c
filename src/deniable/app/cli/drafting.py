"""`deniable init`: drafts a policy from names and types; no value is read."""

import os
from pathlib import Path
from typing import Annotated

import typer

import deniable as dp


def init(
    source: Annotated[
        str,
        typer.Argument(help="A CSV, Parquet or DuckDB file.", metavar="FILE"),
    ],
    out: Annotated[Path, typer.Option(help="The policy to write.", metavar="POLICY")] = Path(
        "deniable.toml"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace an older one.")] = False,
) -> None:
    """Draft a policy for a file, from its columns' names and types alone.

    What only you can decide is marked FILL IN. Not one value is looked at.
    """
    if out.exists() and not force:
        raise dp.InvalidParameter(
            f"{str(out)!r} is there already. Write elsewhere with --out, or replace it with "
            "--force."
        )
    text = drafted(source, out.parent)
    out.write_text(text, encoding="utf-8")
    print(f"{out} is drafted: {text.count(MARK_LINE)} lines are yours to FILL IN.")
    print(f"The key that signs its ledger is {key_for(out)}: keep it to yourself.")
    print("Then ask what there is with   deniable tables")


def key_for(policy: Path) -> Path:
    """The file of the signing key, made if there is none."""
    from deniable.policy.stores import stored
    from deniable.release.keys import Key

    place = Path(str(stored(None, None, policy)["ledger_key"]))
    Key.kept(place)
    return place


MARK_LINE = '= "FILL IN"'


def drafted(source: str, folder: Path) -> str:
    """The draft for a file, as a policy in that folder would name it."""
    from deniable.engines.duckdb import DuckDB, inside
    from deniable.policy.draft import draft

    names = inside(source)
    opened = {name: f"{source}#{name}" for name in names} or {called(source): source}
    with DuckDB.open(opened) as engine:
        schemas = {name: engine.schema(name) for name in opened}
    nearby = os.path.relpath(source, folder)
    written = {name: nearby + one.removeprefix(source) for name, one in opened.items()}
    return draft(schemas, written)


def called(source: str) -> str:
    """A table's name, after its file.

    >>> called("data/Visits 2024.csv.gz"), called("2024.parquet")
    ('Visits_2024', 'data')
    """
    path, _, inner = source.partition("#")
    stem = inner or Path(path).name.partition(".")[0]
    name = "".join(one if one.isalnum() else "_" for one in stem).strip("_")
    return name if name.isidentifier() else "data"
