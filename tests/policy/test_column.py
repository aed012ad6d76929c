"""Columns: what their declarations agree on, and what the source's type adds."""

from datetime import date
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidPolicy
from deniable.policy import Column


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        ({}, None),
        ({"bounds": (0, 1)}, "number"),
        ({"keys": [1, 2.5]}, "number"),
        ({"keys": ["A"]}, "text"),
        ({"keys": [True, False]}, "boolean"),
        ({"keys": ["2020-01-01"], "kind": "date"}, "date"),
        ({"keys": "private"}, None),
        ({"kind": "number"}, "number"),
    ],
)
def test_declarations_tell_the_kind(declared, kind):
    assert Column("c", **declared).kind == kind


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ({"bounds": (1, 1)}, "low < high"),
        ({"bounds": (2, 1)}, "low < high"),
        ({"bounds": (0,)}, "two numbers"),
        ({"bounds": "01"}, "two numbers"),
        ({"bounds": (0, float("inf"))}, "finite"),
        ({"bounds": (0, "9")}, "finite"),
        ({"bounds": (0, 10**61)}, "between -1e60 and 1e60"),
        ({"bounds": (-(10**61), 0)}, "between -1e60 and 1e60"),
        ({"bounds": (0, 1e-61)}, "1e-60 apart"),
        ({"step": 1}, "needs `bounds`"),
        ({"bounds": (0, 1), "step": 0}, "positive"),
        ({"bounds": (0, 1), "step": -1}, "positive"),
        ({"bounds": (0, 1), "step": 0.3}, r"use \[0, 0.9\]"),
        ({"bounds": (0, 1), "step": 2}, "1 is not"),
        ({"keys": []}, "empty"),
        ({"keys": "secret"}, "'secret'"),
        ({"keys": ["A", "A"]}, "twice"),
        ({"keys": [1, 1.0]}, "twice"),
        ({"keys": ["A", 1]}, "one kind"),
        ({"keys": [True, 1]}, "one kind"),
        ({"keys": [None]}, "one kind"),
        ({"keys": [float("nan")]}, "one kind"),
        ({"keys": [1, 200], "bounds": (0, 100)}, "200"),
        ({"keys": ["A"], "bounds": (0, 100)}, "number and text"),
        ({"kind": "text", "bounds": (0, 100)}, "number and text"),
        ({"kind": "money"}, "money"),
    ],
)
def test_what_cannot_hold_is_refused(declared, told):
    with pytest.raises(InvalidPolicy, match=told) as refused:
        Column("c", **declared)
    assert refused.value.where[:2] == ("columns", "c")
    assert "'c'" in str(refused.value)


@given(st.integers(-99, 99), st.integers(1, 99), st.integers(1, 999), st.integers(0, 9))
def test_bounds_are_kept_exactly_when_they_are_on_the_grid(low, wide, parts, off):
    step = Fraction(1, parts)
    bounds = (low * step, (low + wide) * step + off * step / 10)
    if off:
        with pytest.raises(InvalidPolicy, match="multiples of the step"):
            Column("c", bounds=bounds, step=step)
    else:
        column = Column("c", bounds=bounds, step=step)
        assert (column.bounds, column.step) == (bounds, step)


def test_floats_mean_what_they_print():
    assert Column("c", bounds=(0, 0.3), step=0.1).bounds == (0, Fraction(3, 10))


@pytest.mark.parametrize(
    ("declared", "type_", "kind", "integer"),
    [
        ({}, "DOUBLE", "number", False),
        ({}, "UBIGINT", "number", True),
        ({}, "TIMESTAMP WITH TIME ZONE", "date", False),
        ({}, "INTEGER[]", None, False),
        ({"bounds": (0, 1), "kind": "number"}, "VARCHAR", "number", False),
        ({"bounds": (0, 1)}, "BOOLEAN", "number", False),
        ({"keys": ["2020-01-01"]}, "DATE", "date", False),
        ({"kind": "date"}, "VARCHAR", "date", False),
        ({"kind": "timestamp"}, "VARCHAR", "date", False),
        ({"keys": "private"}, "ENUM", "text", False),
    ],
)
def test_the_source_completes_a_column(declared, type_, kind, integer):
    column = Column("C", **declared).with_type("c", type_)
    assert (column.name, column.kind, column.integer) == ("c", kind, integer)


@pytest.mark.parametrize(
    ("declared", "type_"),
    [
        ({"bounds": (0, 1)}, "DATE"),
        ({"bounds": (0, 1)}, "STRUCT(a INTEGER)"),
        ({"kind": "boolean"}, "DOUBLE"),
        ({"keys": ["A"]}, "BIGINT"),
    ],
)
def test_a_type_that_cannot_be_read_so_is_refused(declared, type_):
    with pytest.raises(InvalidPolicy, match="declared as"):
        Column("c", **declared).with_type("c", type_)


@pytest.mark.parametrize("declared", [{"bounds": (0, 1)}, {"keys": [1, 2]}, {"keys": [True]}])
@pytest.mark.parametrize("type_", ["VARCHAR", "ENUM", "UUID"])
def test_text_is_read_as_another_kind_only_if_that_is_declared(declared, type_):
    with pytest.raises(InvalidPolicy, match="its source holds text") as refused:
        Column("c", **declared).with_type("c", type_)
    assert refused.value.where == ("columns", "c")
    kind = Column("c", **declared).kind
    assert Column("c", **declared).with_type("c", type_, untyped=True).kind == kind
    assert Column("c", kind=kind, **declared).with_type("c", type_).kind == kind


