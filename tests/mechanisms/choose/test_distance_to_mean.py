"""The distance to a mean when records come and go, against a search over all small tables."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidData
from deniable.mechanisms.choose.distance_to_mean import DistanceToChangingMean
from deniable.mechanisms.choose.distances import SearchedDistance
from tests.mechanisms.tables import neighbors, tables

F = Fraction
STEPS = [F(1), F(1, 2), F(2), F(3, 4)]
ROOM = 8  # records more than the tables that are compared


def rounded(table, step):
    return math.floor(F(sum(table), len(table)) / step + F(1, 2)) * step


def in_reach(t, step):
    """The two sets whose distances count, as 'is the table in it'."""
    low, high = t - step / 2, t + step / 2
    return (
        lambda table: True if sum(y - low for y in table) >= 0 else None,
        lambda table: True if not table or sum(high - y for y in table) > 0 else None,
    )


@pytest.mark.parametrize("step", STEPS)
def test_it_is_the_larger_of_two_distances(step):
    measure = DistanceToChangingMean(0, 3, step)
    outputs = measure.outputs()
    sets = [
        [SearchedDistance(each, range(4), 4 + ROOM, "add-remove") for each in in_reach(t, step)]
        for t in outputs
    ]
    for table in tables(4, 4):
        wanted = [max(int(each(table)[0]) for each in pair) for pair in sets]
        assert measure(list(table)).tolist() == wanted


@pytest.mark.parametrize("step", STEPS)
def test_it_is_zero_at_the_truth_and_never_more_than_the_changes_needed(step):
    measure = DistanceToChangingMean(0, 3, step)
    outputs = measure.outputs()

    def answer(table):
        return rounded(table, step) if table else None

    searched = SearchedDistance(answer, range(4), 4 + ROOM, "add-remove")
    for table in tables(4, 4):
        distances = dict(zip(outputs, measure(list(table)).tolist(), strict=True))
        if table:
            assert distances[answer(table)] == 0
        for t, changes in zip(searched.outputs, searched(table).tolist(), strict=True):
            assert distances[t] <= changes


@pytest.mark.parametrize("step", STEPS)
def test_one_change_moves_it_by_one_at_most(step):
    measure = DistanceToChangingMean(0, 3, step)
    for table, other in neighbors("add-remove", 4, 4):
        assert np.abs(measure(list(table)) - measure(list(other))).max() <= 1


@given(
    st.lists(st.integers(-20, 30), max_size=40),
    st.integers(-20, 30),
    st.fractions(F(1, 8), 5, max_denominator=8),
)
def test_one_change_of_larger_tables(records, other, step):
    measure = DistanceToChangingMean(-20, 30, step)
    before, after = measure(records), measure([*records, other])
    assert np.abs(before - after).max() <= 1


def test_greedy_gains_by_hand():
    measure = DistanceToChangingMean(0, 10, F(1))
    # Mean 0 of four records: a mean of 9.5 needs one added 10 for each 9.5 that is missing, or
    # the removal of a 0, which brings 9.5 at once: four removals empty the table.
    assert measure([0, 0, 0, 0])[10] == 4
    # Twenty 5s: from 100 to a sum of 4.5 above: additions of 10 bring 4.5, removals 0.5.
    assert measure([5] * 20)[6] == math.ceil(F(10) / F(9, 2))


def test_ends_and_bad_data():
    measure = DistanceToChangingMean(0, 3, F(1))
    assert measure([]).tolist() == [0, 0, 0, 0]
    assert measure([99, -5]).tolist() == measure([3, 0]).tolist()
    for bad in ([0.5], [[1]], ["a"]):
        with pytest.raises(InvalidData):
            measure(bad)
    for table in combinations_with_replacement(range(4), 3):
        assert measure(list(table)).max() <= 3
