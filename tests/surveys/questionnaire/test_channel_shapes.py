from fractions import Fraction

import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.surveys import SurveyQuestion, design_question
from deniable.surveys.questionnaire.channel_shapes import (
    channel_of,
    costs_at_most,
    draws_on_paper,
    paper_design_of,
    read_channel,
)
from deniable.surveys.questionnaire.channels import BoxesChannel, DitherChannel, TableChannel

OPTIONS = [str(i) for i in range(30)]
NUMBER = {"kind": "number", "low": 0.0, "high": 10.0}
KINDS = [
    {"kind": "yes-no"},
    {"kind": "yes-no", "prefer_not_to_say": True},
    {"kind": "single-choice", "options": OPTIONS},
    {"kind": "scale", "points": 5},
    {"kind": "scale", "points": 12},
    {"kind": "scale", "points": 13},
    {"kind": "multiple-choice", "options": OPTIONS[:2]},
    {"kind": "multiple-choice", "options": OPTIONS[:9]},
    NUMBER,
    {**NUMBER, "prefer_not_to_say": True},
]


def designed(epsilon=1, **about):
    return design_question(SurveyQuestion(id="a", text="?", **about), Fraction(epsilon))


@pytest.mark.parametrize("about", KINDS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), 3])
def test_a_channel_is_its_design(about, epsilon):
    question = designed(epsilon, **about)
    channel = channel_of(question)
    assert read_channel(channel.to_json()) == channel
    assert costs_at_most(channel, Fraction(epsilon))
    assert not costs_at_most(channel, Fraction(epsilon) * Fraction("0.98"))
    design = question.design
    if isinstance(channel, BoxesChannel):
        ticked = [channel.table.probability(1, tick) for tick in (1, 0)]
        assert ticked == [design.p, design.q]
        return
    answers = range(11) if isinstance(channel, DitherChannel) else range(channel.answers)
    for answer in answers:
        for report in range(channel.reports):
            assert channel.probability(report, answer) == design.pmf(report, answer)


def test_more_than_a_thousand_answers_are_not_for_a_page():
    many = designed(kind="single-choice", options=[str(i) for i in range(1001)])
    with pytest.raises(InvalidParameter, match="1,000"):
        channel_of(many)


COINS = [["3", "1"], ["1", "3"]]


@pytest.mark.parametrize(
    "shape",
    [
        {},
        [],
        {"table": COINS, "more": 1},
        {"table": [["3", "1"]]},
        {"table": [["3", "1"], ["1"]]},
        {"table": [["3", "1"], ["1", "0"]]},
        {"table": [["3", "1"], ["1", "03"]]},
        {"table": [["3", "1"], ["1", 3]]},
        {"table": [["3", "1"], ["1", "-3"]]},
        {"table": [["3", "1"], ["1", "³"]]},
        {"table": [["3", "1"], ["1", "9" * 401]]},
        {"table": [["1"] * 13] * 13},
        {"keep": ["1", "1"], "any": "3"},
        {"keep": ["2", "4"], "any": "3"},
        {"keep": ["1", "2"], "any": "1"},
        {"keep": ["1", "2"], "any": "1001"},
        {"boxes": "3", "ticks": "some", "table": COINS},
        {"boxes": "3", "ticks": "any", "table": [["1"] * 3] * 3},
        {"dither": "0", "then": {"table": COINS}},
        {"dither": "3", "then": {"dither": "3", "then": {"table": COINS}}},
    ],
)
def test_other_shapes_are_refused(shape):
    with pytest.raises(InvalidData):
        read_channel(shape)


def test_paper_draws_what_the_manifest_says():
    assert paper_design_of(channel_of(designed(kind="yes-no", design="die"))) == "die"
    assert paper_design_of(channel_of(designed(kind="yes-no"))) is None
    assert paper_design_of(channel_of(designed(**NUMBER))) is None
    cards = channel_of(designed(kind="yes-no", design="cards"))
    assert draws_on_paper("cards", cards)
    assert not draws_on_paper("die", cards)
    assert not draws_on_paper("spinner", channel_of(designed(**NUMBER)))


@pytest.mark.parametrize(
    ("rows", "paper"),
    [
        ([[3, 1], [1, 3]], "two-coins"),
        ([[5, 1], [1, 5]], "die"),
        ([[2, 1], [1, 2]], "die"),
        ([[7, 3], [3, 7]], "cards"),
        ([[4, 1], [1, 4]], "cards"),
        ([[30, 6], [7, 29]], "two-dice"),
        (
            [[34, 1, 1], [1, 34, 1], [1, 1, 34]],
            "spinner",
        ),  # two dice have no third sum of one way
        ([[34, 1, 1, 0], [1, 33, 1, 1], [1, 1, 34, 0], [1, 1, 1, 33]], None),  # no mixture
        ([[5, 2], [2, 5]], "spinner"),
        ([[2, 1], [1, 4]], "spinner"),  # thirds and fifths are fifteenths
        ([[36, 1], [1, 36]], None),
        ([[6, 1], [1, 5]], None),  # sevenths and sixths are forty-seconds
    ],
)
def test_what_a_hand_can_throw(rows, paper):
    channel = TableChannel(tuple(map(tuple, rows)))
    assert paper_design_of(channel) == paper
    assert paper is None or draws_on_paper(paper, channel)
