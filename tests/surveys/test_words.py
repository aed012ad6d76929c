"""Built-in words follow the questionnaire's languages, and figures are never left out."""

import pytest

from deniable.errors import InvalidParameter
from deniable.mechanisms import RandomizedResponse
from deniable.surveys import collect, lint, loads, report, what_an_answer_proves
from deniable.surveys.words import Words

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
    found = report(survey, collect(survey, lines), language="de")
    assert found.results[0].labels == ("nein", "ja", "keine Angabe")
    assert found.results[1].labels == ("Mittel", "keine Angabe")
    assert (found.results[0].mean, found.results[1].mean) == (None, 0)
    # Three answers at epsilon 1.1: the truth is sent by 3 / 5, each other answer by 1 / 5.
    assert found.results[0].sentence == "3.01 zu 1; etwa 60, etwa 20, 2"
    assert found.results[1].sentence == "Höchstens 3.01 zu 1."
    assert report(survey, collect(survey, lines)).results[0].labels[2] == "rather not"
    with pytest.raises(InvalidParameter, match="speaks en, de"):
        report(survey, collect(survey, lines), language="fr")


def test_what_stays_english_is_named():
    told = [str(one) for one in lint(loads(HEAD + WORDS + QUESTIONS))]
    assert any("In English for every language: proof_choice, proof_other." in x for x in told)
    assert not any("English" in str(x) for x in lint(loads(HEAD + WORDS + PROOF + QUESTIONS)))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ('proof_other = { en = "At most {odds}.", de = "Höchstens 3 zu 1." }', "{odds}"),
        ('proof_other = { en = "{odds}{secret}", de = "{odds}" }', "just these"),
        ('proof_other = { en = "{odds:.9f}", de = "{odds}" }', "just these"),
        ('proof_other = { en = "{odds.real}", de = "{odds}" }', "just these"),
        ('proof_other = { en = "{odds", de = "{odds}" }', "just these"),
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
    assert "at most 3 to 1" in sentence
    assert "all 4 of them by at most 81 to 1" in sentence
    assert Words().say("yes", "de") == "yes"
