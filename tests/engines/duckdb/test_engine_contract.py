"""DuckDB keeps the contract that other engines are held to by its own integers."""

import contextlib

from deniable.engines.duckdb.engine import DuckDB
from tests.engines.contract import EngineContract


class TestDuckDB(EngineContract):
    @contextlib.contextmanager
    def opened(self, tables):
        with DuckDB.open(tables) as engine:
            yield engine
