"""No value of an array decides between an error and an answer, or changes the plan."""

import random
import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import DeniableError, FrameWarning
from tests.engines.odd_values import CONTAINERS, Neighbours, Unwritable

KEYS = {"text": ["a", "1", "é"], "number": [1, 2.5], "boolean": [True, False]}
CALLS = {
    "count": dp.count,
    **{
        line.__name__: partial(line, bounds=(-5, 5))
        for line in (dp.sum, dp.mean, dp.variance, dp.stddev, dp.histogram, dp.median)
    },
    "step": partial(dp.sum, bounds=(-5, 5), step=1, neighbors="replace"),
    "quantiles": partial(dp.quantiles, levels=[0.25, 0.75], bounds=(0, 9)),
    **{f"mode of {kind}": partial(dp.mode, keys=keys) for kind, keys in KEYS.items()},
    "histogram of text": partial(dp.histogram, keys=KEYS["text"]),
    "histogram of boolean": partial(dp.histogram, keys=KEYS["boolean"]),
    "without bounds for numbers": partial(dp.histogram, keys=KEYS["number"]),
    # These are refused, whatever the values are.
    "without bounds": dp.mean,
    "wrong bounds": partial(dp.mean, bounds=(5, 0)),
    "wrong option": partial(dp.mean, bounds=(0, 5), unit="patient"),
    "wrong keys": partial(dp.mode, keys=["a", 1]),
}


def outcome(call, values):
    """The plan of the answer, or the error's type and message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FrameWarning)
        try:
            return call(values, epsilon=1).plan
        except DeniableError as problem:
            return type(problem), str(problem)


@pytest.mark.usefixtures("plans_checked_once")
def test_neighbouring_arrays_get_the_same_status_and_message(size):
    rng = random.Random(14)
    for _ in range(size(small=10, full=2_000, what="pairs of arrays, asked about")):
        name, call = rng.choice([*CONTAINERS]), rng.choice([*CALLS])
        first, second = Neighbours.draw(rng).columns(rng, CONTAINERS[name])
        result, other = outcome(CALLS[call], first), outcome(CALLS[call], second)
        assert result == other, (name, call)
        assert isinstance(result, tuple) == call.startswith("w"), (name, call, result)


NOTHING = {
    "empty": [],
    "missing": [None] * 500,
    "nan": [float("nan")] * 500,
    "numpy": np.full(500, np.nan),
    "objects": np.full(500, None),
    "pandas": pd.Series([None] * 500),
    "polars": pl.Series([None] * 500),
    "arrow": pa.nulls(500),
    "typed": pa.nulls(500, pa.int64()),
}


@pytest.mark.parametrize("values", NOTHING.values(), ids=NOTHING)
def test_arrays_without_a_value_are_answered(values):
    assert dp.count(values, epsilon=1).plan == dp.count([1], epsilon=1).plan
    assert abs(dp.count(values, epsilon=1).value) < 60


@pytest.mark.parametrize("odd", ["\ud800", Unwritable()], ids=["surrogate", "unwritable"])
def test_values_without_a_text_are_answered(odd):
    for call in (dp.count, CALLS["mode of text"], CALLS["histogram of text"]):
        assert outcome(call, ["a", odd] * 9) == outcome(call, ["a", "b"] * 9)


def test_the_type_of_an_array_does_not_change_the_grid():
    """One missing value turns an array of integers into doubles."""
    whole, missing = np.array([1, 2, 3]), np.array([1, 2, np.nan])
    assert whole.dtype != missing.dtype
    assert outcome(CALLS["mean"], whole) == outcome(CALLS["mean"], missing)


def test_booleans_as_keys():
    answer = dp.histogram([True, False, True, None] * 100, keys=[True, False], epsilon=1)
    assert abs(answer.to_arrow()["histogram[True]"][0].as_py() - 200) < 60
    assert (
        dp.mode(np.array([True] * 500), keys=np.array([True, False]), epsilon=1).value is True
    )
