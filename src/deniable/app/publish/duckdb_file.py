"""Released tables in a DuckDB file."""

from collections.abc import Sequence
from pathlib import Path

import duckdb

from deniable.app.publish.released_tables import CERTIFICATES, ReleasedTable
from deniable.errors import InvalidParameter


def write_duckdb(file: Path, tables: Sequence[ReleasedTable]) -> None:
    """Writes all tables in one transaction. Tables of the same names are replaced."""
    try:
        with duckdb.connect(str(file)) as connection:
            connection.execute("BEGIN")
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {CERTIFICATES}"
                " (certificate_id VARCHAR PRIMARY KEY, certificate VARCHAR NOT NULL)"
            )
            for table in tables:
                connection.register("rows_to_publish", table.rows)
                connection.execute(
                    f'CREATE OR REPLACE TABLE "{table.name}" AS SELECT * FROM rows_to_publish'
                )
                connection.unregister("rows_to_publish")
                connection.execute(
                    f"INSERT OR REPLACE INTO {CERTIFICATES} VALUES (?, ?)",
                    [table.certificate_id, table.certificate],
                )
            connection.execute("COMMIT")
    except duckdb.Error as problem:
        raise InvalidParameter(
            f"{str(file)!r} cannot be written ({type(problem).__name__}): it is in use, is no "
            "DuckDB file, or its folder is missing."
        ) from None
