"""Ibis over DuckDB and over SQLite, under the neighbour fuzzer."""

import pytest

from tests.engines import ibises
from tests.engines.neighbors import NeighborContract

# Ibis 12 still calls DuckDB by names that DuckDB 2 would rather not hear.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


class TestDuckDBThroughIbisOnNeighbors(NeighborContract):
    def opened(self, tables):
        return ibises.over_duckdb(tables)


class TestSQLiteThroughIbisOnNeighbors(NeighborContract):
    def opened(self, tables):
        return ibises.over_sqlite(tables)
