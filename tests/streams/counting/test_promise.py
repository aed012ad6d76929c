"""How far protected events move what is measured: all small streams, against the promise."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.streams.counting.coefficients import coefficients, column_square
from deniable.streams.counting.promise import Promise, read_bounds

LENGTH = 4


def columns(length):
    series = coefficients(length)
    matrix = np.zeros((length, length), dtype=object)
    for row in range(length):
        for column in range(row + 1):
            matrix[row, column] = int(series[row - column])
    return [matrix[:, column] for column in range(length)]


def persons(promise, length=LENGTH):
    """What a person may add to the measurements: at most k events, at any times."""
    events = [
        value * column for column in columns(length) for value in (promise.low, promise.high)
    ]
    none = np.zeros(length, dtype=object)
    for chosen in combinations_with_replacement([none, *events], promise.per_person):
        yield sum(chosen, none)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-2, 2), (-1, 3), (0, 5)])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_no_person_moves_the_measurements_further(neighbors, count, low, high):
    promise = Promise(neighbors, low, high, "patient", count)
    most = promise.l2_squared * column_square(LENGTH)
    vectors = list(persons(promise))
    if neighbors == "add-remove":
        moved = vectors
    else:
        moved = [old - new for old, new in product(vectors, vectors)]
    far = max(int(np.dot(vector, vector)) for vector in moved)
    assert far <= most
    # Without events that move in time, and with signs, the bound is reached; two events in
    # different columns have an acute angle, which long horizons make nearly right.
    assert far >= most * (1 if neighbors == "add-remove" or high - low > 1.5 * high else 0.45)


def test_the_named_sensitivities():
    assert Promise().l2_squared == 1
    assert Promise("replace").l2_squared == 2  # events that move in time: sqrt(2)
    assert Promise("replace", -7, 7).l2_squared == (2 * 7) ** 2  # signed values
    assert Promise("add-remove", -7, 7).l2_squared == 49
    assert Promise("add-remove", 0, 1, "patient", 5).l2_squared == 25
    assert [Promise("replace", -3, 2).l1, Promise("add-remove", -3, 2).l1] == [6, 3]


def test_any_split_over_segments_costs_no_more_than_one_segment():
    """Each segment has noise for all k events, so squares add up, and so do L1 norms."""
    for count in range(1, 7):
        for split in product(range(count + 1), repeat=3):
            if sum(split) <= count:
                assert sum(part**2 for part in split) <= count**2
                assert sum(split) <= count


def test_the_promise_is_named():
    assert str(Promise()) == "one event at one time (it may come or go)"
    assert str(Promise(event="row")) == "one row at one time (it may come or go)"
    assert "at most 3 count" in str(Promise(person="guest", per_person=3))
    assert "also in time" in str(Promise("replace"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"low": 1, "high": 2},
        {"low": 0, "high": 0},
        {"per_person": 2},
        {"person": "guest", "per_person": 0},
        {"neighbors": "near"},
    ],
)
def test_refuses(wrong):
    with pytest.raises(InvalidParameter):
        Promise(**wrong)


@pytest.mark.parametrize(
    "wrong", [(1, 2, 3), (1,), 5, None, ("a", "b"), "01", (0, float("inf"))]
)
def test_bounds_are_two_numbers(wrong):
    with pytest.raises(InvalidParameter, match="`bounds`"):
        read_bounds(wrong)
