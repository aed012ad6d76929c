import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms import RandomizedResponse, Tally
from deniable.mechanisms.local.tally import read_tally


def test_tallies_add_up():
    coins = RandomizedResponse(odds=3)
    parts = [coins.aggregate([True]), coins.aggregate([False, True]), coins.aggregate([1, 1])]
    assert sum(parts) == Tally(coins, (1, 4), 5)
    assert list(sum(parts)) == [1, 4]
    assert len(sum(parts)) == 2
    assert coins.estimate(counts=sum(parts)) == coins.estimate(counts=(1, 4))


def test_designs_do_not_mix():
    design, other = RandomizedResponse(odds=3), RandomizedResponse(odds=4)
    with pytest.raises(InvalidParameter, match="one design"):
        design.aggregate([1]) + other.aggregate([1])
    with pytest.raises(InvalidParameter, match="through"):
        design.estimate(counts=other.aggregate([1]))
    with pytest.raises(TypeError):
        design.aggregate([1]) + 5
    with pytest.raises(TypeError):
        5 + design.aggregate([1])


def test_nothing_is_no_tally():
    with pytest.raises(InvalidData, match="no responses"):
        read_tally((0, 0), None, 2)


def test_counts_that_are_no_list_are_refused():
    with pytest.raises(InvalidData, match="a list of 2 numbers"):
        RandomizedResponse(odds=3).estimate(counts=600)
