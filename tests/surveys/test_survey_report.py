"""From questionnaire to report, with made-up people: the truth is in the intervals."""

import itertools

import numpy as np
import pytest

from deniable.errors import InvalidData
from deniable.surveys import loads, parse_reports, report, simulate

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


PEOPLE = 60_000


@pytest.fixture(scope="module")
def reported():
    survey = loads(SURVEY)
    simulated = simulate(survey, PEOPLE)
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
def test_the_truth_is_in_the_intervals(reported, name):
    survey, simulated, outcome = reported
    result = next(each for each in outcome.results if each.question == name)
    truth = truth_of(name, simulated.truth[name], survey.question(name).answers)
    assert len(result.estimates) == len(result.labels) == len(truth)
    for each, actual in zip(result.estimates, truth, strict=True):
        assert each.interval[0] <= actual <= each.interval[1]
        assert each.interval[1] - each.interval[0] < 0.8


def test_tables_of_two_questions(reported):
    _, simulated, outcome = reported
    pairs = {(pair.rows, pair.columns): pair for pair in outcome.pairs}
    # Whatever the designs; the question with 40 answers takes the rows.
    names = "abcdehijg"
    expected = {pair for pair in itertools.combinations("abcdehijfg", 2) if "f" not in pair}
    expected |= {("f", name) for name in names}
    assert set(pairs) == expected
    table = pairs["a", "b"].table
    flat = simulated.truth["a"] * 3 + simulated.truth["b"]
    truth = np.bincount(flat, minlength=6).reshape(2, 3) / PEOPLE
    assert (np.abs(table.raw - truth) < 7 * table.standard_error).all()
    assert pairs["a", "b"].means() == ()


def test_tables_of_all_kinds(reported):
    survey, simulated, outcome = reported
    truths = {}
    for name, answers in simulated.truth.items():
        k = survey.question(name).answers
        if name in "cij":
            truths[name] = answers.astype(float)
        elif name in "eh":
            part = np.clip(np.floor(np.nan_to_num(answers) + 0.5), 0, 10) / 10
            said = ~np.isnan(answers)
            columns = [said * (1 - part), said * part, *([~said] if name == "h" else [])]
            truths[name] = np.stack(columns, axis=1)
        else:
            truths[name] = np.eye(k)[answers]
    for pair in outcome.pairs:
        truth = truths[pair.rows].T @ truths[pair.columns] / PEOPLE
        table = pair.table
        assert table.raw.shape == truth.shape == (len(pair.row_labels), len(pair.column_labels))
        assert (np.abs(table.raw - truth) < 7 * table.standard_error + 1e-12).all()
        assert 0 < table.independence().p_value <= 1
    means = {(p.rows, p.columns): p.means(1 - 1e-9) for p in outcome.pairs}["e", "g"]
    assert [label for label, _ in means] == ["x", "y"]
    for place, (_, mean) in enumerate(means):
        numbers = simulated.truth["e"][simulated.truth["g"] == place]
        assert mean.interval[0] < np.floor(numbers + 0.5).mean() < mean.interval[1]


def test_the_loss_is_that_of_the_survey(reported):
    survey, _, outcome = reported
    assert outcome.loss.epsilon() <= float(survey.total_epsilon) + 1e-12
    assert outcome.loss.epsilon() > float(survey.total_epsilon) - 0.01
    text = str(outcome)
    assert "not proof" in text
    assert "A?" in text


def test_one_question_each_costs_once():
    survey = loads(
        SURVEY.replace("epsilon = 3.5\n", "").replace(
            "epsilon = 14", 'epsilon = 1\ncollection = "one-question-each"'
        )
    )
    outcome = report(survey, simulate(survey, 3000).collected)
    assert outcome.loss.epsilon() <= 1
    assert {(pair.rows, pair.columns) for pair in outcome.pairs} == {
        (x, "g") for x in "abcdefhij"
    }


def test_reports_that_cannot_be():
    survey = loads(SURVEY)
    with pytest.raises(InvalidData, match="No private"):
        report(survey, parse_reports(survey, ['{"g":1}']))
    with pytest.raises(InvalidData):
        report(survey, parse_reports(survey, ['{"a":7}']))
