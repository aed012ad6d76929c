"""Figures about one person are never below the truth, by 50 digits."""

import re

import pytest

from deniable.privacy import PureLoss
from deniable.surveys.results.privacy_sentences import (
    epsilon_sentences,
    survey_loss,
)
from tests.surveys.collected import EVERY_KIND, ONE_QUESTION, manifest_of


def test_the_sentences_name_unit_whole_and_figures():
    manifest = manifest_of(ONE_QUESTION)
    text = " ".join(epsilon_sentences(manifest))
    for expected in (
        "one person and all questions together",
        "at most 75 guess right from the reports; without them 50",
        "A guess of 10 % becomes at most 25 %, and a guess of 1 % at most 3 %",
        "by at most 3.",
        "Nobody but the respondent",
        "adds its own part",
    ):
        assert expected in text
    assert not re.search("anonym|proves nothing|safe|lies", text)


@pytest.mark.parametrize(
    ("mode", "who"), [("open", "Anyone with the link"), ("token", "host of the survey")]
)
def test_each_mode_says_who_could_link(mode, who):
    assert who in epsilon_sentences(manifest_of(ONE_QUESTION, mode=mode))[-1]


def test_questions_add_up_unless_each_person_gets_one():
    every = manifest_of(EVERY_KIND)
    odds = [question.drawn_by.odds for question in every.private]
    total = survey_loss(every).epsilon()
    assert total == pytest.approx(sum(PureLoss(odds=each).epsilon() for each in odds))
    assert total <= 8
    each = EVERY_KIND.replace("epsilon = 8", 'epsilon = 8\ncollection = "one-question-each"')
    single = manifest_of(each)
    assert survey_loss(single) == PureLoss(odds=max(q.drawn_by.odds for q in single.private))
    assert "the one question that a person got" in epsilon_sentences(single)[1]
