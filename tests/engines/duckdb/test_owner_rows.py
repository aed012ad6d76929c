"""The rows of a source as they are."""

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

from deniable.engines.duckdb.owner_rows import read_rows
from deniable.errors import InvalidPolicy

ROWS = {"ward": ["A", None], "cost": [10, 20]}


def test_every_source_gives_the_same_rows(tmp_path):
    pa.parquet.write_table(pa.table(ROWS), tmp_path / "rows.parquet")
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as database:
        database.execute(
            "CREATE TABLE visits AS SELECT * FROM (VALUES ('A', 10), (NULL, 20)) t(ward, cost)"
        )
    assert read_rows(pa.table(ROWS)).to_pydict() == ROWS
    assert read_rows(tmp_path / "rows.parquet").to_pydict() == ROWS
    assert read_rows(tmp_path / "rows.duckdb", name="visits").to_pydict() == ROWS
    assert read_rows(f"{tmp_path / 'rows.duckdb'}#visits").to_pydict() == ROWS


def test_malformed_lines_are_refused_or_left_out_as_by_an_engine(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n1,2,3\n")
    with pytest.raises(InvalidPolicy):
        read_rows(tmp_path / "rows.csv")
    kept = read_rows(tmp_path / "rows.csv", malformed="skip")
    assert kept.to_pydict() == {"a": ["1"], "b": ["2"]}
