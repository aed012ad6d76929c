"""Frames of every make become Arrow by what is declared and by their types alone."""

import datetime
import random
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from deniable.engines.duckdb.column_kinds import TYPES
from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.duckdb.frames import is_frame, to_arrow
from deniable.errors import FrameWarning, InvalidData
from deniable.policy import Column
from tests.engines.odd_values import Unwritable, draw_frames

FAR = 2**63 - 1
COLUMNS = {"ward": ["A", None, "C"], "cost": [1.5, float("nan"), None], "age": [1, 2, 3]}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_every_make(make):
    frame = make(COLUMNS)
    table = to_arrow(frame)
    assert is_frame(frame)
    assert table.column_names == ["ward", "cost", "age"]
    assert table["age"].to_pylist() == [1, 2, 3]
    assert table["ward"].to_pylist() == ["A", None, "C"]


def test_what_only_streams_arrow_is_read_too():
    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table(COLUMNS).__arrow_c_stream__(requested_schema)

    assert to_arrow(Stream()).column_names == ["ward", "cost", "age"]


@pytest.mark.parametrize(
    "value", [1, "a", None, float("nan"), pd.NA, pd.NaT, Decimal("1"), b"x", [1], Unwritable(),
              "\ud800", np.array([1, 2]), datetime.date(2020, 1, 1)],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_no_object_in_a_column_changes_its_type(value):
    column = pd.Series(["a", value, 7], dtype=object)
    table = to_arrow(pd.DataFrame({"mixed": column}))
    assert table["mixed"].type == pa.large_string()
    assert len(table) == 3
    assert table["mixed"].to_pylist()[2] == "7"


def test_categories_are_data_and_not_a_type():
    pandas = pd.DataFrame({"ward": pd.Categorical(["A", "B"])})
    polars = pl.DataFrame({"ward": pl.Series(["A", "B"], dtype=pl.Enum(["A", "B", "Z"]))})
    for frame in (pandas, polars, pa.table({"ward": pa.array(["A", "B"]).dictionary_encode()})):
        column = to_arrow(frame)["ward"]
        assert pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        assert column.to_pylist() == ["A", "B"]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo"])
def test_timestamps_beyond_every_calendar_are_missing(unit, zone):
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    values = pa.array([0, 86_400 * per_second, FAR, -FAR, -FAR - 1, None], pa.int64())
    column = to_arrow(pa.table({"when": values.view(pa.timestamp(unit, zone))}))["when"]
    assert column.type == pa.timestamp("us")
    assert column.to_pylist()[:2] == [
        datetime.datetime(1970, 1, 1),
        datetime.datetime(1970, 1, 2),
    ]
    if unit != "ns":  # nanoseconds reach only to the year 2262
        assert column.to_pylist()[2:] == [None] * 4


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
    assert to_arrow(frame).column_names == ["kept", "nothing"]


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


def test_a_column_that_holds_nothing_is_text():
    for frame in (pa.table({"a": pa.nulls(2)}), pl.DataFrame({"a": [None, None]}),
                  pd.DataFrame({"a": pd.Categorical([None, None])})):  # fmt: skip
        column = to_arrow(frame)["a"]
        assert column.to_pylist() == [None, None]
        assert pa.types.is_string(column.type) or pa.types.is_large_string(column.type)


@pytest.mark.parametrize(
    "values",
    [
        pd.Categorical(["a", "b", 5]),
        pd.Categorical([1, 2, 1]),
        pd.Series(["a", "\ud800", None], dtype="string[python]"),
        pd.Series([1, 2, 3]).astype("Sparse[int]"),
        pd.Series(pd.period_range("2024", periods=3)),
    ],
    ids=["mixed", "integers", "surrogates", "sparse", "periods"],
)
def test_columns_of_pandas_that_arrow_cannot_read(values):
    column = to_arrow(pd.DataFrame({"a": values}))["a"]
    assert column.type == pa.large_string()
    assert len(column) == 3


def test_bytes_that_are_not_text_are_replaced():
    """Arrow does not check them, and an engine would fail on them after the charge."""
    offsets = pa.py_buffer(np.array([0, 1, 2], dtype=np.int32))
    wrong = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"a\xff"))
    for column in (wrong, wrong.dictionary_encode()):
        assert to_arrow(pa.table({"a": column}))["a"].to_pylist() == ["a", "\ufffd"]