@pytest.mark.parametrize("type_", ["BIGINT", "UTINYINT", "HUGEINT", "DECIMAL(38,0)"])
def test_bounds_of_integers_hold_an_integer(type_):
    with pytest.raises(InvalidPolicy, match=r"an integer between them.*\[0.2, 0.8\]"):
        Column("c", bounds=(0.2, 0.8)).with_type("c", type_)
    assert Column("c", bounds=(0.2, 1)).with_type("c", type_).bounds == (Fraction(1, 5), 1)
    assert Column("c", bounds=(0.2, 0.8)).with_type("c", "DOUBLE").bounds is not None


@pytest.mark.parametrize(
    "make", [np.array, pd.Series, pl.Series, pa.array, pa.chunked_array, tuple, iter]
)
def test_keys_may_come_as_arrays_and_series(make):
    values = [["A", "B"]] if make is pa.chunked_array else ["A", "B"]
    keys = Column("ward", keys=make(values)).keys
    assert keys == ("A", "B")
    assert {type(key) for key in keys} == {str}


def test_keys_may_be_days():
    days = [date(2026, 3, 2), date(2026, 3, 3)]
    assert Column("day", keys=days) == Column("day", keys=["2026-03-02", "2026-03-03"])
    assert Column("day", keys=np.array(days, "datetime64[D]")).keys == (
        "2026-03-02",
        "2026-03-03",
    )
    with pytest.raises(InvalidPolicy, match="one kind"):
        Column("day", keys=[date(2026, 3, 2), 5])


def test_keys_of_an_array_of_numbers_are_numbers_of_python():
    keys = Column("age", keys=np.array([1, 2])).keys
    assert {type(key) for key in keys} == {int}


@pytest.mark.parametrize("keys", [5, np.int64(5), object(), "A"])
def test_keys_that_are_no_list_are_refused(keys):
    with pytest.raises(InvalidPolicy, match="`keys` must be a list"):
        Column("ward", keys=keys)


def test_keys_that_no_engine_can_be_told_are_refused():
    with pytest.raises(InvalidPolicy, match="UTF-8"):
        Column("ward", keys=["A", "\ud800"])


@pytest.mark.parametrize("bounds", [5, object(), np.float64(1), [1]])
def test_bounds_that_are_no_two_numbers_are_refused(bounds):
    with pytest.raises(InvalidPolicy, match="`bounds` must be two numbers"):
        Column("cost", bounds=bounds)


def test_integers_are_numbers_of_step_1():
    age = Column("age", kind="integer", bounds=(0, 120))
    assert (age.kind, age.integer, age.step) == ("number", True, 1)
    assert Column("age", kind="integer").step is None
    assert Column("salary", kind="integer", bounds=(0, 1000), step=100).step == 100


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ({"bounds": (0, 10), "step": 0.5}, "`step` must be whole for integers. Found 0.5"),
        ({"bounds": (0.5, 10)}, "`bounds` must be multiples of the step, 1"),
        ({"keys": ["A"]}, "number and text"),
    ],
)
def test_integers_that_are_not_whole_are_refused(declared, told):
    with pytest.raises(InvalidPolicy, match=told):
        Column("age", kind="integer", **declared)


@pytest.mark.parametrize("type_", ["VARCHAR", "DOUBLE"])
def test_integers_from_a_source_of_other_numbers_keep_their_step(type_):
    column = Column("age", kind="integer", bounds=(0, 120)).with_type("age", type_)
    assert (column.kind, column.integer, column.step) == ("number", False, 1)


def test_only_kind_declares_a_kind():
    assert Column("age", kind="number").has_declared_kind
    assert Column("ward", kind="text").has_declared_kind
    for declared in ({}, {"bounds": (0, 1)}, {"keys": ["A"]}, {"keys": "private"}):
        assert not Column("c", **declared).has_declared_kind


@pytest.mark.parametrize(
    ("declared", "type_", "timed"),
    [
        ({}, "TIMESTAMP", True),
        ({}, "TIMESTAMP WITH TIME ZONE", True),
        ({"keys": "private"}, "TIMESTAMP", True),
        ({}, "DATE", False),
        ({"kind": "date"}, "TIMESTAMP", False),
        ({"kind": "date"}, "VARCHAR", False),
        ({"kind": "timestamp"}, "VARCHAR", True),
        ({"kind": "timestamp"}, "DATE", True),
    ],
)
def test_what_is_declared_says_whether_dates_have_a_time(declared, type_, timed):
    column = Column("c", **declared).with_type("c", type_)
    assert column.timed is timed
    assert column.with_type("c", type_).timed is timed


@pytest.mark.parametrize(
    ("declared", "type_", "because"),
    [
        ({"kind": "timestamp", "keys": ["2026-01-01 00:00:00"]}, "TIMESTAMP", "DATE_TRUNC"),
        ({"kind": "timestamp", "keys": ["2026-01-01"]}, "VARCHAR", "DATE_TRUNC"),
        ({"keys": ["2026-01-01 00:00:00"]}, "TIMESTAMP", "must be days"),
        ({"kind": "date", "keys": ["2026-1-1"]}, "DATE", "must be days"),
    ],
)
def test_keys_that_no_day_equals_are_refused(declared, type_, because):
    with pytest.raises(InvalidPolicy, match=because):
        Column("c", **declared).with_type("c", type_)


def test_days_are_keys_of_moments_that_are_counted_by_day():
    column = Column("c", keys=["2026-01-01"]).with_type("c", "TIMESTAMP")
    assert (column.kind, column.keys) == ("date", ("2026-01-01",))
