"""Two privacy units never become one, whatever kind their column is declared as."""

from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dp
from deniable.engines.duckdb.column_kinds import read_identifiers

BIG = 2**53  # and one more have the same double
IDS = [BIG, BIG + 1]
FRAMES = {
    "integers": pa.table({"id": IDS}),
    "texts": pa.table({"id": list(map(str, IDS))}),
    "decimals": pa.table({"id": pa.array(list(map(Decimal, IDS)), pa.decimal128(20, 0))}),
    "unsigned": pa.table({"id": pa.array(IDS, pa.uint64())}),
    "objects": pd.DataFrame({"id": pd.Series(IDS, dtype=object)}),
}


def count_units(source, kind):
    data = dp.protect(source, unit="id", kind={"id": kind}, epsilon=1000)
    return data.sql("SELECT COUNT(DISTINCT id) AS n FROM data", epsilon=1000).value


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ["integer", "number", "text"])
@pytest.mark.parametrize("frame", FRAMES)
def test_units_of_a_frame_stay_apart(frame, kind):
    assert count_units(FRAMES[frame], kind) == 2


@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_units_of_a_file_stay_apart(tmp_path, ending, kind):
    path = tmp_path / f"visits.{ending}"
    if ending == "csv":
        path.write_text(
            "id\n" + "".join(f"{identifier}\n" for identifier in IDS), encoding="utf-8"
        )
    else:
        pq.write_table(FRAMES["texts"], path)
    assert count_units(str(path), kind) == 2


@pytest.mark.parametrize(
    ("values", "read"),
    [
        (pa.array(["7", " 8.0 ", "7.5", "x", "1e3", str(2**63), None]), [7, 8] + [None] * 5),
        (pa.array([7.0, 7.5, 2.0**63, float("nan"), None]), [7] + [None] * 4),
        (pa.array([2**63 - 1, 2**63, 2**63 + 1], pa.uint64()), [2**63 - 1, None, None]),
        (pa.array([Decimal("7.00"), Decimal("7.25"), None]), [7, None, None]),
        (pa.array([True, False, None]), [1, 0, None]),
    ],
)
def test_what_is_no_integer_of_64_bits_is_missing(values, read):
    column = read_identifiers(values, "integer")
    assert column.type == pa.int64()
    assert column.to_pylist() == read
