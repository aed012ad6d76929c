"""Parquet files that are read together have the same columns, and names are no patterns."""

import pyarrow as pa
import pyarrow.parquet
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.errors import InvalidPolicy
from tests.engines.plans import plan, shown

FIRST = pa.table({"ward": ["A", "B"], "cost": pa.array([1, 2], pa.int32())})
COUNT = plan("SELECT COUNT(*) AS n, COUNT(cost) AS m FROM visits", features=["n", "m"])
OTHER = {
    "a type into which some values do not fit": {"cost": pa.array([2**40])},
    "another kind": {"cost": ["secret"]},
    "another name": {"price": pa.array([1], pa.int32())},
    "one more": {"cost": pa.array([1], pa.int32()), "day": [1]},
    "none": {},
}


def write(folder, name, table):
    pyarrow.parquet.write_table(table, folder / name)


@pytest.mark.parametrize("case", OTHER)
def test_files_with_other_columns_are_refused(tmp_path, case):
    """DuckDB would convert their values, and one that it cannot convert fails a question."""
    write(tmp_path, "a.parquet", FIRST)
    write(tmp_path, "b.parquet", pa.table({"ward": ["A"], **OTHER[case]}))
    with pytest.raises(InvalidPolicy, match="the same columns") as refused:
        DuckDB.open({"visits": str(tmp_path / "*.parquet")})
    assert "secret" not in str(refused.value)


def test_a_column_may_be_stored_as_categories(tmp_path):
    write(tmp_path, "a.parquet", FIRST)
    categories = FIRST["ward"].dictionary_encode()
    write(tmp_path, "b.parquet", FIRST.set_column(0, "ward", categories))
    engine = DuckDB.open({"visits": str(tmp_path / "*.parquet")})
    assert shown(engine.run(COUNT)) == [(4, 4)]


@pytest.mark.parametrize("name", ["visits*.parquet", "visits?.parquet", "v[isits].parquet"])
def test_a_name_is_not_taken_for_a_pattern(tmp_path, name):
    write(tmp_path, "visits2.parquet", pa.concat_tables([FIRST] * 9))
    write(tmp_path, name, FIRST)
    assert shown(DuckDB.open({"visits": str(tmp_path / name)}).run(COUNT)) == [(2, 2)]
    engine = DuckDB.open({"visits": str(tmp_path / "*.parquet")})
    assert shown(engine.run(COUNT)) == [(20, 20)]


def test_an_incomplete_file_is_refused(tmp_path):
    write(tmp_path, "a.parquet", FIRST)
    write(tmp_path, "b.parquet", FIRST)
    (tmp_path / "b.parquet").write_bytes((tmp_path / "b.parquet").read_bytes()[:-9])
    with pytest.raises(InvalidPolicy, match="incomplete"):
        DuckDB.open({"visits": str(tmp_path / "*.parquet")})
