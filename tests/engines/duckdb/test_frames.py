"""Frames of every make become Arrow by their types alone."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from deniable.engines.duckdb.frames import is_frame, to_arrow
from deniable.errors import InvalidData

FAR = 2**63 - 1
COLUMNS = {"ward": ["A", None, "C"], "cost": [1.5, float("nan"), None], "age": [1, 2, 3]}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_every_make(make):
    frame = make(COLUMNS)
    found = to_arrow(frame)
    assert is_frame(frame)
    assert found.column_names == ["ward", "cost", "age"]
    assert found["age"].to_pylist() == [1, 2, 3]
    assert found["ward"].to_pylist() == ["A", None, "C"]


def test_what_only_streams_arrow_is_read_too():
    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table(COLUMNS).__arrow_c_stream__(requested_schema)

    assert to_arrow(Stream()).column_names == ["ward", "cost", "age"]


class Unwritable:
    def __str__(self):
        raise RuntimeError("secret")


@pytest.mark.parametrize(
    "value", [1, "a", None, float("nan"), pd.NA, pd.NaT, Decimal("1"), b"x", [1], Unwritable(),
              "\ud800", np.array([1, 2]), datetime.date(2020, 1, 1)],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_no_object_in_a_column_changes_its_type(value):
    column = pd.Series(["a", value, 7], dtype=object)
    found = to_arrow(pd.DataFrame({"mixed": column}))
    assert found["mixed"].type == pa.large_string()
    assert len(found) == 3
    assert found["mixed"].to_pylist()[2] == "7"


def test_categories_are_data_and_not_a_type():
    pandas = pd.DataFrame({"ward": pd.Categorical(["A", "B"])})
    polars = pl.DataFrame({"ward": pl.Series(["A", "B"], dtype=pl.Enum(["A", "B", "Z"]))})
    for frame in (pandas, polars, pa.table({"ward": pa.array(["A", "B"]).dictionary_encode()})):
        found = to_arrow(frame)["ward"]
        assert pa.types.is_string(found.type) or pa.types.is_large_string(found.type)
        assert found.to_pylist() == ["A", "B"]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo"])
def test_timestamps_beyond_every_calendar_are_missing(unit, zone):
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    values = pa.array([0, 86_400 * per_second, FAR, -FAR, -FAR - 1, None], pa.int64())
    found = to_arrow(pa.table({"when": values.view(pa.timestamp(unit, zone))}))["when"]
    assert found.type == pa.timestamp("us")
    assert found.to_pylist()[:2] == [
        datetime.datetime(1970, 1, 1),
        datetime.datetime(1970, 1, 2),
    ]
    if unit != "ns":  # nanoseconds reach only to the year 2262
        assert found.to_pylist()[2:] == [None] * 4


def test_what_no_question_can_be_about_is_left_out():
    frame = pa.table(
        {
            "kept": pa.array(np.array([1.5], dtype=np.float16)),
            "nested": [[1]],
            "record": [{"a": 1}],
            "time": pa.array([1], pa.time64("us")),
            "span": pa.array([1], pa.duration("s")),
            "wide": pa.array([Decimal(1)], pa.decimal256(60, 0)),
            "nothing": pa.nulls(1),
        }
    )
    assert to_arrow(frame).column_names == ["kept"]


def test_wide_integers_of_polars_are_read():
    wide = pl.Series([2**100, 2**100 + 1, -(2**127), None], dtype=pl.Int128)
    kept = to_arrow(pl.DataFrame({"n": wide}))["n"].to_pylist()
    assert kept == [str(2**100), str(2**100 + 1), str(-(2**127)), None]  # none merge


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        ([1, 2], "pandas, Polars or Arrow"),
        (pa.table([[1], [2]], names=["a", "A"]), "twice"),
        (pa.table({"a": [[1]]}), "no column"),
    ],
)
def test_what_is_no_frame_is_refused(frame, told):
    with pytest.raises(InvalidData, match=told):
        to_arrow(frame)


def test_an_index_of_pandas_is_no_column():
    frame = pd.DataFrame({"a": [1, 2]}, index=[7, 8])
    assert to_arrow(frame).column_names == ["a"]


@pytest.mark.parametrize("names", [[0, 1], ["a", 5], [("a", "b"), ("c", "d")]])
def test_columns_are_named_by_text(names):
    columns = pd.MultiIndex.from_tuples(names) if isinstance(names[0], tuple) else names
    with pytest.raises(InvalidData, match=r"must be text.*frame.columns = "):
        to_arrow(pd.DataFrame([[1, 2], [3, 4]], columns=columns))


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(InvalidData, match="two columns with the same name"):
        to_arrow(pd.DataFrame([[1, 2]], columns=["a", "a"]))


@pytest.mark.parametrize("make", [pd.Series, pl.Series, lambda all_: pa.chunked_array([all_])])
def test_one_column_is_no_table(make):
    with pytest.raises(InvalidData, match=r"is a single column. Make a frame"):
        to_arrow(make([1, 2]))
