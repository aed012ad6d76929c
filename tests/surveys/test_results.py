"""From questionnaire to report, with made-up people: the truth is in the intervals."""

import numpy as np
import pytest

from deniable.errors import InvalidData
from deniable.surveys import collect, loads, report, simulate

SURVEY = """
id = "s"
title = "t"
epsilon = 14
[[questions]]
id = "a"
kind = "yes-no"
text = "A?"
expected = [0.7, 0.3]
[[questions]]
id = "b"
kind = "single-choice"
text = "B?"
options = ["x", "y"]
prefer_not_to_say = true
expected = [0.5, 0.4, 0.1]
[[questions]]
id = "c"
kind = "multiple-choice"
text = "C?"
options = ["x", "y", "z"]
expected = [0.1, 0.2, 0.3]
[[questions]]
id = "d"
kind = "scale"
text = "D?"
points = 5
[[questions]]
id = "e"
kind = "number"
text = "E?"
low = 0
high = 10
[[questions]]
id = "h"
kind = "number"
text = "H?"
low = 0
high = 10
prefer_not_to_say = true
expected = [0.3]
[[questions]]
id = "i"
kind = "multiple-choice"
text = "I?"
options = ["x", "y"]
prefer_not_to_say = true
expected = [0.5, 0.3, 0.2]
[[questions]]
id = "j"
kind = "multiple-choice"
text = "J?"
options = ["a", "b", "c", "d", "e", "f", "g"]
epsilon = 3.5
prefer_not_to_say = true
[[questions]]
id = "f"
kind = "single-choice"
text = "F?"
options = [OPTIONS]
[[questions]]
id = "g"
kind = "single-choice"
text = "G?"
options = ["x", "y"]
private = false
""".replace("OPTIONS", ", ".join(f'"o{i}"' for i in range(40)))


@pytest.fixture(scope="module")
def made():
    survey = loads(SURVEY)
    simulated = simulate(survey, 200_000)
    return survey, simulated, report(survey, simulated.collected, confidence=1 - 1e-9)


def truth_of(name, answers, k):
    if name == "a":
        return [answers.mean()]
    if name in "cij":
        return answers.mean(axis=0)
    if name == "e":
        return [np.floor(answers + 0.5).mean()]
    if name == "h":
        said = answers[~np.isnan(answers)]
        return [np.floor(said + 0.5).mean(), 1 - said.size / answers.size]
    shares = np.bincount(answers, minlength=k) / answers.size
    return [*shares, (answers + 1).mean()] if name == "d" else shares


@pytest.mark.parametrize("name", list("abcdefhij"))
def test_the_truth_is_in_the_intervals(made, name):
    survey, simulated, found = made
    result = next(one for one in found.results if one.question == name)
    truth = truth_of(name, simulated.truth[name], survey.question(name).answers)
    assert len(result.estimates) == len(result.labels) == len(truth)
    for one, actual in zip(result.estimates, truth, strict=True):
        assert one.interval[0] <= actual <= one.interval[1]
        assert one.interval[1] - one.interval[0] < 0.5


def test_tables_of_two_questions(made):
    _, simulated, found = made
    pairs = {(pair.rows, pair.columns): pair for pair in found.pairs}
    assert set(pairs) == {
        ("a", "b"),
        ("a", "d"),
        ("b", "d"),
        ("a", "g"),
        ("b", "g"),
        ("d", "g"),
    }
    table = pairs["a", "b"].table
    flat = simulated.truth["a"] * 3 + simulated.truth["b"]
    truth = np.bincount(flat, minlength=6).reshape(2, 3) / 200_000
    assert (np.abs(table.raw - truth) < 7 * table.standard_error).all()


def test_the_loss_is_that_of_the_survey(made):
    survey, _, found = made
    assert found.loss.epsilon() <= float(survey.total) + 1e-12
    assert found.loss.epsilon() > float(survey.total) - 0.01
    text = str(found)
    assert "not proof" in text
    assert "A?" in text


def test_one_question_each_costs_once():
    survey = loads(
        SURVEY.replace("epsilon = 14", 'epsilon = 1\ncollection = "one-question-each"')
    )
    found = report(survey, simulate(survey, 3000).collected)
    assert found.loss.epsilon() <= 1
    assert {(pair.rows, pair.columns) for pair in found.pairs} == {
        ("a", "g"),
        ("b", "g"),
        ("d", "g"),
    }


def test_reports_that_cannot_be():
    survey = loads(SURVEY)
    with pytest.raises(InvalidData, match="No private"):
        report(survey, collect(survey, ['{"g":1}']))
    with pytest.raises(InvalidData):
        report(survey, collect(survey, ['{"a":7}']))
