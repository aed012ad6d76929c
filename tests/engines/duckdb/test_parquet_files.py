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


MOMENTS = pa.array([0, 1500, None, 2**62], pa.int64())
BROKEN = pa.array([b"a", b"\xff", b"\xed\xa0\x80", None], pa.binary()).view(pa.string())


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


@pytest.mark.parametrize(
    "text",
    [
        BROKEN,
        BROKEN.cast(pa.binary()).cast(pa.large_binary()).view(pa.large_string()),
        BROKEN.dictionary_encode(),
    ],
    ids=["string", "large string", "categories"],
)
def test_bytes_that_are_not_text_fail_nothing_beside_milliseconds(tmp_path, text):
    """Arrow reads such files, because DuckDB's reader fails on far milliseconds."""
    moments = MOMENTS.view(pa.timestamp("ms"))
    write(tmp_path, "a.parquet", pa.table({"ward": text, "day": moments}))
    query_plan = plan(
        "SELECT COUNT(UPPER(ward)) AS n, COUNT(day) AS m FROM visits", features="nm"
    )
    with DuckDB.open({"visits": str(tmp_path / "a.parquet")}) as engine:
        assert shown(engine.run(query_plan)) == [(3, 2)]


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_timestamps_beside_milliseconds_are_compared(tmp_path, unit, zone):
    """Compared by Arrow, those with a zone failed, unless one of them was missing."""
    moments = MOMENTS.drop_null().view(pa.timestamp(unit, zone))
    days = pa.array([0] * 3, pa.int64()).view(pa.timestamp("ms"))
    write(tmp_path, "a.parquet", pa.table({"when": moments, "day": days}))
    query_plan = plan(
        'SELECT COUNT(*) AS n FROM (SELECT TRY_CAST("when" AS TIMESTAMP) AS c FROM visits) '
        "AS clean WHERE c > TIMESTAMP '1970-01-01'",
        features=["n"],
    )
    with DuckDB.open({"visits": str(tmp_path / "a.parquet")}) as engine:
        assert shown(engine.run(query_plan)) == [(1 if unit == "ms" else 2,)]


@pytest.mark.parametrize("type_", [pa.float16(), pa.decimal256(60, 2), pa.uint64()])
def test_numbers_of_unusual_types_are_read_beside_milliseconds(tmp_path, type_):
    days = pa.array([0, 1], pa.int64()).view(pa.timestamp("ms"))
    costs = pa.array([1, 2], pa.int64()).cast(type_)
    write(tmp_path, "a.parquet", pa.table({"cost": costs, "day": days}))
    with DuckDB.open({"visits": str(tmp_path / "a.parquet")}) as engine:
        assert shown(engine.run(COUNT)) == [(2, 2)]
