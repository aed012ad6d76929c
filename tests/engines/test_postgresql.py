"""A real PostgreSQL server: the contract, and what only this engine has."""

import contextlib
import secrets
from typing import ClassVar

import psycopg
import pyarrow as pa
import pytest

from deniable.engines.postgresql import PostgreSQL
from tests.engines.contract import EngineContract

pytestmark = [pytest.mark.needs("postgresql"), pytest.mark.xdist_group("postgresql")]

TYPES = {
    pa.int32(): "int4",
    pa.int64(): "int8",
    pa.float64(): "float8",
    pa.string(): "text",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
}


def address(folder, table):
    return f"postgresql://deniable@/postgres?host={folder}#{table}"


def store(folder, name, table):
    """Puts an Arrow table into a schema of its own; where it is."""
    schema = f"s{secrets.token_hex(6)}"
    with psycopg.connect(address(folder, "").rstrip("#"), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        columns = ", ".join(f'"{one.name}" {TYPES[one.type]}' for one in table.schema)
        connection.execute(f'CREATE TABLE {schema}."{name}" ({columns})')
        with connection.cursor().copy(f'COPY {schema}."{name}" FROM STDIN') as copy:
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                copy.write_row(row)
    return address(folder, f'{schema}."{name}"')


class TestPostgreSQL(EngineContract):
    refused: ClassVar[set[str]] = {"functions"}

    @pytest.fixture(autouse=True)
    def _server(self, postgresql):
        self.folder = postgresql

    @contextlib.contextmanager
    def opened(self, tables):
        sources = {name: store(self.folder, name, table) for name, table in tables.items()}
        with PostgreSQL.open(sources) as engine:
            yield engine
