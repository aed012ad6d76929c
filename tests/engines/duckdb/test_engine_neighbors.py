"""DuckDB under the neighbour fuzzer, and engines that it must catch."""

import contextlib
import re
from dataclasses import replace

import pytest

from deniable.engines.duckdb.engine import DuckDB
from tests.engines import neighbors
from tests.engines.neighbors import Fuzz, NeighborContract
from tests.engines.questions import Questions


class TestDuckDBOnNeighbors(NeighborContract):
    @contextlib.contextmanager
    def opened(self, tables):
        with DuckDB.open(tables) as engine:
            yield engine


# What is changed in the engine's SQL, what stands there instead, and what is found.
BROKEN = {
    "no limit of rows": (r"WHEN c > \d+ THEN", "WHEN FALSE THEN", "moved"),
    "a value fails": (r"TRY_CAST\(", "CAST(", "failed"),
    "another integer": (r"SUM\(f0_0\), 0\)", "SUM(f0_0), 0) + 1", "differs"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_engine_that_is_wrong_is_caught(monkeypatch, name):
    pattern, instead, message = BROKEN[name]

    class Broken(DuckDB):
        def _run_statement(self, statement):
            sql = re.sub(pattern, instead, statement.sql)
            return super()._run_statement(replace(statement, sql=sql))

    sql = "SELECT COUNT(*) AS n, SUM(s) AS s FROM data"
    monkeypatch.setattr(Questions, "question", lambda self, person: (sql, False))
    monkeypatch.setattr(neighbors, "PLANS", 1)
    with pytest.raises(AssertionError, match=message):
        Fuzz(Broken.open, seed=1).run(6)
