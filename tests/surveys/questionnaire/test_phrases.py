"""Built-in words follow the questionnaire's languages, and figures are never left out."""

import pytest

from deniable.errors import InvalidParameter
from deniable.mechanisms import RandomizedResponse
from deniable.surveys import lint, loads, parse_reports, report, what_an_answer_proves
from deniable.surveys.questionnaire.languages import ENGLISH, LANGUAGES, built_in
from deniable.surveys.questionnaire.phrases import FIGURES, Phrases, figures_in

WORDS = """[words]
yes = { en = "yes", de = "ja" }
no = { en = "no", de = "nein" }
prefer_not_to_say = { en = "rather not", de = "keine Angabe" }
mean = { en = "mean", de = "Mittel" }
about = { en = "about {number}", de = "etwa {number}" }
"""
PROOF = """[words.proof_choice]
en = "{p} {q} {others} {odds}"
de = "{odds} zu 1; {p}, {q}, {others}"
[words.proof_other]
en = "At most {odds}."
de = "Höchstens {odds} zu 1."
"""
QUESTIONS = """[[questions]]
id = "a"
kind = "yes-no"
text = { en = "A?", de = "A?" }
prefer_not_to_say = true
[[questions]]
id = "b"
kind = "number"
low = 0
high = 9
text = { en = "B?", de = "B?" }
prefer_not_to_say = true
"""
HEAD = 'id="s"\ntitle={en="t",de="T"}\nepsilon=2.2\nlanguages=["en","de"]\n'


def test_a_report_speaks_the_language():
    survey = loads(HEAD + WORDS + PROOF + QUESTIONS)
    lines = ['{"a":1,"b":2}', '{"a":0,"b":0}', '{"a":2,"b":1}'] * 30
    outcome = report(survey, parse_reports(survey, lines), language="de")
    assert outcome.results[0].labels == ("nein", "ja", "keine Angabe")
    assert outcome.results[1].labels == ("Mittel", "keine Angabe")
    assert (outcome.results[0].mean, outcome.results[1].mean) == (None, 0)
    # Three answers at epsilon 1.1: the truth is sent by 3 / 5, each other answer by 1 / 5.
    # What an answer proves is not the pollster's to write in a language that is built in.
    assert "Von 100 Menschen senden etwa 60 ihre wahre Antwort" in outcome.results[0].sentence
    assert "höchstens 3.01 zu 1" in outcome.results[1].sentence
    assert report(survey, parse_reports(survey, lines)).results[0].labels[2] == "rather not"
    with pytest.raises(InvalidParameter, match="of this survey: en, de"):
        report(survey, parse_reports(survey, lines), language="fr")


def test_what_stays_english_is_named():
    assert not any("English" in str(x) for x in lint(loads(HEAD + WORDS + QUESTIONS)))
    polish = (HEAD + WORDS + QUESTIONS).replace("de =", "pl =").replace("de=", "pl=")
    told = [str(finding) for finding in lint(loads(polish.replace('"de"', '"pl"')))]
    expected = (
        "In English for pl: if_denied, if_lied, proof_choice, proof_other, range, reports,"
    )
    assert any(expected in finding for finding in told)


@pytest.mark.parametrize("language", ["de", "fr", "es", "de-AT"])
def test_a_report_speaks_every_language_that_is_built_in(language):
    text = f'id="s"\ntitle="T"\nepsilon=4.4\nlanguages=["{language}"]\n' + QUESTIONS
    text = text.replace('{ en = "A?", de = "A?" }', '"A?"').replace(
        '{ en = "B?", de = "B?" }', '"B?"'
    )
    anchor = '[[questions]]\nid="moon"\nkind="yes-no"\ntext="M?"\nanchor=true\n'
    survey = loads(text + anchor)
    assert not any("English" in str(finding) for finding in lint(survey))
    lines = ['{"a":1,"b":2,"moon":0}', '{"a":0,"b":0,"moon":0}', '{"a":2,"b":1,"moon":0}'] * 30
    told = str(report(survey, parse_reports(survey, lines)))
    for english in ("respondents", "reports", "careless", "denied", " lied", " to ", "anchor"):
        assert english not in told
    assert built_in(language)["yes"] in told
    odd = report(survey, parse_reports(survey, ['{"a":0,"b":0,"moon":0}'] * 400)).results[0]
    assert not odd.estimates[1].consistent
    assert "inconsistent" not in odd.format_estimate(odd.estimates[1])


def test_every_language_has_every_word_with_its_figures():
    for language, words in LANGUAGES.items():
        assert words.keys() == ENGLISH.keys(), language
        for name, text in words.items():
            assert figures_in(text) == FIGURES.get(name, set()), (language, name)
    assert FIGURES.keys() <= ENGLISH.keys()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ('proof_other = { en = "At most {odds}.", de = "Höchstens 3 zu 1." }', "{odds}"),
        ('proof_other = { en = "{odds}{secret}", de = "{odds}" }', "exactly these"),
        ('proof_other = { en = "{odds:.9f}", de = "{odds}" }', "exactly these"),
        ('proof_other = { en = "{odds.real}", de = "{odds}" }', "exactly these"),
        ('proof_other = { en = "{odds", de = "{odds}" }', "exactly these"),
        ('maybe = { en = "maybe", de = "vielleicht" }', "maybe"),
        ('yes = { en = "yes" }', "missing: de"),
        ('yes = "yes"', "each language"),
    ],
)
def test_bad_words_are_refused(words, told):
    with pytest.raises(InvalidParameter, match=told):
        loads(f"{HEAD}[words]\n{words}\n{QUESTIONS}")


def test_boxes_add_up_in_the_sentence():
    sentence = what_an_answer_proves(RandomizedResponse(odds=3), boxes=4)
    assert "at most 3," in sentence
    assert "all 4 boxes together by at most 81." in sentence
    assert Phrases().say("yes", "de") == "ja"
    assert Phrases().say("yes", "pl") == "yes"


def test_a_promise_of_the_page_cannot_be_rewritten():
    words = Phrases({"page_link_token": "Nobody.", "page_begin": "Go"})
    assert "The host could" in words.say("page_link_token", "en")
    assert words.say("page_begin", "en") == "Go"
    assert words.say("page_link_token", "ar") == "Nobody."  # `lint` names it
    assert "The host could" in words.english_beside("page_link_token", "ar")
    for name, language in (("page_begin", "ar"), ("page_link_token", "en"), ("page_tap", "ar")):
        assert words.english_beside(name, language) == ""


def test_a_translated_proof_has_the_english_one_behind_it():
    """Nothing can check a translation: this one says the opposite of what is true."""
    own = "{yes} {no} {p} {q} {odds}: to nic nie zdradza."
    words = Phrases({"proof_yes_no": own, "yes": "tak", "no": "nie"})
    coins = RandomizedResponse(odds=3)
    english = what_an_answer_proves(coins)
    told = what_an_answer_proves(coins, words=words, language="pl")
    assert told == f"tak nie 75 25 3: to nic nie zdradza. (English: {english})"
    assert what_an_answer_proves(coins, words=words, language="de").startswith("Von 100")
    assert what_an_answer_proves(coins, words=Phrases(), language="pl") == english