def test_a_decimal_without_a_place_in_duckdb_is_a_double():
    column = pa.array([Decimal("5000")]).cast(pa.decimal128(38, 0)).cast(pa.decimal128(38, -3))
    table = to_arrow(pa.table({"a": column}))
    assert DuckDB.open({"a": table}).schema("a") == {"a": "DOUBLE"}


KINDS = ("number", "integer", "text", "boolean", "date")


@pytest.mark.parametrize("kind", KINDS)
def test_a_declared_kind_is_the_type(kind):
    declared = {"A": Column("A", kind=kind)}
    for values in ([1, 2], [1.5, None], ["a"], [True], [None], [datetime.date(2024, 1, 1)]):
        for frame in (pd.DataFrame({"a": values}), pl.DataFrame({"a": values})):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FrameWarning)
                assert to_arrow(frame, declared)["a"].type == TYPES[kind]


def test_what_bounds_and_keys_leave_open():
    """Bounds allow every type of numbers, and text as keys may be dates."""
    days = pa.array([0, 1], pa.date32())
    frame = pa.table({"n": [1, 2], "word": [1, 2], "day": days, "flag": [0, 1]})
    declared = [
        Column("n", bounds=(0, 9)),
        Column("word", keys=["1", "2"]),
        Column("day", keys=["1970-01-01"]),
        Column("flag", keys=[True, False]),
    ]
    table = to_arrow(frame, {column.name: column for column in declared})
    assert table.schema.types == [pa.int64(), pa.large_string(), pa.date32(), pa.bool_()]
    assert table["word"].to_pylist() == ["1", "2"]
    assert table["flag"].to_pylist() == [False, True]


@pytest.mark.parametrize(
    "ages", [[1, 2], [1, None], [1.5, 2], [1, "x"], ["x", None], [True, False], [None, None]]
)
def test_types_that_values_chose_are_said_for_every_value(ages):
    frame = pd.DataFrame({"age": ages, "cost": [1, 2], "ward": ["A", "B"]})
    declared = {"cost": Column("cost", kind="number"), "ward": Column("ward", keys=["A"])}
    with pytest.warns(FrameWarning) as told:
        to_arrow(frame, declared)
    assert [str(warning.message) for warning in told] == [
        "The values of a frame decide the types of these columns: age. In pandas, one missing "
        "value turns integers into decimals, and one text turns numbers into text. Then grids "
        "change, and what can be asked. Declare the kind of each column that questions use: "
        'number, integer, text, boolean or date, for example   kind={"age": "text"}'
    ]
    assert told[0].filename == __file__


def test_no_warning_where_types_are_declared():
    frame = pd.DataFrame(
        {"age": pd.array([1, None], "Int64"), "ward": pd.Categorical(["A", "B"])}
    )
    to_arrow(frame, {})
    to_arrow(pl.DataFrame({"age": [1, None]}), {})
    steps = {"age": Column("age", bounds=(0, 9), step=1)}
    for ages in ([1, 2], [1, None]):
        assert to_arrow(pd.DataFrame({"age": ages}), steps)["age"].type == pa.float64()


def test_a_declaration_that_does_not_fit_is_said():
    frame = pa.table({"day": pa.array([0], pa.date32())})
    with pytest.warns(FrameWarning, match="No value of column 'day' can be read as number"):
        table = to_arrow(frame, {"day": Column("day", bounds=(0, 1))})
    assert table["day"].to_pylist() == [None]


def test_neighbouring_frames_differ_in_one_row(size):
    """Names and types depend on the declared kinds alone, and no other row changes."""
    rng = random.Random(14)
    for _ in range(size(small=50, full=10_000, what="pairs of neighbouring frames")):
        declared = {name: Column(name, kind=rng.choice(KINDS)) for name in ("a", "b", "c")}
        shape, first, second, keeping = draw_frames(rng, declared)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FrameWarning)
            table, other = to_arrow(first, declared), to_arrow(second, declared)
        types = [
            TYPES["integer" if column.integer else column.kind] for column in declared.values()
        ]
        assert table.schema.names == other.schema.names == ["a", "b", "c"]
        assert table.schema.types == other.schema.types == types
        for name in keeping:
            before, after = shape.others(*(list(frame[name]) for frame in (table, other)))
            assert before == after, (type(first), declared[name])
