"""`deniable publish`: released tables for tools that know nothing of privacy."""

from pathlib import Path
from typing import Annotated

import typer

Place = Annotated[
    str,
    typer.Argument(
        help="A folder (Parquet), a file.duckdb, or postgresql://host/database#schema.",
        metavar="PLACE",
        show_default=False,
    ),
]
Releases = Annotated[
    list[Path],
    typer.Argument(
        help="Releases, as `deniable sql --certificate` and `Release.save` write them.",
        metavar="RELEASES...",
        show_default=False,
    ),
]
OwnersKey = Annotated[
    str, typer.Option("--key", help="The owner's public key, or its file.", metavar="KEY")
]


def publish(place: Place, releases: Releases, key: OwnersKey) -> None:
    """Write released tables as Parquet, into a DuckDB file or into a PostgreSQL schema.

    Each number has columns for the ends of its interval, and each row the id of its
    certificate. Every release is verified first. Reading these tables costs nothing.
    """
    from deniable.app.cli.commands.ledger import read_public_key
    from deniable.app.publish.released_tables import check_names, read_released
    from deniable.exact.suggestions import pluralize
    from deniable.policy.postgresql_addresses import is_postgresql

    owner = read_public_key(key)
    tables = [read_released(file, key=owner) for file in releases]
    check_names(tables)
    if is_postgresql(place):
        from deniable.app.publish.postgresql_schema import write_schema

        where = f"the schema {write_schema(place, tables)}"
    elif place.endswith(".duckdb"):
        from deniable.app.publish.duckdb_file import write_duckdb

        write_duckdb(Path(place), tables)
        where = place
    else:
        from deniable.app.publish.parquet_folder import write_folder

        write_folder(Path(place), tables)
        where = place
    print(f"Published {pluralize(len(tables), 'table')} to {where}.")
