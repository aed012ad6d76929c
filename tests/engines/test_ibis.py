"""Ibis over DuckDB and over Polars: the contract, with rows that stay where they are."""

import contextlib

import ibis
import pytest

from deniable.engines.ibis import Ibis
from tests.engines.contract import EngineContract

# Ibis 12 still calls DuckDB by names that DuckDB 2 would rather not hear.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


class TestDuckDBThroughIbis(EngineContract):
    @contextlib.contextmanager
    def opened(self, tables):
        connection = ibis.duckdb.connect()
        for name, table in tables.items():
            connection.con.register(f"arrow_{name}", table)
            connection.con.execute(f'CREATE TABLE "{name}" AS SELECT * FROM "arrow_{name}"')
        with Ibis.open({name: connection.table(name) for name in tables}) as engine:
            yield engine


class TestPolarsThroughIbis(EngineContract):
    @contextlib.contextmanager
    def opened(self, tables):
        connection = ibis.polars.connect()
        for name, table in tables.items():
            connection.create_table(name, table)
        with Ibis.open({name: connection.table(name) for name in tables}) as engine:
            yield engine
