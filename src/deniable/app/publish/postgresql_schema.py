"""Released tables in a schema of PostgreSQL, by default `released`."""

import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from deniable.app.publish.released_tables import CERTIFICATES, ReleasedTable
from deniable.errors import InvalidParameter, MissingExtra
from deniable.policy.postgresql_addresses import PostgreSQLAddress, read_postgresql

SCHEMA = "released"
_TYPES: dict[str, Any] = {
    "int64": sa.BigInteger,
    "double": sa.Double,
    "bool": sa.Boolean,
    "date32[day]": sa.Date,
    "timestamp[s]": sa.DateTime,
    "string": sa.Text,
}


def write_schema(where: str, tables: Sequence[ReleasedTable]) -> str:
    """Writes all tables in one transaction, and says into which schema. Tables of the same
    names are replaced; a reader sees the old ones or the new ones."""
    address = read_postgresql(where)
    schema = address.name or SCHEMA
    if not re.fullmatch("[a-z_][a-z0-9_]{0,62}", schema):
        raise InvalidParameter(
            "The schema is a name of small letters, digits and _, as in   "
            "postgresql://user@host/statistics#released"
        )
    engine = _open_engine(address)
    try:
        with engine.begin() as connection:
            connection.execute(sa.schema.CreateSchema(schema, if_not_exists=True))
            metadata = sa.MetaData(schema=schema)
            known = _certificates(metadata)
            metadata.create_all(connection)
            for table in tables:
                _write(connection, sa.MetaData(schema=schema), table)
                mine = known.c.certificate_id == table.certificate_id
                connection.execute(known.delete().where(mine))
                row = {"certificate_id": table.certificate_id}
                connection.execute(known.insert(), row | {"certificate": table.certificate})
    except DBAPIError as problem:
        raise InvalidParameter(
            f"{address.shown} cannot be written ({type(problem.orig).__name__}). May this user "
            "create schemas and tables there?"
        ) from None
    finally:
        engine.dispose()
    return schema


def _open_engine(address: PostgreSQLAddress) -> sa.Engine:
    url = sa.URL.create("postgresql+psycopg", **address.parts)
    try:
        return sa.create_engine(url, hide_parameters=True)
    except (ModuleNotFoundError, sa.exc.NoSuchModuleError):
        raise MissingExtra(
            "PostgreSQL needs the package psycopg. Install it with   "
            "pip install 'deniable[postgresql]'"
        ) from None


def _certificates(metadata: sa.MetaData) -> sa.Table:
    return sa.Table(
        CERTIFICATES,
        metadata,
        sa.Column("certificate_id", sa.Text, primary_key=True),
        sa.Column("certificate", sa.Text, nullable=False),
    )


def _write(
    connection: sa.Connection, metadata: sa.MetaData, released_table: ReleasedTable
) -> None:
    columns = [sa.Column(field.name, _type(field)) for field in released_table.rows.schema]
    table = sa.Table(released_table.name, metadata, *columns)
    table.drop(connection, checkfirst=True)
    table.create(connection)
    names = {field.name: f"c{place}" for place, field in enumerate(released_table.rows.schema)}
    values: dict[str, Any] = {name: sa.bindparam(bound) for name, bound in names.items()}
    rows = [
        {names[name]: value for name, value in row.items()}
        for row in released_table.rows.to_pylist()
    ]
    if rows:
        connection.execute(table.insert().values(values), rows)


def _type(field: "pa.Field") -> Any:
    return _TYPES[str(field.type)]
