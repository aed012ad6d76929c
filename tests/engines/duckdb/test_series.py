"""Arrays of every make are read as they are asked for, and no value decides."""

import random
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from deniable.engines.duckdb.column_kinds import TYPES
from deniable.engines.duckdb.frames import to_arrow
from deniable.engines.duckdb.series import read_array, read_presence
from deniable.errors import FrameWarning, InvalidData
from tests.engines.odd_values import CONTAINERS, KEEPING, Neighbours, Unwritable

KINDS = [*TYPES, "presence"]


def read(values, kind):
    """The type of the column and its values, with moments as integers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FrameWarning)
        column = read_presence(values) if kind == "presence" else read_array(values, kind)
    column.validate(full=True)
    plain = column.cast(pa.int64()) if kind == "date" else column
    return column.type, plain.to_pylist()


def test_neighbouring_arrays_differ_in_one_value(size):
    """The type depends on the kind alone, nothing raises, and no other row changes."""
    rng = random.Random(14)
    for _ in range(size(small=100, full=10_000, what="pairs of neighbouring arrays")):
        shape = Neighbours.draw(rng)
        name, kind = rng.choice([*CONTAINERS]), rng.choice(KINDS)
        first, second = shape.columns(rng, CONTAINERS[name])
        (type_, array), (same, other) = read(first, kind), read(second, kind)
        assert type_ == same == TYPES.get(kind, pa.bool_()), (name, kind)
        assert (len(array), len(other)) == (shape.length, shape.length + (not shape.replace))
        if name in KEEPING:
            before, after = shape.others(array, other)
            assert before == after, (name, kind)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    ("values", "odd"),
    [([1, 2], None), ([1, 2], "x"), ([1, 2], 0.5), ([True], None), ([True], "x"), ([0.5], 1j)],
)
def test_a_type_that_one_value_chose_does_not_change_the_others(values, odd, kind):
    """pandas makes doubles or objects of integers and booleans if one value is odd."""
    alone, among = pd.Series(values), pd.Series([*values, odd])
    assert alone.dtype != among.dtype
    assert read(among, kind)[1][:-1] == read(alone, kind)[1]


@pytest.mark.parametrize(
    ("values", "present"),
    [([], []), ([None], [None]), ([float("nan")], [None]), (["\ud800"], [True]),
     ([Unwritable()], [True])],
)  # fmt: skip
def test_lists_without_a_readable_value(values, present):
    assert read(values, "presence")[1] == present
    for kind in TYPES:
        text = kind == "text" and values and isinstance(values[0], str)
        written = ["?"] if text else [None] * len(values)
        assert read(values, kind) == (TYPES[kind], written)


class Nameless(type):
    @property
    def __name__(cls):
        raise RuntimeError("secret")


class Unsure(Decimal, metaclass=Nameless):
    def is_nan(self):
        raise RuntimeError("secret")


def test_an_object_that_cannot_say_whether_it_is_missing_is_there():
    assert read([Unsure("1"), None], "presence")[1] == [True, None]
    assert read([Unsure("1"), None], "number")[1] == [1.0, None]


@pytest.mark.parametrize(
    "make", [np.array, pa.array, pl.Series, pd.Series, lambda all_: np.array(all_, np.float16)]
)
def test_nan_is_missing_in_every_container(make):
    values = make([0.5, float("nan")])
    assert read(values, "number")[1] == [0.5, None]
    assert read(values, "presence")[1] == [True, None]


def test_numpy_arrays_of_unusual_types():
    assert read(np.array([1, 2], dtype=">i8"), "number")[1] == [1, 2]
    assert read(np.array([1, 2], dtype=np.longdouble), "number")[1] == [1, 2]
    assert read(np.ma.masked_array([1, 2], [False, True]), "integer")[1] == [1, None]
    masked = np.ma.masked_array(["a", "b"], [True, False])
    assert read(masked, "text")[1] == [None, "b"]
    days = np.array(["2024-02-29", "NaT"], dtype="M8[D]")
    assert read(days, "date")[1] == read(days.astype("M8[ns]"), "date")[1]


def test_numbers_beyond_all_doubles_are_infinite():
    values = [10**400, -(10**400), Decimal("1E+400"), "1e400"]
    inf = float("inf")
    assert read(values, "number")[1] == [inf, -inf, inf, inf]


def test_large_integers_of_polars_are_not_merged():
    wide = pl.Series([2**100, 2**100 + 1, None], dtype=pl.Int128)
    assert read(wide, "text")[1] == [str(2**100), str(2**100 + 1), None]


@pytest.mark.parametrize(
    "values",
    [pd.DataFrame({"a": [1]}), pl.LazyFrame({"a": [1]}), pa.table({"a": [1]}),
     pa.record_batch({"a": [1]}), np.zeros((2, 2)), 5, b"bytes", {"a": 1}, None],
    ids=lambda values: type(values).__name__,
)  # fmt: skip
def test_what_is_no_array_is_refused_by_its_type(values):
    with pytest.raises(InvalidData, match=r"one dimension|Give (one of them|an array)"):
        read_array(values, "number")


def test_a_type_that_cannot_be_read_is_said():
    with pytest.warns(FrameWarning, match="No value of the array can be read as number"):
        array = read_array(pa.array([0, 1], pa.date32()), "number")
    assert array.to_pylist() == [None, None]


@pytest.mark.parametrize("value", ["x", b"x"], ids=["text", "bytes"])
def test_a_long_category_in_many_rows_is_read(value, size):
    """Arrow's own expansion fails where the repeated texts have more than 2 GB."""
    rows = size(small=1, full=70, what="rows of one text of 32 MB")
    places = pa.array([0] * rows + [1, None], pa.int32())
    column = pa.DictionaryArray.from_arrays(places, pa.array([value * (1 << 25), value]))
    texts = read_array(column, "text")
    assert texts.type == pa.large_string()
    assert texts.slice(rows).to_pylist() == ["x", None]
    wide = {"large_string", "large_binary"}
    assert str(to_arrow(pa.table({"c": column})).schema.field("c").type) in wide
