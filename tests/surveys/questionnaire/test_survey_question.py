from fractions import Fraction

import pytest
from pydantic import ValidationError

from deniable.mechanisms import OUE, Duchi, NumberOrNot, Ordinal, RandomizedResponse
from deniable.surveys import SurveyQuestion, design_question


def question(**about):
    return SurveyQuestion(**{"id": "a", "kind": "yes-no", "text": "?", **about})


def test_a_question_declares_what_it_costs():
    assert question().declared_epsilon is None
    assert question(epsilon=0.5).declared_epsilon == Fraction(1, 2)
    assert question(odds=3.0).declared_epsilon == question(design="two-coins").declared_epsilon
    assert float(question(design="die").declared_epsilon) == pytest.approx(1.6094379124341)


def test_a_declared_design_is_what_it_gets():
    coins = design_question(question(design="two-coins"), Fraction(9))
    assert coins.design == RandomizedResponse.from_coins()
    assert design_question(question(odds=3.0), Fraction(9)).design == coins.design
    three = design_question(question(odds=4.0, prefer_not_to_say=True), Fraction(9)).design
    assert (three.p, three.q) == (Fraction(4, 6), Fraction(1, 6))


@pytest.mark.parametrize(
    ("about", "kind"),
    [
        ({"kind": "scale", "points": 5}, Ordinal),
        ({"kind": "number", "low": 0.0, "high": 9.0}, Duchi),
        ({"kind": "number", "low": 0.0, "high": 9.0, "prefer_not_to_say": True}, NumberOrNot),
        ({"kind": "single-choice", "options": [str(i) for i in range(12)]}, OUE),
    ],
)
def test_odds_count_for_every_kind(about, kind):
    design = design_question(question(odds=3.0, **about), Fraction(9)).design
    assert isinstance(design, kind)
    assert design.loss.epsilon() <= 1.0986122886681098


@pytest.mark.parametrize(
    ("about", "told"),
    [
        ({"odds": 3.0, "epsilon": 1.0}, "only one of"),
        ({"design": "die", "odds": 3.0}, "only one of"),
        ({"design": "die", "prefer_not_to_say": True}, "two answers"),
        ({"design": "dice"}, "two-coins"),
        ({"odds": 1.0}, "greater than 1"),
        ({"private": False, "odds": 3.0}, "without coins"),
        ({"private": False, "paper": "die"}, "without coins"),
        ({"shuffle_options": True}, "needs `options`"),
        ({"kind": "scale", "points": 5, "design": "die"}, "two answers"),
    ],
)
def test_what_cannot_be_declared(about, told):
    with pytest.raises(ValidationError, match=told):
        question(**about)
