"""Arrays, lists and frames: ids stay apart, and no value decides how another one is read."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from deniable.errors import FrameWarning, InvalidParameter
from deniable.learn import NaiveBayes
from deniable.learn.measure.array_columns import (
    named_values,
    read_column,
    read_columns,
    read_new_column,
)
from deniable.learn.measure.training_data import take

LARGE = ["12345678901234567", "12345678901234568"]


def model(**more):
    return NaiveBayes(epsilon=1, bounds=(0, 10), classes=[0, 1], **more)


@pytest.mark.parametrize(
    "ids",
    [
        LARGE,
        ["01", "1"],
        ["p1", "p2"],
        [2**60, 2**60 + 1],
        np.array(LARGE, object),
        np.array(LARGE),
        np.array([2**60, 2**60 + 1]),
        pd.Series(LARGE, dtype="string"),
        pd.Series(LARGE, dtype="category"),
        pd.Series([2**60, 2**60 + 1], dtype="Int64"),
    ],
    ids=lambda ids: type(ids).__name__,
)
def test_two_units_stay_two(ids):
    for X in ({"id": ids, "x": [1, 2]}, pd.DataFrame({"id": ids, "x": [1, 2]})):
        units = read_columns(X, {}, "ID")["id"].to_pylist()
        assert len(set(units)) == 2
        assert None not in units
        assert take(X, [1, 0], None, "id")["id"].to_pylist() == units[::-1]


def test_units_in_doubles_are_refused_by_their_type():
    for ids in (np.array([1.0, 2.0]), pd.Series([1, None])):
        with pytest.raises(InvalidParameter, match="two large ids can become one"):
            model(unit="id").explain({"id": ids, "x": [1, 2]}, [0, 1])


def test_the_unit_has_no_bounds():
    data = model(unit="id").open({"id": [100, 200], "x": [1, 2]}, [0, 1], None)
    assert data.table.columns["id"].bounds is None
    assert data.table.columns["x"].bounds == (0, 10)
    data.close()


ODD = [2.5, "x", None, True, 10**400, b"\xff", "\ud800", object(), [1, 2], {"a": 1}, 1 + 2j]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_no_value_changes_the_plan(odd):
    plain = str(model().explain([[1], [2]], [0, 1]))
    assert str(model().explain([[1], [odd]], [0, 1])) == plain
    assert str(model().explain([[1], [2]], [0, odd])) == plain
    matrix = np.array([[1], [None]], object)
    matrix[1, 0] = odd
    assert str(model().explain(matrix, [0, 1])) == plain
    assert str(model().explain({"x0": [1, odd]}, [0, 1])) == plain


def test_the_type_for_integers_changes_no_cell():
    plain = str(model().explain([[1.0], [2.0]], [0, 1]))
    assert str(model().explain(np.array([[1], [2]]), np.array([0, 1]))) == plain
    assert str(model().explain(pd.DataFrame({"x0": [1, 2]}), [0, 1])) == plain
    assert str(model().explain(pd.DataFrame({"x0": [1, None]}), [0, 1])) == plain


def test_declared_kinds_hold_for_all_types():
    for values in (["1", "b"], [1, "b"], np.array(["1", "b"]), pd.Series([1, "b"])):
        assert read_column(values, "text", "x").to_pylist() == ["1", "b"]
        assert read_column(values, "number", "x").to_pylist() == [1.0, None]


def test_types_that_mean_something_are_kept():
    assert pa.types.is_large_string(read_column(np.array(["a", "b"]), None, "x").type)
    assert pa.types.is_integer(read_column(pa.array([1, 2]), None, "x").type)
    with pytest.warns(FrameWarning, match="these columns: x"):
        assert pa.types.is_boolean(read_column(np.array([True, False]), None, "x").type)


def test_rows_of_different_lengths_and_lists_of_values_are_refused():
    with pytest.raises(InvalidParameter, match="different lengths"):
        model().explain([[1], [2, 3]], [0, 1])
    with pytest.raises(InvalidParameter, match="2D array, got 1D"):
        model().explain([1, 2], [0, 1])


def test_rows_to_predict_are_of_the_kind_of_their_feature():
    rows = named_values(np.array([[1, "a"], ["2", 10**400], [None, None]], object))
    assert read_new_column(rows["x0"], "number").to_pylist() == [1.0, 2.0, None]
    assert read_new_column(rows["x0"], "text").to_pylist() == ["1", "2", None]
    assert read_new_column(rows["x1"], "text").to_pylist() == ["a", str(10**400), None]
    large = pa.array([2**53 + 1])
    assert read_new_column(large, "number").to_pylist() == [2**53 + 1]


LIKE = {
    "decimals for texts": ([1.0, 2.0], ["1", "2"]),
    "decimals for texts, one missing": ([1.0, 2.0, np.nan, 2.0], ["1", "2"]),
    "digits with a zero": (pd.Series(["01", "02"] * 200, dtype=object), ["01", "02"]),
    "times for days": (
        pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"] * 200)),
        ["2020-01-01"],
    ),
    "numbers for truth": ([0, 1], [False, True]),
    "truth for numbers": ([False, True], [0, 1]),
    "truth for texts": ([False, True], ["False", "True"]),
    "texts for numbers": (pa.array(["1", "2"] * 200), [1, 2]),
    "Arrow decimals for texts": (pa.array([1.0, 2.0] * 200), ["1", "2"]),
    "Arrow truth for texts": (pa.array([False, True] * 200), ["False", "True"]),
}


@pytest.mark.parametrize("name", LIKE)
@pytest.mark.filterwarnings("ignore::deniable.FrameWarning")
def test_a_value_is_in_the_same_cell_in_training_and_prediction(name):
    column, keys = LIKE[name]
    if isinstance(column, list):
        column = column * (400 // len(column))
    y = [0, 1] * 200
    frame = pa.table({"k": column}) if isinstance(column, pa.Array) else {"k": column}
    model = NaiveBayes(epsilon=80, keys={"k": keys}, classes=[0, 1]).fit(frame, y)
    assert np.mean(model.predict(frame) == np.array(y)) > 0.7
    assert model.model_.tables[0][0, 0] > -1  # the training knew the values


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[0, 1]], columns=[1, "1"]),
        pd.DataFrame([[0, 1]], columns=["a", "a"]),
        {1: [0], "1": [1]},
        pa.table([[0], [1]], names=["a", "a"]),
    ],
)
def test_columns_whose_names_are_written_alike_are_refused(frame):
    """One of them would be lost."""
    with pytest.raises(InvalidParameter, match="two columns"):
        named_values(frame)
