"""Cards and sheets: every text is there, and every card fits its paper."""

import re

import pytest

from deniable.app.cli.surveys.paper_survey import draw_code
from deniable.app.web.card_pages import (
    build_card_pages,
    build_card_sheets,
    build_interviewer_sheet,
)
from deniable.surveys.paper.survey_cards import write_cards
from tests.surveys.collected import manifest_of

SURVEY = """
id = "paper"
title = "Doping"
epsilon = 4
[[questions]]
id = "doping"
kind = "yes-no"
text = "Have you used a forbidden substance this year, or let somebody <give> you one?"
design = "two-coins"
[[questions]]
id = "offer"
kind = "yes-no"
text = "Were you offered one?"
odds = 4
prefer_not_to_say = true
[[questions]]
id = "age"
kind = "single-choice"
text = "Age?"
private = false
options = ["under 25", "25 or more"]
"""
BUILDERS = {
    "cards": build_card_pages,
    "sheets": build_card_sheets,
    "interviewer": build_interviewer_sheet,
}


def make_cards(kind, device=None, text=SURVEY, **more):
    manifest = manifest_of(text, **more)
    cards = write_cards(manifest, device=device)
    return manifest, cards, BUILDERS[kind](manifest, cards, draw_code(manifest.hash)).decode()


@pytest.mark.parametrize("kind", BUILDERS)
def test_every_text_of_a_card_is_printed(kind):
    manifest, cards, page = make_cards(kind)
    for card in cards:
        texts = [card.throw, *(text for row in card.rows for text in row)]
        if kind != "interviewer":
            texts.append(card.reassurance)
        for text in texts:
            assert text in page
    assert "&lt;give&gt;" in page
    assert manifest.hash in page
    assert "<path" in page  # the code
    assert not re.search(r"\sstyle=|<script|http-equiv=.refresh", page)
    assert "REHEARSAL" not in page
    assert "REHEARSAL" in make_cards(kind, rehearsal=True)[2]


def test_a_sheet_has_eight_cards_of_each_question():
    assert make_cards("sheets")[2].count('<section class="card') == 16
    assert make_cards("cards")[2].count('<section class="card') == 2


def test_decks_and_spinners_have_their_outcomes():
    single = SURVEY.split('[[questions]]\nid = "offer"')[0]
    deck = make_cards("interviewer", "cards", single.replace("two-coins", "cards"))[2]
    assert deck.count("<div>Say the truth</div>") == 7
    assert deck.count("<div>Say the opposite of the truth</div>") == 3
    wheel = make_cards("interviewer", "spinner", single)[2]
    assert wheel.count('<path d="M0 0L') == 4
    assert len(re.findall(">truth</text>", wheel)) == 2


LONG = """
[[questions]]
id = "long"
kind = "single-choice"
text = "{question}"
options = ["not at all", "once or twice, and long ago", "several times, also recently", "often"]
odds = 6
""".format(
    question="In the last twelve months, have you, knowingly or not, taken part in it? " * 2
)


BIRTHDAYS = """
[[questions]]
id = "crosswise"
kind = "yes-no"
text = "Have you used a forbidden substance this year, or let somebody <give> you one?"
design = { crosswise = "1/4" }
[[questions]]
id = "unrelated"
kind = "yes-no"
text = "Have you used a forbidden substance this year, or let somebody <give> you one?"
design = { unrelated = ["7/10", "1/12"] }
"""


def test_both_questions_and_the_deck_are_printed():
    survey = f'id="s"\ntitle="S"\nepsilon=6\n{BIRTHDAYS}'
    for kind in BUILDERS:
        _, cards, page = make_cards(kind, text=survey)
        assert all(card.harmless in page for card in cards)
        assert "“different”" in page
    assert page.count("<div>Answer question 1</div>") == 7
    assert page.count("<div>Answer question 2</div>") == 3
    assert "Possible answers: different, same" in page


@pytest.mark.needs("chromium")
@pytest.mark.parametrize("kind", ["cards", "sheets"])
@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
def test_every_card_fits_its_paper(chromium, tmp_path, kind, language):
    text = f'languages = ["{language}"]\n{SURVEY.replace("epsilon = 4", "epsilon = 12")}'
    text += LONG + BIRTHDAYS
    _, cards, page = make_cards(kind, text=text)
    file = tmp_path / f"{kind}.html"
    file.write_text(page, encoding="utf-8")
    tab, messages = chromium.new_page(), []
    tab.on("console", lambda message: messages.append(message.text))
    tab.goto(file.as_uri())
    tab.emulate_media(media="print")
    over = tab.evaluate(
        "[...document.querySelectorAll('.card')].map(card => card.scrollHeight - "
        "card.clientHeight).filter(more => more > 1)"
    )
    assert over == []
    assert not [text for text in messages if "Content Security Policy" in text]
    pdf = tab.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == len(cards)
    tab.close()
