import re

import pytest

from deniable.app.web.survey.question_fields import write_question
from deniable.surveys.questionnaire.phrases import Phrases
from tests.app.web.survey.surveys_to_take import ALL_KINDS, manifest_of

QUESTIONS = {question.id: question for question in manifest_of(ALL_KINDS).questions}


def fields(html):
    return re.findall(r"<(?:input|select)[^>]*>", html)


@pytest.mark.parametrize("name", QUESTIONS)
def test_fields_share_a_name_and_are_never_filled_in(name):
    inputs = fields(write_question(QUESTIONS[name], 1, Phrases(), "en"))
    assert inputs
    assert all(f'name="q-{name}"' in field for field in inputs)
    assert all('autocomplete="off"' in field for field in inputs)
    assert not any(" checked" in field or "<form" in field for field in inputs)


@pytest.mark.parametrize(
    ("name", "kind", "count"),
    [
        ("doped", 'type="radio"', 3),
        ("supplier", 'type="checkbox"', 3),
        ("pressure", 'type="radio"', 5),
        ("country", "<select", 1),
        ("pay", 'type="text"', 1),
        ("hours", 'type="checkbox"', 1),
    ],
)
def test_each_kind_has_its_fields(name, kind, count):
    inputs = fields(write_question(QUESTIONS[name], 1, Phrases(), "en"))
    assert sum(kind in field for field in inputs) == count


def test_a_private_question_shows_its_promise_and_a_public_one_says_that_it_has_none():
    assert "is not proof" in write_question(QUESTIONS["doped"], 1, Phrases(), "en")
    public = write_question(QUESTIONS["age"], 1, Phrases(), "en")
    assert "Sent as it is, without chance." in public
    assert "not proof" not in public
