import duckdb
import pytest

import deniable as dp
from deniable.app.publish.duckdb_file import write_duckdb


def test_any_tool_reads_the_file(tables, tmp_path):
    for _ in range(2):
        write_duckdb(tmp_path / "released.duckdb", tables)
    with duckdb.connect(str(tmp_path / "released.duckdb"), read_only=True) as connection:
        for table in tables:
            stored = connection.sql(f"SELECT * FROM {table.name}").to_arrow_table()
            assert stored.to_pylist() == table.rows.to_pylist()
        joined = connection.execute(
            "SELECT certificate FROM by_ward JOIN certificates USING (certificate_id) LIMIT 1"
        ).fetchall()
        assert dp.verify(joined[0][0]).checks
        count = connection.execute("SELECT count(*) FROM certificates").fetchall()
        assert count == [(2,)]


def test_a_place_that_cannot_be_written_is_said(tables, tmp_path):
    (tmp_path / "text.duckdb").write_text("no database" * 1000)
    for place in ("text.duckdb", "missing/x.duckdb"):
        with pytest.raises(dp.InvalidParameter, match="cannot be written"):
            write_duckdb(tmp_path / place, tables)
