"""Ibis over DuckDB and over Polars: the contract, with rows that stay where they are."""

import contextlib
from typing import ClassVar

import ibis
import pytest

from deniable.engines.ibis import Ibis
from tests.engines.contract import QUESTIONS, EngineContract

# Ibis 12 still calls DuckDB by names that DuckDB 2 would rather not hear.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


# Sums made into doubles, functions of text, and joins that only some backends have.
NO_WORDS = {
    "from_person",
    "from_person_and_ward",
    "functions",
    "join_private_replace",
    "join_rows",
    "union_all_rows",
    "where_value",
}
# What numbers rows within a group: Polars, as Ibis has it, knows no windows.
NO_WINDOWS = {
    "distinct",
    "extremes",
    "median",
    "median_replace",
    "mode",
    "quantiles",
    "quantiles_replace",
    "top_replace",
}


class TestDuckDBThroughIbis(EngineContract):
    refused = NO_WORDS

    @contextlib.contextmanager
    def opened(self, tables):
        connection = ibis.duckdb.connect()
        for name, table in tables.items():
            connection.con.register(f"arrow_{name}", table)
            connection.con.execute(f'CREATE TABLE "{name}" AS SELECT * FROM "arrow_{name}"')
        with Ibis.open({name: connection.table(name) for name in tables}) as engine:
            yield engine


class TestPolarsThroughIbis(EngineContract):
    refused = NO_WORDS | NO_WINDOWS
    refused_questions: ClassVar[set[str]] = {one for one in QUESTIONS if "said AS DATE" in one}

    @contextlib.contextmanager
    def opened(self, tables):
        connection = ibis.polars.connect()
        for name, table in tables.items():
            connection.create_table(name, table)
        with Ibis.open({name: connection.table(name) for name in tables}) as engine:
            yield engine
