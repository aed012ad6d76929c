import re
from fractions import Fraction

import pytest

from deniable.app.web.survey.page_sections import PageSections, most_odds
from tests.app.web.survey.surveys_to_take import ALL_KINDS, DOPED, manifest_of, one_each

COINS = DOPED.replace("prefer_not_to_say = true", 'design = "two-coins"')
TWO = COINS + COINS.replace('id = "doped"', 'id = "other"')
KEY = (1 << 2047) + 1, 65537


def write(manifest, language="en"):
    return PageSections(manifest, language, saved=False).write()


def test_the_steps_are_in_their_order():
    html = write(manifest_of(ALL_KINDS))
    order = [
        "Sports Research Group",
        "To know how common doping is.",
        "Who can see the answer you tap?",
        "What leaves this device?",
        "What if the report leaks?",
        "Who could link the report to you?",
        "You tap what is true.",
        "<figure>",
        "Try it",
        "Is it clear?",
        "Begin",
        "Have you used a forbidden substance?",
        "Add chance and send",
        "What was sent, to the last character",
    ]
    places = [html.index(text) for text in order]
    assert places == sorted(places)
    assert "<form" not in html


@pytest.mark.parametrize(
    ("manifest", "odds", "told"),
    [
        (manifest_of(COINS), 3, "by at most 3. A guess of 10 in 100 becomes at most 25 in 100"),
        (manifest_of(TWO), 9, "by at most 9. A guess of 10 in 100 becomes at most 50 in 100"),
        (one_each(TWO), 3, "by at most 3. A guess of 10 in 100 becomes at most 25 in 100"),
    ],
)
def test_the_odds_are_those_of_all_reports_of_a_person(manifest, odds, told):
    assert most_odds(manifest) == odds
    assert told in write(manifest)


def test_a_guess_is_rounded_up():
    manifest = manifest_of(DOPED + "odds = 4.01\n")
    assert most_odds(manifest) == Fraction("4.01")
    assert "becomes at most 31 in 100" in write(manifest)  # 30.8


@pytest.mark.parametrize(
    ("more", "head", "told"),
    [
        ({}, "", "could note that your device was here"),
        ({}, "kiosk = true\n", "many people use this device"),
        ({"mode": "token"}, "", "The host could: your invitation is sent with the report"),
        ({"mode": "pass", "key": KEY}, "", "it signs your pass without seeing it"),
    ],
)
def test_each_mode_says_who_could_link(more, head, told):
    html = write(manifest_of(head=head, **more))
    assert told in html
    assert len(re.findall("<dt>", html)) == 6  # who, why, and four rows
    assert ("Next person" in html) == ("kiosk" in head)


def test_the_length_is_that_of_every_report():
    manifest = manifest_of(ALL_KINDS)
    assert f"{manifest.report_length} characters" in write(manifest)


def test_one_question_each_is_announced_and_numbered():
    html = write(one_each())
    assert "Questions for you: 2. This device draws one of 9 private questions for you." in html
    assert re.findall(r'class="place">(\d+)<', html) == ["1"] * 9 + ["2"]


@pytest.mark.parametrize("word", ["anonymous", "proves nothing", " lies", " lie "])
def test_nothing_is_claimed_that_does_not_hold(word):
    assert word not in write(manifest_of(ALL_KINDS)).lower()


PUBLIC = """
[[questions]]
id = "club"
kind = "yes-no"
private = false
text = "Are you in a club?"
"""


@pytest.mark.parametrize(
    ("language", "nobody", "host"),
    [
        ("en", "nobody", "the host"),
        ("de", "niemand", "der Veranstalter"),
        ("fr", "personne", "l&#x27;hôte"),
        ("es", "nadie", "el anfitrión"),
    ],
)
def test_a_public_answer_is_not_called_hidden(language, nobody, host):
    head = f'languages = ["{language}"]\n'
    row = r"<dl class=\"label\"><div><dt>.*?</dt><dd>(.*?)</dd>"
    mixed = re.search(row, write(manifest_of(DOPED + PUBLIC, head), language))[1]
    assert nobody in mixed
    assert host in mixed
    assert host not in re.search(row, write(manifest_of(DOPED, head), language))[1]


POLISH = """
[words]
page_undo = "Wysłanej odpowiedzi nie można cofnąć."
page_public = "Wysyłane bez zmian."
page_array_same = "Ze 100 osób z odpowiedzią „{label}” {number} wysyła „{label}”."
page_begin = "Zaczynamy"
proof_choice = "{p} {q} {others} {odds}: nikt się nie dowie."
"""
PUBLIC = """
[[questions]]
id = "age"
kind = "single-choice"
private = false
text = "Wiek?"
options = ["a", "b"]
"""


def test_english_stands_beside_a_translated_promise():
    """Nothing can check a translation, so people can."""
    manifest = manifest_of(DOPED + PUBLIC + POLISH, 'languages = ["pl"]\n')
    html = write(manifest, "pl")
    beside = '<span class="english" lang="en" dir="ltr">'
    for own, english in (
        ("Wysłanej odpowiedzi nie można cofnąć.", "Once it is sent, a report cannot be taken"),
        ("Wysyłane bez zmian.", "Sent as it is, without chance."),
        ("wysyła „yes”.", "Of 100 people whose true answer is “yes”,"),
    ):
        assert f"{own} {beside}{english}" in html
    assert re.search(r"nikt się nie dowie\. \(English: Of 100 people, about \d+ send", html)
    assert f"Zaczynamy {beside}" not in html  # a button promises nothing
    assert beside not in write(manifest_of(DOPED))
