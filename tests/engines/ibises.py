"""Ibis over DuckDB and over Polars, and what differs from DuckDB itself."""

import contextlib

import ibis

from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.ibis.engine import Ibis
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from tests.engines.contract import exact, hostile, hostile_policy


@contextlib.contextmanager
def over_duckdb(tables):
    connection = ibis.duckdb.connect()
    for name, table in tables.items():
        connection.con.register(f"arrow_{name}", table)
        connection.con.execute(f'CREATE TABLE "{name}" AS SELECT * FROM "arrow_{name}"')
    with Ibis.open({name: connection.table(name) for name in tables}) as engine:
        yield engine


@contextlib.contextmanager
def over_polars(tables):
    connection = ibis.polars.connect()
    for name, table in tables.items():
        connection.create_table(name, table)
    with Ibis.open({name: connection.table(name) for name in tables}) as engine:
        yield engine


OPENED = {"duckdb": over_duckdb, "polars": over_polars}


def asked(values, *, of="SUM(CLAMP({}, -900, 900))"):
    """One question about many values, each a column of its own."""
    listed = ", ".join(f"{of.format(one)} AS a{place}" for place, one in enumerate(values))
    return f"SELECT {listed} FROM odd"


def same(backend, questions, policy=None, table=None):
    """Asserts that both find the same integers for every question."""
    tables = {"odd": hostile() if table is None else table}
    plans = {sql: plan(parse(sql), policy or hostile_policy(), epsilon=50) for sql in questions}
    with OPENED[backend](tables) as engine, DuckDB.open(tables) as reference:
        for sql, one in plans.items():
            engine.check(one)
            assert (sql, exact(engine.run(one))) == (sql, exact(reference.run(one)))
