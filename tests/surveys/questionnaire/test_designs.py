from fractions import Fraction

import numpy as np
import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms import OLH, OUE, Duchi, NumberOrNot, Ordinal, RandomizedResponse
from deniable.privacy import PureLoss
from deniable.surveys import SurveyQuestion, design_question, loads
from deniable.surveys.questionnaire.designs import design_questions, split_epsilon


def make_design(epsilon=1, **about):
    return design_question(SurveyQuestion(id="a", text="?", **about), Fraction(epsilon))


def choice(k, **more):
    return {"kind": "single-choice", "options": [str(i) for i in range(k)], **more}


def test_each_kind_gets_its_design():
    assert isinstance(make_design(kind="yes-no").design, RandomizedResponse)
    assert make_design(kind="yes-no", prefer_not_to_say=True).design.categories == 3
    assert isinstance(make_design(**choice(10)).design, RandomizedResponse)
    assert isinstance(make_design(**choice(11)).design, OUE)
    assert isinstance(make_design(**choice(1001)).design, OLH)
    assert isinstance(make_design(kind="scale", points=5).design, Ordinal)
    with_exit = make_design(kind="scale", points=5, prefer_not_to_say=True).design
    assert isinstance(with_exit, RandomizedResponse)
    assert with_exit.categories == 6
    assert isinstance(make_design(kind="number", low=0.0, high=10.0).design, Duchi)
    may_decline = make_design(kind="number", low=0.0, high=10.0, prefer_not_to_say=True)
    assert isinstance(may_decline.design, NumberOrNot)
    with pytest.raises(InvalidParameter, match="free text"):
        make_design(kind="text")


@pytest.mark.parametrize(
    "about",
    [
        {"kind": "yes-no"},
        {"kind": "scale", "points": 5},
        {"kind": "number", "low": 0.0, "high": 10.0},
        choice(20),
        {"kind": "number", "low": 0.0, "high": 10.0, "prefer_not_to_say": True},
        {"kind": "multiple-choice", "options": ["a", "b"]},
        {"kind": "multiple-choice", "options": ["a", "b"], "prefer_not_to_say": True},
        {"kind": "multiple-choice", "options": list("abcdefgh"), "prefer_not_to_say": True},
        {"kind": "multiple-choice", "options": list("abcdefgh")},
    ],
)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), 2])
def test_no_question_costs_more_than_it_may(about, epsilon):
    assert make_design(epsilon, **about).loss.fits(PureLoss(epsilon))


def test_options_together_or_apart():
    two = make_design(4, kind="multiple-choice", options=["a", "b"])
    assert two.joint
    eight = make_design(kind="multiple-choice", options=list("abcdefgh"))
    assert not eight.joint
    for design in (two, eight):
        answers = np.zeros((50, design.options), dtype=int)
        assert len(design.randomize(answers)) == 50
    slope = two.channel.p - two.channel.q
    assert slope == two.design.p - two.design.q


def test_epsilon_is_shared_out():
    text = 'id="s"\ntitle="t"\nepsilon=2\n'
    for name in ("a", "b", "c", "d", "e"):
        text += f'[[questions]]\nid="{name}"\nkind="yes-no"\ntext="?"\n'
    assert set(split_epsilon(loads(text)).values()) == {Fraction(2, 5)}
    whole = loads(text.replace("epsilon=2\n", 'epsilon=2\ncollection="one-question-each"\n', 1))
    assert set(split_epsilon(whole).values()) == {Fraction(2)}
    total = sum(
        (question.loss for question in design_questions(loads(text)).values()),
        start=PureLoss(0),
    )
    assert total.fits(PureLoss(2))


@pytest.mark.parametrize(("options", "epsilon"), [("ab", 4), ("abcdefgh", 1)])
def test_declining_a_multiple_choice_is_one_answer_in_the_same_coins(options, epsilon):
    design = make_design(
        epsilon, kind="multiple-choice", options=list(options), prefer_not_to_say=True
    )
    d = len(options)
    assert design.joint == (d == 2)
    assert design.options == len(design.channels) == d + 1
    if design.joint:  # every set of boxes, and declining: enumerated, with the exact channel
        matrix = design.design.matrix
        assert design.design.categories == 2**d + 1
        for box, channel in enumerate(design.channels):
            for truth in range(2**d + 1):
                chance = sum(
                    matrix[report][truth] for report in range(2**d + 1) if report >> box & 1
                )
                assert chance == (channel.p if truth >> box & 1 else channel.q)
    ticked_all = np.ones((4000, d + 1), dtype=int)  # declined, so the other ticks are void
    boxes = design.boxes(design.randomize(ticked_all))
    for column, channel in zip(boxes.T[:-1], design.channels, strict=False):
        assert column.mean() == pytest.approx(float(channel.q), abs=0.06)
    assert boxes[:, -1].mean() == pytest.approx(float(design.channels[-1].p), abs=0.06)
    with pytest.raises(InvalidData):
        design.boxes(np.full((3,) if design.joint else (3, d), 2**d + 1))
