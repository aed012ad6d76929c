"""What cards say, in every language, is the table of their device."""

import pytest

from deniable.errors import InvalidParameter
from deniable.surveys.paper.card_words import CARD_LANGUAGES
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


def test_a_survey_that_no_hand_can_take_is_refused():
    free = manifest_of(ONE_QUESTION.replace('design = "two-coins"', "epsilon = 1"))
    with pytest.raises(InvalidParameter, match="exactly the odds that the manifest promises"):
        write_cards(free)
