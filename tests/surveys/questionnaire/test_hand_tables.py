"""Every device draws the manifest's channel exactly, or there is no card."""

from fractions import Fraction
from itertools import product

import pytest

from deniable.surveys import loads
from deniable.surveys.questionnaire.hand_tables import (
    DEVICES,
    HandDevice,
    HandRow,
    draws,
    find_device,
)
from deniable.surveys.questionnaire.manifest import make_manifest

HEAD = 'id="s"\ntitle="t"\nepsilon=6\n[[questions]]\nid="a"\ntext="?"\n'


def question(declared, kind="yes-no"):
    return make_manifest(loads(f'{HEAD}kind="{kind}"\n{declared}')).questions[0]


DRAWN = {
    'design = "two-coins"': {"two-coins", "warner", "two-dice", "spinner"},
    'design = "die"': {"die", "warner", "two-dice", "spinner"},
    'design = "cards"': {"cards", "warner", "spinner"},
    'design = {warner = "3/5"}': {"cards", "warner", "spinner"},
    'design = {warner = "1/4"}': {"warner", "two-dice", "spinner"},
    'design = {unrelated = ["1/2", "1/12"]}': {"spinner"},
    "odds = 4\nprefer_not_to_say = true": {"die", "two-dice", "spinner"},
    "odds = 35": {"warner", "two-dice", "spinner"},
    "odds = 36": set(),
    "epsilon = 1": set(),
}


@pytest.mark.parametrize("declared", DRAWN, ids=[f"channel{i}" for i in range(len(DRAWN))])
def test_a_device_draws_the_channel_or_is_refused(declared):
    design = question(declared)
    k = range(design.answers)
    for name in DEVICES:
        if name not in DRAWN[declared]:
            assert find_device(design.drawn_by, name) is None
            continue
        device = find_device(design.drawn_by, name)
        assert device.outcomes <= 36
        for report, answer in product(k, k):
            assert device.probability(report, answer) == design.drawn_by.probability(
                report, answer
            )
    if DRAWN[declared]:
        assert find_device(design.drawn_by).name in DRAWN[declared]


@pytest.mark.parametrize("declared", [name for name in DRAWN if DRAWN[name]])
def test_what_is_seen_has_the_outcomes_that_are_counted(declared):
    """By throwing everything: every outcome is on the card exactly once."""
    for name in DRAWN[declared]:
        device = find_device(question(declared).drawn_by, name)
        rows = device.rows
        match name:
            case "die":
                assert sorted(see for row in rows for see in row.see) == [1, 2, 3, 4, 5, 6]
                assert all(len(row.see) == row.outcomes for row in rows)
            case "two-dice":
                sums = [a + b for a, b in product(range(1, 7), repeat=2)]
                assert sorted(see for row in rows for see in row.see) == list(range(2, 13))
                for row in rows:
                    assert sum(total in row.see for total in sums) == row.outcomes
            case "two-coins":
                assert device.outcomes == 4
            case _:
                assert all(row.see == (row.outcomes,) for row in rows)


def test_a_card_with_other_odds_is_noticed():
    design = question('design = "die"')
    rows = find_device(design.drawn_by, "die").rows
    assert draws(HandDevice("die", 2, rows), design.drawn_by)
    changed = (HandRow((1, 2), 2, 0), HandRow((3, 4, 5), 3, "truth"), HandRow((6,), 1, 1))
    assert not draws(HandDevice("die", 2, changed), design.drawn_by)
    swapped = (HandRow((1,), 1, 1), HandRow((2, 3, 4, 5), 4, "opposite"), HandRow((6,), 1, 0))
    assert not draws(HandDevice("die", 2, swapped), design.drawn_by)


def test_the_classical_cards():
    die = find_device(question('design = "die"').drawn_by, "die")
    assert [(row.see, row.say) for row in die.rows] == [
        ((1,), 0),
        ((2, 3, 4, 5), "truth"),
        ((6,), 1),
    ]
    deck = find_device(question('design = "cards"').drawn_by, "cards")
    assert [(row.outcomes, row.say) for row in deck.rows] == [(7, "truth"), (3, "opposite")]
    coins = find_device(question('design = "two-coins"').drawn_by)
    assert coins.name == "two-coins"
    assert coins.probability(1, 1) == Fraction(3, 4)
