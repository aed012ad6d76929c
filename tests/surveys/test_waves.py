from collections import Counter

import pytest

from deniable.errors import InvalidParameter
from deniable.mechanisms import OUE, RandomizedResponse
from deniable.privacy import PureLoss
from deniable.surveys import Memory, over_waves
from tests.mechanisms.contract import THRESHOLD, fit

COINS = RandomizedResponse(odds=3)


def test_the_same_answer_is_the_same_report():
    mine = Memory(b"0123456789abcdef", "s")
    for question in ("q1", "q2", "q3"):
        for answer in (True, False):
            assert len({mine.report(question, COINS, answer) for _ in range(20)}) == 1
    assert "0123" not in repr(mine)


def test_over_people_and_questions_it_is_the_design():
    people = [Memory(i.to_bytes(16, "big"), "s") for i in range(5000)]
    three = RandomizedResponse(odds=3, categories=3)
    counts = Counter(one.report("q", three, 2) for one in people)
    assert fit(counts, three, 2) > THRESHOLD
    assert fit(counts, RandomizedResponse(odds=5, categories=3), 2) < THRESHOLD
    one = people[0]
    again = Counter(one.report(f"q{i}", three, 2) for i in range(5000))
    assert fit(again, three, 2) > THRESHOLD


def test_losses_over_waves():
    fresh = over_waves(COINS, waves=10, remembered=False)
    assert fresh.epsilon() == (PureLoss(odds=3) * 10).epsilon()
    assert over_waves(COINS, waves=10, remembered=True).epsilon() == PureLoss(odds=9).epsilon()
    once = over_waves(COINS, waves=10, remembered=True, changes=0)
    assert once.epsilon() == PureLoss(odds=3).epsilon()
    many = RandomizedResponse(odds=3, categories=30)
    assert over_waves(many, waves=2, remembered=True).epsilon() == PureLoss(odds=9).epsilon()


def test_what_cannot_be_remembered_is_refused():
    with pytest.raises(InvalidParameter, match="Loloha"):
        Memory(b"0123456789abcdef", "s").report("q", OUE(odds=3, categories=9), 1)
