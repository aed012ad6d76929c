from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms.histogram import ColumnGrid, Histogram


def test_each_value_goes_to_its_nearest_grid_point():
    grid = ColumnGrid.of((-1, 1), 0.25)
    values = [-9, -1, -0.9, -0.87, 0.0, 0.13, 0.999, 1, 7.5]
    assert grid.nearest(np.array(values)).tolist() == [0, 0, 0, 1, 4, 5, 8, 8, 8]
    assert grid.nearest(values).tolist() == [0, 0, 0, 1, 4, 5, 8, 8, 8]
    assert grid.nearest(np.array([-3, 0, 1], dtype=np.int8)).tolist() == [0, 4, 8]
    assert [grid.value(k) for k in range(9)] == [-1 + k / 4 for k in range(9)]


def test_whole_grids_have_whole_values():
    assert type(ColumnGrid.of((0, 100), 5).value(3)) is int
    assert type(ColumnGrid.of((0, 1), 0.5).value(2)) is float


@given(st.lists(st.integers(0, 20000), max_size=50))
def test_grid_points_are_their_own_nearest(cells):
    grid = ColumnGrid.of((-100, 100), 0.01)
    values = np.array([grid.value(k) for k in cells], dtype=float)
    assert grid.nearest(values).tolist() == cells


@pytest.mark.parametrize("size", [40, 3_000_000])
def test_values_and_cells_make_the_same_histogram(size):
    """Both ways to count: into an array, and by sorting."""
    grid = ColumnGrid.of((0, size - 1), 1)
    values = np.array([3, 3, 39, 0, 3, 17])
    counted = Histogram.of_values(grid, values)
    given_ = Histogram.of_cells(grid, [0, 3, 5, 17, 39], [1, 3, 0, 1, 1])
    for each in (counted, given_):
        assert each.cells.tolist() == [0, 3, 17, 39]
        assert each.counts.tolist() == [1, 3, 1, 1]
        assert each.rows == 6
    assert "17" not in repr(counted)


def test_no_values_are_a_table_too():
    grid = ColumnGrid.of((0, 9), 1)
    for empty in ([], np.array([]), np.array([], dtype=int)):
        assert Histogram.of_values(grid, empty).rows == 0
    assert Histogram.of_cells(grid, [], []).rows == 0


@pytest.mark.parametrize(
    "bad",
    [
        [1.0, float("nan")],
        np.array([1.0, np.nan]),
        np.array([np.inf]),
        ["7"],
        [None],
        7,
        np.array([True]),
        np.array([1 + 2j]),
        [[1, 2], [3]],
    ],
    ids=str,
)
def test_bad_values_are_refused_without_being_quoted(bad):
    with pytest.raises(InvalidData) as caught:
        Histogram.of_values(ColumnGrid.of((0, 9), 1), bad)
    assert "7" not in str(caught.value)


@pytest.mark.parametrize(
    ("cells", "counts"),
    [
        ([0, 1], [1]),
        ([1, 0], [1, 1]),
        ([1, 1], [1, 1]),
        ([-1], [1]),
        ([10], [1]),
        ([1], [-1]),
        ([1.5], [1]),
        ([1], [0.5]),
        ([1], [2**60]),
        ([[1]], [[1]]),
    ],
)
def test_bad_histograms_are_refused(cells, counts):
    with pytest.raises(InvalidData):
        Histogram.of_cells(ColumnGrid.of((0, 9), 1), cells, counts)


@pytest.mark.parametrize(
    ("bounds", "step"),
    [
        ((0, 1), 0.3),
        ((1, 0), 1),
        ((0, 0), 1),
        ((0, 1), 0),
        ((0, 10**12), 1),
        (5, 1),
        ((0, 1, 2), 1),
    ],
)
def test_bad_grids_are_refused(bounds, step):
    with pytest.raises(InvalidParameter, match=r"bounds|step"):
        ColumnGrid.of(bounds, step)


def test_steps_are_exact():
    assert ColumnGrid.of((0, 1), F(1, 3)).size == 4
    assert ColumnGrid.of((0, 0.3), 0.1).size == 4
