"""A report takes careless answers out by its anchor, and shows what denial could change."""

import numpy as np
import pytest

from deniable.exact import bernoulli, uniform_below
from deniable.exact.rationals import rational
from deniable.surveys import CollectedReports, ResponseBias, loads, report
from deniable.surveys.questionnaire.designs import design_questions

N = 200_000
SURVEY = """
id = "s"
title = "t"
epsilon = 6
[[questions]]
id = "a"
kind = "yes-no"
text = "A?"
[[questions]]
id = "b"
kind = "yes-no"
text = "B?"
prefer_not_to_say = true
[[questions]]
id = "c"
kind = "multiple-choice"
text = "C?"
options = ["x", "y"]
[[questions]]
id = "moon"
kind = "yes-no"
text = "Have you been on the moon?"
anchor = true
"""
TRUTH = {"a": [0.8, 0.2], "b": [0.6, 0.3, 0.1], "moon": [1.0]}


def careless(share):
    """Reports of people, a share of whom send random answers."""
    survey = loads(SURVEY)
    designs, reports = design_questions(survey), {}
    follows = bernoulli(rational(1 - share), N)
    for name, shares in TRUTH.items():
        edges = np.cumsum([round(1000 * x) for x in shares])
        answers = np.searchsorted(edges, np.arange(N) * 7919 % 1000, side="right")
        design = designs[name].design
        noise = uniform_below(design.categories, N)
        reports[name] = np.where(follows, design.randomize(answers), noise)
    return survey, CollectedReports(reports, dict.fromkeys(reports, np.arange(N)), N)


def test_careless_answers_are_taken_out_of_every_choice():
    outcome = report(*careless(0.2))
    results = {each.question: each for each in outcome.results}
    assert "moon: by this control question 0." in outcome.anchor
    for name, truth in (("a", TRUTH["a"][1:]), ("b", TRUTH["b"])):
        cleaned = results[name].response_bias.attentive
        assert len(cleaned) == len(truth)
        for each, actual in zip(cleaned, truth, strict=True):
            assert abs(each.prevalence - actual) < 7 * each.standard_error
            assert abs(each.attentive - 0.8) < 7 * each.attentive_error
    biased = results["a"].estimates[0]
    assert abs(biased.raw - 0.2) > 7 * biased.standard_error  # the test can tell
    assert results["moon"].response_bias.attentive == ()
    assert not any("moon" in (pair.rows, pair.columns) for pair in outcome.pairs)
    assert "careless answers taken out" in str(outcome)


MORE = """
id = "s"
title = "t"
epsilon = 18
[[questions]]
id = "many"
kind = "single-choice"
text = "?"
options = [OPTIONS]
[[questions]]
id = "scale"
kind = "scale"
text = "?"
points = 5
expected = [0.5, 0.3, 0.1, 0.05, 0.05]
[[questions]]
id = "number"
kind = "number"
text = "?"
low = 0
high = 10
[[questions]]
id = "said"
kind = "number"
text = "?"
low = 0
high = 10
prefer_not_to_say = true
[[questions]]
id = "boxes"
kind = "multiple-choice"
text = "?"
options = ["x", "y"]
[[questions]]
id = "moon"
kind = "yes-no"
text = "?"
anchor = true
""".replace("OPTIONS", ", ".join(f'"o{i}"' for i in range(80)))


def test_careless_answers_are_taken_out_of_every_kind():
    """A careless person gives any answer, which the device then randomizes."""
    survey, n = loads(MORE), 60_000
    designs = design_questions(survey)
    follows = bernoulli(rational(0.7), n)
    truth = {
        "many": (np.where(np.arange(n) % 2 == 0, 3, 5), uniform_below(80, n)),
        "scale": (np.full(n, 4), uniform_below(5, n)),
        "number": (np.full(n, 2.0), uniform_below(11, n).astype(float)),
        "said": (np.full(n, 9.0), np.array([0.0, 10.0, np.nan])[uniform_below(3, n)]),
        "boxes": (np.tile([1, 0], (n, 1)), uniform_below(2, 2 * n).reshape(n, 2)),
        "moon": (np.zeros(n, dtype=int), uniform_below(2, n)),
    }
    reports = {}
    for name, (careful, blind) in truth.items():
        shape = (n,) + (1,) * (careful.ndim - 1)
        reports[name] = designs[name].randomize(
            np.where(follows.reshape(shape), careful, blind)
        )
    everybody = dict.fromkeys(reports, np.arange(n))
    outcome = report(survey, CollectedReports(reports, everybody, n))
    expected = {
        "many": [0.5 * (i in (3, 5)) for i in range(80)],
        "scale": [0, 0, 0, 0, 1, 5],
        "number": [2],
        "said": [9, 0],
        "boxes": [1, 0],
    }
    for result in outcome.results:
        if result.question == "moon":
            assert result.response_bias == ResponseBias()
            continue
        cleaned = result.response_bias.attentive
        assert len(cleaned) == len(result.estimates) == len(expected[result.question])
        for part, actual in zip(cleaned, expected[result.question], strict=True):
            assert abs(part.prevalence - actual) < 7 * part.standard_error
        assert len(result.response_bias.if_lied) == len(result.estimates)
        biased = max(
            abs(e.raw - x) / e.standard_error
            for e, x in zip(result.estimates, expected[result.question], strict=True)
        )
        assert biased > 7  # the test can tell
    assert "if this share of all people lied" in str(outcome)


def test_denial_has_a_range():
    outcome = report(*careless(0.0))
    results = {result.question: result for result in outcome.results}
    for name, place in (("a", 0), ("b", 1)):
        range_ = results[name].response_bias.if_denied
        assert range_[0.0] == results[name].estimates[place].value
        assert range_[0.2] == pytest.approx(range_[0.0] / 0.8)
    assert "denied it: 0%" in str(outcome)
    assert not results["moon"].response_bias.if_denied


def test_an_anchor_that_cannot_tell_says_so():
    outcome = report(*careless(1.0))
    if outcome.results[0].response_bias.attentive:  # by chance a little below one half
        assert outcome.results[0].response_bias.attentive[0].attentive < 0.02
    else:
        assert "at random" in outcome.anchor
