"""Distances in closed form against a breadth-first search over all small tables."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms.choose.distances import (
    DistanceToMean,
    DistanceToMode,
    DistanceToQuantile,
    SearchedDistance,
    count_values,
)

F = Fraction
QUANTILES = [F(0), F(1, 10), F(1, 4), F(1, 3), F(1, 2), F(3, 5), F(2, 3), F(9, 10), F(1)]


def smaller(values, records):
    return [
        list(table)
        for n in range(records + 1)
        for table in combinations_with_replacement(values, n)
    ]


def quantile(q):
    def answer(table):
        return sorted(table)[max(1, math.ceil(q * len(table))) - 1] if table else None

    return answer


@pytest.mark.parametrize("q", QUANTILES)
def test_quantiles_when_records_are_replaced(q):
    for n in range(1, 6):
        searched = SearchedDistance(quantile(q), range(4), n, "replace")
        closed = DistanceToQuantile(searched.outputs, q, "replace")
        for table in combinations_with_replacement(range(4), n):
            assert closed(list(table)).tolist() == searched(table).tolist()


@pytest.mark.parametrize("q", QUANTILES)
def test_quantiles_when_records_come_or_go(q, size):
    """The search needs room above the tables that are compared: nine records more."""
    records = size(small=4, full=6, what="records at most, quantile distances by search")
    searched = SearchedDistance(quantile(q), range(3), records + 9, "add-remove")
    closed = DistanceToQuantile(searched.outputs, q, "add-remove")
    for table in smaller(range(3), records):
        assert closed(table).tolist() == searched(table).tolist()


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_modes(relation):
    categories = "abc"
    closed = DistanceToMode(tuple(categories), relation)
    for n in range(1, 6):
        room = n + 5 if relation == "add-remove" else n
        columns = {
            category: SearchedDistance(
                lambda t, c=category: is_mode(t, c), categories, room, relation
            )
            for category in categories
        }
        for table in combinations_with_replacement(categories, n):
            wanted = [
                columns[category](table)[columns[category].outputs.index(True)]
                for category in categories
            ]
            assert closed(list(table)).tolist() == wanted


def is_mode(table, category):
    counts = Counter(table)
    return counts[category] == max(counts.values(), default=0)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("step", [F(1), F(1, 2), F(2)])
def test_means(n, step):
    closed = DistanceToMean(0, 3, step)

    def answer(table):
        return math.floor(F(sum(table), n) / step + F(1, 2)) * step

    searched = SearchedDistance(answer, range(4), n, "replace")
    for table in combinations_with_replacement(range(4), n):
        wanted = dict(zip(searched.outputs, searched(table).tolist(), strict=True))
        distances = dict(zip(closed.outputs(), closed(list(table)).tolist(), strict=True))
        assert {t: distances[t] for t in wanted} == wanted


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize(
    "distance",
    [
        lambda relation: DistanceToQuantile((0, 1, 2, 3), F(1, 3), relation),
        lambda relation: DistanceToMode((0, 1, 2, 3), relation),
    ],
    ids=["quantile", "mode"],
)
def test_one_change_moves_a_distance_by_one_at_most(distance, relation):
    measure = distance(relation)
    for table in smaller(range(4), 4):
        for i in range(len(table)):
            rest = table[:i] + table[i + 1 :]
            others = [rest] if relation == "add-remove" else [[*rest, v] for v in range(4)]
            for other in others:
                assert np.abs(measure(table) - measure(other)).max() <= 1


def test_histograms_and_values_agree():
    for kind in (list, np.array):
        values, counts = count_values(kind([3, 1, 3]))
        assert (values.tolist(), counts.tolist()) == ([1, 3], [1, 2])
    measure = DistanceToQuantile((1, 2, 3), F(1, 2), "add-remove")
    assert measure({3: 2, 1: 1}).tolist() == measure([3, 1, 3]).tolist()
    halves = DistanceToQuantile((F(1, 2), 1, 2), F(1, 2), "replace")
    assert halves([1, 1, 2]).tolist() == [2, 0, 1]
    floats = DistanceToQuantile((0.5, 1.0), F(1, 2), "replace")
    assert floats(np.array([0.5, 0.75, 1.0])).tolist() == [1, 1]
    assert floats([0, 1, 1]).tolist() == [1, 0]


def test_large_grids_are_no_problem():
    grid = tuple(range(100_000))
    distances = DistanceToQuantile(grid, F(1, 2), "replace")(np.arange(0, 100_000, 10))
    assert distances.min() == 0
    assert distances.argmin() == 49_990


@pytest.mark.parametrize(
    ("measure", "bad"),
    [
        (DistanceToQuantile((1, 2), F(1, 2), "replace"), []),
        (DistanceToQuantile((1, 2), F(1, 2), "replace"), [1.0, float("nan")]),
        (DistanceToQuantile((1, 2), F(1, 2), "replace"), ["a"]),
        (DistanceToQuantile((1, 2), F(1, 2), "replace"), [[1], [2]]),
        (DistanceToQuantile((1, 2), F(1, 2), "replace"), {1: -1}),
        (DistanceToMode(("a", "b"), "replace"), ["a", "z"]),
        (DistanceToMean(0, 3, F(1)), []),
        (DistanceToMean(0, 3, F(1)), [0.5]),
        (SearchedDistance(max, range(3), 2, "replace"), [1, 2, 2]),
        (SearchedDistance(max, range(3), 2, "replace"), [1, 9]),
    ],
)
def test_bad_data_is_refused_without_being_quoted(measure, bad):
    with pytest.raises(InvalidData) as caught:
        measure(bad)
    assert "9" not in str(caught.value)


def test_a_search_that_is_too_large_is_refused():
    with pytest.raises(InvalidParameter, match="closed form"):
        SearchedDistance(max, range(100), 6, "replace")


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_quantile_with_many_digits_has_the_distances_of_its_neighbour(neighbors):
    """q as a float's decimal has a denominator of 10**16: no rank may leave int64."""
    data = {2: 1250, 5: 2500, 7: 1249}
    exact = DistanceToQuantile(tuple(range(10)), F(1, 3), neighbors)(data)
    digits = DistanceToQuantile(tuple(range(10)), F("0.3333333333333333"), neighbors)(data)
    assert digits.tolist() == exact.tolist()
    assert digits.dtype == np.int64
    assert digits[5] == 0
