"""Ibis over DuckDB and over SQLite."""

import contextlib
import math
import sqlite3

import ibis
import pyarrow as pa

from deniable.engines.ibis.engine import Ibis

TYPES = {pa.bool_(): "BOOLEAN", pa.date32(): "DATE", pa.timestamp("us"): "TIMESTAMP"}


@contextlib.contextmanager
def over_duckdb(tables):
    connection = ibis.duckdb.connect()
    for name, table in tables.items():
        connection.con.register(f"arrow_{name}", table)
        connection.con.execute(f'CREATE TABLE "{name}" AS SELECT * FROM "arrow_{name}"')
    with Ibis.open({name: connection.table(name) for name in tables}) as engine:
        yield engine


@contextlib.contextmanager
def over_sqlite(tables):
    database = sqlite3.connect(":memory:", check_same_thread=False)
    for name, table in tables.items():
        store(database, name, table)
    connection = ibis.sqlite.from_connection(database)
    with Ibis.open({name: connection.table(name) for name in tables}) as engine:
        yield engine


def store(database, name, table):
    """Stores an Arrow table; SQLite has no NaN, and holds its name instead."""
    columns = ", ".join(f'"{field.name}" {declared(field.type)}' for field in table.schema)
    database.execute(f'CREATE TABLE "{name}" ({columns})')
    marks = ", ".join("?" * table.num_columns)
    rows = zip(*(map(stored, column.to_pylist()) for column in table.columns), strict=True)
    database.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)
    database.commit()


def declared(type_):
    if type_ in TYPES:
        return TYPES[type_]
    if pa.types.is_integer(type_):
        return "BIGINT"
    return "DOUBLE" if pa.types.is_floating(type_) else "TEXT"


def stored(value):
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    return value if isinstance(value, int | float | str | None) else value.isoformat()


OPENED = {"duckdb": over_duckdb, "sqlite": over_sqlite}
