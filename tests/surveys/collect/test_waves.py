from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms import (
    OLH,
    OUE,
    Duchi,
    HadamardResponse,
    Hybrid,
    Loloha,
    NumberOrNot,
    Ordinal,
    Piecewise,
    RandomizedResponse,
    Rappor,
    SquareWave,
    SubsetSelection,
)
from deniable.privacy import PureLoss
from deniable.surveys import Memory, SurveyQuestion, design_question, over_waves
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
    counts = Counter(person.report("q", three, 2) for person in people)
    assert fit(counts, three, 2) > THRESHOLD
    assert fit(counts, RandomizedResponse(odds=5, categories=3), 2) < THRESHOLD
    person = people[0]
    again = Counter(person.report(f"q{i}", three, 2) for i in range(5000))
    assert fit(again, three, 2) > THRESHOLD


def test_losses_over_waves():
    fresh = over_waves(COINS, waves=10, remembered=False)
    assert fresh.epsilon() == (PureLoss(odds=3) * 10).epsilon()
    assert over_waves(COINS, waves=10, remembered=True).epsilon() == PureLoss(odds=9).epsilon()
    once = over_waves(COINS, waves=10, remembered=True, changes=0)
    assert once.epsilon() == PureLoss(odds=3).epsilon()
    many = RandomizedResponse(odds=3, categories=30)
    assert over_waves(many, waves=2, remembered=True).epsilon() == PureLoss(odds=9).epsilon()


DESIGNS = [
    Ordinal(odds=4, categories=5),
    OUE(odds=3, categories=5),
    OLH(odds=3, categories=5),
    HadamardResponse(odds=3, categories=4),
    SubsetSelection(odds=3, categories=5),
    Duchi(odds=3, low=0, high=4),
    Piecewise(odds=3, low=0, high=4),
    Hybrid(odds=3, low=0, high=4),
    SquareWave(odds=3, low=0, high=4),
    NumberOrNot(odds=3, low=0, high=4),
]


@pytest.mark.parametrize("design", DESIGNS, ids=lambda each: type(each).__name__)
def test_every_design_of_one_answer_is_remembered(design):
    mine = Memory(b"0123456789abcdef", "s")

    def sent(person, answer, question="q"):
        return tuple(np.atleast_1d(person.report(question, design, answer)).tolist())

    assert len({sent(mine, 3) for _ in range(20)}) == 1
    # Other questions, answers and people have other coins: 60 reports are never all alike.
    people = [Memory(i.to_bytes(16, "big"), "s") for i in range(60)]
    assert len({sent(each, 3) for each in people}) > 1
    assert len({sent(mine, 3, f"q{i}") for i in range(60)}) > 1
    reports = np.array([each.report("q", design, 3) for each in people])
    assert design.aggregate(reports).respondents == 60  # real reports


@pytest.mark.parametrize("design", [DESIGNS[0], DESIGNS[9]], ids=["ordinal", "number or not"])
def test_remembered_reports_follow_the_design(design):
    people = [Memory(i.to_bytes(16, "big"), "s") for i in range(4000)]
    counts = Counter(int(person.report("q", design, 3)) for person in people)
    assert fit(counts, design, 3) > THRESHOLD
    assert fit(counts, design, 0) < THRESHOLD  # the same reports do not fit another answer


def test_numbers_are_remembered_by_their_step_and_declining_too():
    design = NumberOrNot(odds=3, low=0, high=4, step=2)
    mine = [Memory(i.to_bytes(16, "big"), "s") for i in range(200)]
    assert [person.report("q", design, 1.9) for person in mine] == [
        person.report("q", design, 2.1) for person in mine
    ]
    said, not_said = (
        [int(person.report("q", design, answer)) for person in mine] for answer in (0.0, np.nan)
    )
    assert said != not_said


@pytest.mark.parametrize("options", [2, 9])
def test_boxes_are_remembered(options):
    question = SurveyQuestion(
        id="m", kind="multiple-choice", text="?", options=[str(i) for i in range(options)]
    )
    design = design_question(question, Fraction(2))
    mine = Memory(b"0123456789abcdef", "s")
    ticks = np.zeros((1, options), dtype=int)
    first = mine.report("m", design, ticks)
    assert np.array_equal(first, mine.report("m", design, ticks))
    assert design.boxes(np.atleast_2d(first) if not design.joint else np.array([first])).size
    if not design.joint:  # another tick changes that box alone
        ticks[0, 4] = 1
        changed = mine.report("m", design, ticks)
        assert np.array_equal(np.delete(first, 4), np.delete(changed, 4))
        assert over_waves(design, waves=9, remembered=True).epsilon() == pytest.approx(4)
    with pytest.raises(InvalidData, match="at a time"):
        mine.report("m", design, np.zeros((2, options), dtype=int))


def test_losses_of_other_designs_over_waves():
    assert over_waves(DESIGNS[1], waves=9, remembered=True) == DESIGNS[1].loss * 5
    assert over_waves(DESIGNS[5], waves=9, remembered=True) == DESIGNS[5].loss * 5
    assert over_waves(DESIGNS[9], waves=9, remembered=True) == DESIGNS[9].loss * 6
    assert over_waves(DESIGNS[9], waves=9, remembered=True, changes=1) == DESIGNS[9].loss * 2


def test_what_cannot_be_remembered_is_refused():
    mine = Memory(b"0123456789abcdef", "s")
    panel = Loloha(odds=2, odds_forever=3, categories=9)
    with pytest.raises(InvalidParameter, match="its own memory"):
        mine.report("q", panel, 1)
    with pytest.raises(InvalidParameter, match="Rappor"):
        over_waves(Rappor(), waves=2, remembered=True)
    with pytest.raises(InvalidData, match="at a time"):
        mine.report("q", COINS, [True, False])
