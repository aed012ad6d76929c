from fractions import Fraction
from itertools import product

import pytest

from deniable.exact.bits import ScriptedBits
from deniable.surveys.questionnaire.channels import (
    BoxesChannel,
    DitherChannel,
    KeepChannel,
    TableChannel,
    draw_below,
    draw_weighted,
)

COINS = TableChannel(((3, 1), (1, 3)))
TOP = 1 << 64


def test_a_coin_takes_more_words_until_it_is_certain():
    third = TOP // 3  # the word that begins like 1/3
    assert draw_weighted((2, 1), ScriptedBits([third - 1])) == 1
    assert draw_weighted((2, 1), ScriptedBits([third + 1])) == 0
    assert draw_weighted((2, 1), ScriptedBits([third, 0])) == 1
    assert draw_weighted((2, 1), ScriptedBits([third, TOP - 1])) == 0
    assert draw_weighted((2, 1), ScriptedBits([third, third, 5])) == 1


def test_what_is_too_large_is_drawn_again():
    assert draw_below(5, ScriptedBits([7, 5, 4])) == 4
    assert draw_below(1, ScriptedBits([])) == 0


def test_every_coin_falls_whatever_the_answer_is():
    """The same words are used up for all answers."""
    words = [0, TOP - 1, 5, TOP // 3, 7, 9, 11, 13]
    ordinal = TableChannel(((4, 2, 1), (1, 2, 1), (1, 2, 4)))
    cases = [
        (COINS, [0, 1]),
        (ordinal, [0, 1, 2]),
        (BoxesChannel(2, "any", COINS), [list(x) for x in product((0, 1), repeat=2)]),
    ]
    for channel, answers in cases:
        left = set()
        for answer in answers:
            script = ScriptedBits(words)
            channel.randomize(answer, source=script)
            left.add(tuple(script._values))
        assert len(left) == 1


def test_only_the_last_selection_looks_at_the_answer():
    words = [TOP - 1, 0]  # the coin of yes gives 0, the coin of no gives 1
    assert COINS.randomize(1, source=ScriptedBits(words)) == 0
    assert COINS.randomize(0, source=ScriptedBits(words)) == 1
    keep = KeepChannel(Fraction(1, 2), 4)
    assert keep.randomize(2, source=ScriptedBits([0, 3])) == 2
    assert keep.randomize(2, source=ScriptedBits([TOP - 1, 3])) == 3


def test_a_number_goes_to_an_end_or_is_not_said():
    number = DitherChannel(4, KeepChannel(Fraction(1, 2), 3))
    kept = [0, 1]  # the coin keeps; then a number below 3 that does not matter
    assert number.randomize(3, source=ScriptedBits([2, *kept])) == 1
    assert number.randomize(3, source=ScriptedBits([3, *kept])) == 0
    assert number.randomize(-1, source=ScriptedBits([0, *kept])) == 2
    assert number.probability(1, 3) == Fraction(3, 4) * Fraction(2, 3) + Fraction(1, 4) / 6
    assert number.probability(2, -1) == Fraction(2, 3)


@pytest.mark.parametrize(
    ("channel", "answers", "reports"),
    [
        (TableChannel(((4, 2, 1), (1, 2, 1), (1, 2, 4))), range(3), range(3)),
        (KeepChannel(Fraction(3, 7), 5), range(5), range(5)),
        (DitherChannel(10, COINS), range(11), range(2)),
        (DitherChannel(10, KeepChannel(Fraction(1, 3), 3)), range(-1, 11), range(3)),
    ],
)
def test_the_odds_are_the_largest_ratio(channel, answers, reports):
    for answer in answers:
        assert sum(channel.probability(report, answer) for report in reports) == 1
    ratios = [
        channel.probability(y, a) / channel.probability(y, b)
        for y in reports
        for a in answers
        for b in answers
    ]
    assert max(ratios) == channel.odds


@pytest.mark.parametrize("ticks", ["one", "any"])
def test_the_odds_of_boxes_are_those_of_all_their_reports(ticks):
    table = TableChannel(((5, 2), (3, 4)))
    sets = [x for x in product((0, 1), repeat=3) if ticks == "any" or sum(x) == 1]

    def chance(report, answer):
        product_of_boxes = Fraction(1)
        for y, x in zip(report, answer, strict=True):
            product_of_boxes *= table.probability(y, x)
        return product_of_boxes

    reports = list(product((0, 1), repeat=3))
    worst = max(chance(y, a) / chance(y, b) for y in reports for a in sets for b in sets)
    assert BoxesChannel(3, ticks, table).odds == worst
