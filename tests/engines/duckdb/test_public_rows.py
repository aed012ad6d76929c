"""SQL over public rows sees these rows and no file."""

import pyarrow as pa
import pytest

from deniable.engines.duckdb.public_rows import query_rows
from deniable.errors import InvalidQuery

ROWS = {"t": pa.table({"x": [1, 2, 3]})}


def test_any_sql_runs():
    assert query_rows(ROWS, "SELECT x * 2 AS y FROM t WHERE x > 1").to_pylist() == [
        {"y": 4},
        {"y": 6},
    ]


@pytest.mark.parametrize("sql", ["SELECT 1 FROM", "SELECT * FROM u", "SELECT y FROM t"])
def test_faults_are_said(sql):
    with pytest.raises(InvalidQuery, match="DuckDB cannot run"):
        query_rows(ROWS, sql)


def test_no_file_is_read(tmp_path):
    (tmp_path / "secret.csv").write_text("x\n1\n")
    with pytest.raises(InvalidQuery):
        query_rows(ROWS, f"SELECT * FROM read_csv('{tmp_path / 'secret.csv'}')")
