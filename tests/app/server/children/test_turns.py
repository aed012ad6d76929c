"""One turn of a person at a time, and few who wait."""

import pytest

import deniable as dp
from deniable.app.server.children.turns import Turns


def test_beyond_the_limit_nobody_waits():
    with (
        pytest.raises(dp.TooManyQuestions, match="are being planned: 0"),
        Turns(0).of("ann"),
    ):
        pass


def test_a_turn_is_of_one_person_and_is_forgotten():
    turns = Turns(2)
    with turns.of("ann"):
        assert turns._turns["ann"].locked()
        with turns.of("bob"):  # who does not wait for ann
            assert {*turns._here} == {"ann", "bob"}
    assert not turns._here
    assert not turns._turns


def test_long_work_of_two_people_is_done_one_after_the_other():
    turns = Turns(2)
    with turns.of("ann", long=True):
        assert turns._long.locked()
        with turns.of("bob"):  # whose work is short, and does not wait
            pass
    assert not turns._long.locked()
