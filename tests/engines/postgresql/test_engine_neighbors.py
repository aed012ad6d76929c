"""PostgreSQL under the neighbour fuzzer."""

import contextlib

import pytest

from deniable.engines.postgresql.engine import PostgreSQL
from tests.engines.neighbors import NeighborContract
from tests.engines.postgresql.test_engine import store

pytestmark = [pytest.mark.needs("postgresql"), pytest.mark.xdist_group("postgresql")]


class TestPostgreSQLOnNeighbors(NeighborContract):
    @pytest.fixture(autouse=True)
    def _server(self, postgresql):
        self.folder = postgresql

    @contextlib.contextmanager
    def opened(self, tables):
        sources = {name: store(self.folder, name, table) for name, table in tables.items()}
        with PostgreSQL.open(sources) as engine:
            yield engine
