"""What cards say, in every language, is the table of their device."""

import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.surveys.paper.birthday_designs import find_birthday
from deniable.surveys.paper.card_words import CARD_LANGUAGES
from deniable.surveys.paper.keyed_answers import parse_keyed_answers
from deniable.surveys.paper.survey_cards import write_cards
from tests.surveys.collected import ONE_QUESTION, manifest_of

DESIGNS = {
    '"two-coins"': ("two-coins", "warner", "two-dice", "spinner"),
    '"die"': ("die", "spinner"),
    '"cards"': ("cards", "spinner"),
}


@pytest.mark.parametrize("language", [*CARD_LANGUAGES, "pl"])
@pytest.mark.parametrize("design", DESIGNS)
def test_cards_in_every_language(language, design):
    text = ONE_QUESTION.replace('"two-coins"', design).replace("epsilon = 1.1", "epsilon = 2")
    manifest = manifest_of(f'languages = ["{language}"]\n{text}')
    for device in DESIGNS[design]:
        (card,) = write_cards(manifest, device=device, language=language)
        assert len(card.rows) == len(card.device.rows)
        assert len({see for see, _ in card.rows}) == len(card.rows)
        for (_, say), row in zip(card.rows, card.device.rows, strict=True):
            if isinstance(row.say, int):
                assert card.labels[row.say] in say
            else:
                assert say == card.words[row.say]
        assert card.labels[1] in card.reassurance
        assert "{" not in " ".join([card.throw, card.reassurance, *map(str, card.rows)])


BIRTHDAYS = {
    '{crosswise = "1/4"}': (None,),
    '{crosswise = "11/12"}': (None,),
    '{unrelated = ["2/3", "1/12"]}': (None, "die", "spinner"),
    '{unrelated = ["7/10", "1/2"]}': (None, "cards", "spinner"),
    '{unrelated = ["5/7", "1/6"]}': (None, "spinner"),
}


def asked_by(design, language="en"):
    text = ONE_QUESTION.replace('"two-coins"', design).replace("epsilon = 1.1", "epsilon = 9")
    return manifest_of(f'languages = ["{language}"]\n{text}')


@pytest.mark.parametrize("language", [*CARD_LANGUAGES, "pl"])
@pytest.mark.parametrize("design", BIRTHDAYS)
def test_a_harmless_question_stands_beside_the_other(language, design):
    manifest = asked_by(design, language)
    (question,) = manifest.questions
    for device in BIRTHDAYS[design]:
        (card,) = write_cards(manifest, device=device, language=language)
        birthday = find_birthday(question, device)
        channel = question.drawn_by
        for answer in (0, 1):  # the card draws exactly the manifest's channel
            assert birthday.probability(answer) == channel.probability(1, answer)
        assert len({*card.rows}) == 2
        texts = [card.throw, card.reassurance, card.harmless, card.secret, card.promise]
        assert "{" not in " ".join([*texts, *map(str, card.rows)])
        assert card.harmless.endswith("?")
        if "crosswise" in design:
            # What is said for each pair of answers, keyed in, is the report of the channel.
            codes = {card.words[said]: code for code, said in enumerate(("different", "same"))}
            assert card.answers == (*codes,)
            keyed = parse_keyed_answers(manifest, "doping\n" + "\n".join(codes))
            reports = [manifest.read_report(body)["doping"] for body in keyed]
            assert reports == [0, 1]
        else:
            assert card.answers == card.labels


def test_nobody_says_yes_to_a_crosswise_question():
    with pytest.raises(InvalidData, match="one of different, same"):
        parse_keyed_answers(asked_by('{crosswise = "1/4"}'), "doping\nyes\n")


def test_the_months_have_the_rate_of_the_design():
    for months, said in ((1, "in January?"), (3, "from January to March?")):
        (card,) = write_cards(asked_by(f'{{crosswise = "{months}/12"}}'))
        assert card.harmless == f"Does your mother have her birthday {said}"


def test_cards_with_a_harmless_question_that_cannot_be_made():
    odd = asked_by('{crosswise = "1/5"}')
    with pytest.raises(InvalidParameter, match="needs a harmless question to which 1/5"):
        write_cards(odd)
    (card,) = write_cards(odd, harmless="Does your phone number end in 0 or 1?")
    assert card.harmless == "Does your phone number end in 0 or 1?"
    with pytest.raises(InvalidParameter, match="nothing is thrown"):
        write_cards(asked_by('{crosswise = "1/4"}'), device="die")
    with pytest.raises(InvalidParameter, match="no die, cards or spinner can draw that"):
        write_cards(asked_by('{unrelated = ["18/37", "1/12"]}'))
    with pytest.raises(InvalidParameter, match="'two-coins' can draw that"):
        write_cards(asked_by('{unrelated = ["1/2", "1/12"]}'), device="two-coins")


def test_a_survey_that_no_hand_can_take_is_refused():
    free = manifest_of(ONE_QUESTION.replace('design = "two-coins"', "epsilon = 1"))
    with pytest.raises(InvalidParameter, match="exactly the odds that the manifest promises"):
        write_cards(free)
