import numpy as np
import pytest

from deniable.exact.bits import SYSTEM, ScriptedBits
from deniable.mechanisms.quantiles.order_statistics import OrderStatistics
from tests.mechanisms.quantiles.laws import histogram

RECORDS = [0, 0, 0, 2, 3, 3, 7]


def test_places_stay_in_their_cells_and_are_remembered():
    order = OrderStatistics(histogram(RECORDS, 8), SYSTEM)
    some = order.places(2, 5).copy()
    all_ = order.places(0, 7)
    assert (all_ >> order.place_bits).tolist() == RECORDS
    assert (np.diff(all_) >= 0).all()
    assert all_[2:5].tolist() == some.tolist()
    assert order.places(0, 7).tolist() == all_.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_any_order_of_asking_gives_one_table(seed):
    rng = np.random.default_rng(seed)
    records = np.sort(rng.integers(0, 40, 100))
    order = OrderStatistics(histogram(records, 40), SYSTEM)
    seen = {}
    for _ in range(30):
        first, last = sorted(rng.integers(0, 101, 2))
        for rank, place in enumerate(order.places(first, last).tolist(), start=first):
            assert seen.setdefault(rank, place) == place
    whole = order.places(0, 100)
    assert (whole >> order.place_bits).tolist() == records.tolist()
    assert all(whole[rank] == place for rank, place in seen.items())


def test_only_what_is_asked_for_is_drawn():
    order = OrderStatistics(histogram(RECORDS, 8), ScriptedBits([1, 0]), place_bits=1)
    assert order.places(4, 5).tolist() == [6]  # the whole cell 3, and nothing else
    assert order.places(4, 6).tolist() == [6, 7]


def test_ranks_count_what_lies_below():
    order = OrderStatistics(histogram(RECORDS, 8), SYSTEM)
    whole = order.places(0, 7)
    for place in [0, *whole.tolist(), *(whole + 1).tolist(), 5 << order.place_bits]:
        assert order.rank_of(place) == (whole < place).sum()


def test_intervals_cover_all_places_once():
    whole = OrderStatistics(histogram(RECORDS, 8), SYSTEM).all_records()
    edges = whole.edges(0, 7)
    assert edges.size == 9
    assert edges[0] == -1
    assert np.diff(edges).sum() == whole.size
    assert whole.edges(3, 5).tolist() == edges[3:7].tolist()
    left, right = whole.split(int(edges[4]), 3)  # the last place of rank 3
    assert (left.rows, right.rows) == (3, 4)
    assert left.edges(0, 3)[-1] == right.lowest == edges[4]
    assert right.edges(0, 4)[1:].tolist() == edges[4:].tolist()
    assert right.rank(int(edges[5])) == 1


def test_an_empty_table_has_one_interval():
    whole = OrderStatistics(histogram([], 8), SYSTEM).all_records()
    assert whole.edges(0, 0).tolist() == [-1, whole.size - 1]
    assert whole.rank(5) == 0
