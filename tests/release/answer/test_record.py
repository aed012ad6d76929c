"""Tables to JSON and bytes and back; every change of a table changes its hash."""

import datetime
import json
import math

import pyarrow as pa
import pytest

from deniable.errors import InvalidCertificate
from deniable.release.answer import record
from deniable.release.answer.answer_table import Answer

TABLES = {
    "numbers": pa.table({"n": [3, None, -4], "x": [0.1, None, 1e300]}),
    "text": pa.table({"ward": ["A", None, "ü", ""], "well": [True, None, False, True]}),
    "dates": pa.table({"day": pa.array([datetime.date(2025, 1, 31), None])}),
    "moments": pa.table(
        {"at": pa.array([datetime.datetime(2025, 1, 31, 23, 5), None], pa.timestamp("s"))}
    ),
    "no rows": pa.table({"n": pa.array([], pa.int64()), "w": pa.array([], pa.string())}),
    "infinite": pa.table({"x": [math.inf, -math.inf]}),
    "narrow": pa.table(
        {"n": pa.array([1, 2], pa.int8()), "x": pa.array([0.5, 1], pa.float32())}
    ),
    "chunks": pa.table({"n": pa.chunked_array([[1], [2, 3]])}),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_rows_in_json_are_the_table_again(table):
    text = json.dumps([record.columns(table), record.rows(table)], allow_nan=False)
    again = record.read_table(*json.loads(text))
    assert again.to_pylist() == table.to_pylist()
    assert record.fingerprint(again) == record.fingerprint(table)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_what_is_kept_is_the_answer_again(table):
    first = table.column_names[0]
    answer = Answer(table, {first: "beside"})
    again = record.from_bytes(record.to_bytes(answer))
    assert again.table.equals(table)
    assert again.margins == answer.margins


@pytest.mark.parametrize(
    "other",
    [
        {"n": [1, 2], "w": ["ab", "d"]},
        {"n": [1, 2], "w": ["a", "bd"]},
        {"n": [2, 1], "w": ["ab", "c"]},
        {"n": [1, 2], "v": ["ab", "c"]},
        {"n": [1.0, 2.0], "w": ["ab", "c"]},
        {"n": [1, None], "w": ["ab", "c"]},
        {"n": [1, 2], "w": ["abc", None]},
        {"n": [1, 2], "w": ["abc", ""]},
        {"w": ["ab", "c"], "n": [1, 2]},
        {"n": [1, 2]},
        {"n": [1, 0], "w": ["ab", "c"]},
        {"n": [1, 2, 0], "w": ["ab", "c", ""]},
    ],
    ids=str,
)
def test_every_change_changes_the_hash(other):
    columns = {"n": [1, 2], "w": ["ab", "c"]}
    assert record.fingerprint(pa.table(columns)) != record.fingerprint(pa.table(other))


def test_null_is_not_zero_and_not_empty():
    tables = [{"n": [None, 0]}, {"n": [0, 0]}, {"n": [0, None]}]
    typed = [pa.table({"n": pa.array(table["n"], pa.int64())}) for table in tables]
    assert len({record.fingerprint(table) for table in typed}) == 3


@pytest.mark.parametrize(
    ("listed", "rows"),
    [
        ([{"name": "n"}], [{"n": 1}]),
        ([{"name": "n", "type": "integer"}], [{"m": 1}]),
        ([{"name": "n", "type": "integer"}], [{"n": "1"}]),
        ([{"name": "n", "type": "integer"}], [{"n": True}]),
        ([{"name": "n", "type": "integer"}], [{"n": 2**70}]),
        ([{"name": "n", "type": "number"}], [{"n": "x"}]),
        ([{"name": "n", "type": "blob"}], [{"n": 1}]),
        ([{"name": "n", "type": "date"}], [{"n": "yesterday"}]),
        (["n"], [{"n": 1}]),
        ([{"name": "n", "type": "integer"}], [1]),
    ],
    ids=str,
)
def test_rows_that_are_not_as_announced_are_refused(listed, rows):
    with pytest.raises(InvalidCertificate):
        record.read_table(listed, rows)
