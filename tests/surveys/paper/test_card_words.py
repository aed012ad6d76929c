"""Every language has every word, with the same figures."""

import pytest

from deniable.surveys.paper.card_words import CARD_LANGUAGES, ENGLISH
from deniable.surveys.questionnaire.phrases import figures_in


@pytest.mark.parametrize("language", CARD_LANGUAGES)
def test_every_language_has_every_word_with_its_figures(language):
    words = CARD_LANGUAGES[language]
    assert words.keys() == ENGLISH.keys()
    for name, text in words.items():
        assert figures_in(text) == figures_in(ENGLISH[name]), name
        assert text.strip()
