"""One-liners: the plan is the session's, whatever the array is."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidData, InvalidParameter

VALUES = np.random.default_rng(3).random(2000)
KINDS = {
    "numpy": VALUES,
    "list": VALUES.tolist(),
    "tuple": tuple(VALUES.tolist()),
    "arrow": pa.array(VALUES),
    "chunked": pa.chunked_array([VALUES[:7], VALUES[7:]]),
    "pandas": pd.Series(VALUES),
    "polars": pl.Series(VALUES),
    "objects": pd.Series(VALUES, dtype=object),
}
LINES = [
    (dp.sum, "SUM(value) AS sum"),
    (dp.mean, "AVG(value) AS mean"),
    (dp.variance, "VAR_SAMP(value) AS variance"),
    (dp.stddev, "STDDEV_SAMP(value) AS stddev"),
    (dp.histogram, "HISTOGRAM(value, 10) AS histogram"),
    (dp.median, "MEDIAN(value) AS median"),
    (dp.min, "MIN(value) AS min"),
    (dp.max, "MAX(value) AS max"),
    (partial(dp.quantile, level=0.9), "QUANTILE_CONT(value, 0.9) AS quantile"),
    (
        partial(dp.quantiles, levels=[0.25, 0.75]),
        "QUANTILE_CONT(value, [0.25, 0.75]) AS quantiles",
    ),
]


def session(values=VALUES, **declared):
    return dp.protect(pa.table({"value": values}), epsilon=1, **declared)


@pytest.mark.parametrize(("line", "selected"), LINES)
def test_the_plan_is_the_sessions(line, selected):
    plan = session(bounds={"value": (0, 1)}).plan(f"SELECT {selected} FROM data", epsilon=1)
    assert line(VALUES, bounds=(0, 1), epsilon=1).plan == plan


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_array_makes_the_same_plan(kind):
    answer = dp.mean(KINDS[kind], bounds=(0, 1), epsilon=1)
    assert answer.plan == dp.mean(VALUES, bounds=(0, 1), epsilon=1).plan
    assert abs(answer.value - VALUES.mean()) < 0.02
    assert dp.count(KINDS[kind], epsilon=1).plan == dp.count(VALUES, epsilon=1).plan
    assert abs(dp.count(KINDS[kind], epsilon=1).value - 2000) < 40


def test_what_is_declared_reaches_the_plan():
    got = dp.sum(
        VALUES,
        bounds=(0, 1),
        epsilon=1,
        delta=1e-6,
        step=0.5,
        confidence=0.9,
        neighbors="replace",
    )
    declared = session(
        bounds={"value": (0, 1)}, step={"value": 0.5}, neighbors="replace", delta=1e-6
    )
    options = {"epsilon": 1, "delta": 1e-6, "confidence": 0.9}
    assert got.plan == declared.plan("SELECT SUM(value) AS sum FROM data", **options)


def test_a_histogram_of_keys():
    got = dp.histogram(["A", "B", "B", None] * 100, keys=["A", "B", "C"], epsilon=1)
    opened = session(["A"], keys={"value": ["A", "B", "C"]})
    plan = opened.plan("SELECT HISTOGRAM(value, 10) AS histogram FROM data", epsilon=1)
    assert got.plan == plan
    assert abs(got.to_arrow()["histogram[B]"][0].as_py() - 200) < 40


def test_the_most_frequent_value():
    got = dp.mode(["A", "B", "B", None] * 100, keys=["A", "B", "C"], epsilon=1)
    opened = session(["A"], keys={"value": ["A", "B", "C"]})
    assert got.plan == opened.plan("SELECT MODE(value) AS mode FROM data", epsilon=1)
    assert got.value == "B"


def test_numbers_as_keys():
    got = dp.histogram([1, 2, 2] * 100, keys=[1, 2], bounds=(1, 2), bins=1, epsilon=1)
    assert abs(got.value - 300) < 40


def test_text_names_an_aggregate():
    assert str(dp.mean("cost")) == "AVG(cost)"
    assert str(dp.count()) == "COUNT(*)"
    assert str(dp.variance("x", population=True)) == "VAR_POP(x)"
    assert dp.variance([0, 1] * 99, population=True, bounds=(0, 1), epsilon=1).columns


def test_bounds_are_found_on_request():
    got = dp.mean(VALUES * 1000, bounds="find", epsilon=1)
    assert abs(got.value - 1000 * VALUES.mean()) < 50
    assert "Finding bounds took 20 %" in str(got)


@pytest.mark.parametrize(
    "line", [dp.sum, dp.mean, dp.variance, dp.stddev, dp.histogram, dp.median]
)
def test_missing_bounds_are_explained(line):
    with pytest.raises(InvalidParameter, match=r"`bounds` is missing.*bounds=\(0, 100\).*find"):
        line(VALUES, epsilon=1)


@pytest.mark.parametrize("line", [dp.sum, dp.count])
def test_a_missing_price_is_explained(line):
    given = {} if line is dp.count else {"bounds": (0, 1)}
    with pytest.raises(InvalidParameter, match="`epsilon` is missing"):
        line(VALUES, **given)


def test_a_column_has_no_price_of_its_own():
    with pytest.raises(InvalidParameter, match="names a column"):
        dp.mean("cost", epsilon=1)
    with pytest.raises(InvalidParameter, match="names a column"):
        dp.mean("cost", bounds=(0, 1))


def test_a_median_has_an_interval_unless_it_is_not_wanted():
    drawn = dp.median(range(1000), bounds=(0, 1000), epsilon=1)
    assert drawn.low <= drawn.value <= drawn.high
    sharp = dp.median(range(1000), bounds=(0, 1000), epsilon=1, brackets=False)
    assert (sharp.low, sharp.high, sharp.units) == (None, None, {"median": "ranks"})


def test_unknown_arguments_are_refused():
    with pytest.raises(InvalidParameter, match="Unknown option `unit`"):
        dp.mean(VALUES, bounds=(0, 1), epsilon=1, unit="patient")


@pytest.mark.parametrize("values", [np.zeros((2, 2)), 5, b"bytes", {"a": 1}])
def test_what_is_no_array_is_refused(values):
    with pytest.raises(InvalidData, match=r"one dimension|Give an array, a Series or a list"):
        dp.mean(values, bounds=(0, 1), epsilon=1)


ODD = [None, float("nan"), "text", "0.5", 10**400, object(), float("inf"), True]


@pytest.mark.parametrize("odd", ODD, ids=lambda value: str(type(value).__name__))
def test_no_value_changes_the_plan(odd):
    """A list's type is public: it is read as doubles, whatever one row of it is."""
    plain = dp.sum([0.5] * 50, bounds=(0, 1), epsilon=1)
    with_odd = dp.sum([0.5] * 49 + [odd], bounds=(0, 1), epsilon=1)
    assert with_odd.plan == plain.plan
    assert dp.count([0.5] * 49 + [odd], epsilon=1).plan == dp.count([0.5] * 50, epsilon=1).plan


def test_nan_is_missing():
    values = np.where(np.arange(4000) % 2, np.nan, 0.0)
    assert abs(dp.count(values, epsilon=1).value - 2000) < 40
    assert abs(dp.sum(values, bounds=(0, 1), epsilon=1).value) < 40
