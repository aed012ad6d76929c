"""DuckDB keeps the contract that other engines are held to by its own integers."""

import contextlib

import duckdb
import pytest

from deniable.engines.duckdb.engine import DuckDB
from tests.engines.contract import EngineContract


class TestDuckDB(EngineContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path):
        self.folder = tmp_path

    def collated(self):
        path = self.folder / "people.duckdb"
        with duckdb.connect(str(path)) as database:
            database.execute("CREATE TABLE people (name VARCHAR COLLATE NOCASE)")
            database.execute("INSERT INTO people VALUES ('Bob'), ('bob')")
        return DuckDB, str(path)

    @contextlib.contextmanager
    def opened(self, tables):
        with DuckDB.open(tables) as engine:
            yield engine
