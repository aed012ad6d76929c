from importlib import import_module

import numpy as np
import pytest

import deniable as dp
from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms import (
    OUE,
    Duchi,
    Hybrid,
    NumberOrNot,
    Piecewise,
    RandomizedResponse,
    SquareWave,
)
from deniable.privacy import PureLoss
from deniable.surveys import logistic, randomize

COINS = RandomizedResponse(odds=3)
THREE = RandomizedResponse(odds=6, categories=3)
N = 200_000


@pytest.fixture(scope="module")
def people():
    return {
        "age": np.arange(N) % 60 + 18,
        "dopes": np.arange(N) % 5 == 0,
        "club": np.arange(N) % 7 % 3,
    }


@pytest.fixture(scope="module")
def copy(people):
    return randomize(people, columns={"dopes": COINS, "club": THREE})


def test_the_loss_is_stated_and_added_up(copy):
    assert copy.loss.epsilon() == PureLoss(odds=18).epsilon()
    assert copy.public == ("age",)


def test_it_can_be_analysed(people, copy):
    assert (copy["age"] == people["age"]).all()
    assert not (copy["dopes"] == people["dopes"]).all()
    low, high = copy.estimate("dopes", confidence=1 - 1e-9).interval
    assert low < 0.2 < high
    shares = copy.estimate("club")
    assert shares.value == pytest.approx((3 / 7, 2 / 7, 2 / 7), abs=0.02)
    table = copy.crosstab("dopes", "club")
    assert table.respondents == N
    assert (np.abs(table.raw - np.outer([0.8, 0.2], [3 / 7, 2 / 7, 2 / 7])) < 0.02).all()
    assert logistic(COINS, copy["dopes"], copy["age"]).converged


def test_the_original_is_left_alone():
    people = {"a": [True, False] * 500}
    randomize(people, columns={"a": COINS})
    assert people == {"a": [True, False] * 500}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_stay_frames(library):
    kind = import_module(library).DataFrame
    frame = kind({"x": [1, 0, 1] * 100, "y": [5, 6, 7] * 100, "z": [True, False, True] * 100})
    copy = randomize(frame, columns={"x": COINS, "z": COINS})
    assert isinstance(copy.frame, kind)
    assert list(copy.frame.columns) == ["x", "y", "z"]
    assert list(copy.frame["y"]) == [5, 6, 7] * 100
    assert list(copy.frame["x"]) != [1, 0, 1] * 100
    assert list(frame["x"]) == [1, 0, 1] * 100
    assert copy.estimate("x").respondents == 300
    assert copy.crosstab("x", "z").respondents == 300
    assert copy.loss.epsilon() == PureLoss(odds=9).epsilon()


def test_bad_requests(copy):
    with pytest.raises(InvalidParameter, match="one or more columns"):
        randomize({"a": [1]}, columns={"b": COINS})
    with pytest.raises(InvalidParameter, match="one or more columns"):
        randomize({"a": [1]}, columns={})
    with pytest.raises(InvalidParameter, match="one number"):
        randomize({"a": [1]}, columns={"a": OUE(odds=3, categories=4)})
    with pytest.raises(InvalidParameter, match="not randomized"):
        copy.estimate("age")
    with pytest.raises(InvalidData, match="one answer"):
        randomize({"a": [[1], [0]]}, columns={"a": COINS})


@pytest.mark.parametrize("design", [Duchi, Piecewise, Hybrid, SquareWave, NumberOrNot])
@pytest.mark.parametrize("kind", [dict, import_module("polars").DataFrame])
def test_numbers_are_reported_as_numbers(design, kind):
    coins = design(epsilon=2, low=0, high=100)
    people = kind({"age": [30, 50] * 5_000, "club": [0, 1] * 5_000})
    copy = randomize(people, columns={"age": coins})
    low, high = copy.estimate("age", confidence=1 - 1e-9).interval
    assert low < 40 < high
    assert copy.loss.epsilon() == coins.loss.epsilon()
    assert type(copy["age"]) is type(people["age"])
    with pytest.raises(InvalidParameter, match="one of these holds numbers"):
        copy.crosstab("age", "club")


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(InvalidData, match="the same length"):
        randomize({"a": [1, 0], "b": [1, 2, 3]}, columns={"a": COINS})


def test_the_old_name_says_the_new_one():
    with pytest.raises(AttributeError, match="RandomizedTable"):
        _ = dp.surveys.PrivateCopy
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = dp.surveys.other
