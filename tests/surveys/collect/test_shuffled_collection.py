"""Amplification is stated only where a shuffler earns it."""

import pytest

from deniable.errors import InvalidData
from deniable.mechanisms import OUE, RandomizedResponse
from deniable.privacy import PureLoss, shuffled
from deniable.surveys import loads, parse_reports, report, simulate
from deniable.surveys.collect.shuffled_collection import collected_loss

TEXT = """
id = "s"
title = "t"
epsilon = 1
[[questions]]
id = "a"
kind = "yes-no"
text = "?"
"""
COINS = RandomizedResponse(odds=3)


def survey(independent="true", strips='["identity", "order", "time"]'):
    lines = f'[shuffler]\nwho = "Post"\nindependent = {independent}\nstrips = {strips}\n'
    return loads(TEXT + lines)


def test_a_shuffler_that_hides_reports():
    loss = collected_loss(survey(), COINS, reports=1000)
    assert loss.epsilon(1e-6) == pytest.approx(0.142058, abs=1e-5)
    many = collected_loss(survey(), OUE(odds=3, categories=30), reports=10_000)
    assert many.epsilon(1e-6) < 0.3


@pytest.mark.parametrize(
    "form",
    [
        loads(TEXT),
        survey(independent="false"),
        survey(strips='["identity", "order"]'),
        survey(strips="[]"),
    ],
    ids=["none", "the analyst's own", "keeps times", "keeps all"],
)
def test_otherwise_the_local_loss_is_shown(form):
    assert collected_loss(form, COINS, reports=1000) == COINS.loss


def test_a_lone_report_is_not_hidden():
    assert collected_loss(survey(), COINS, reports=1) == COINS.loss


def test_the_report_states_it():
    plain, mixed = (
        report(form, simulate(form, 2000).collected).results[0]
        for form in (loads(TEXT), survey())
    )
    assert plain.loss.epsilon(1e-6) > 0.99
    assert mixed.loss.epsilon(1e-6) < 0.15
    assert mixed.epsilon == plain.epsilon


SECOND = """[[questions]]
id = "b"
kind = "single-choice"
text = "?"
options = ["x", "y", "z"]
"""
OPEN = """[[questions]]
id = "c"
kind = "yes-no"
text = "?"
private = false
"""
TRUSTED = (
    '[shuffler]\nwho = "Post"\nindependent = true\nstrips = ["identity", "order", "time"]\n'
)


def several(*parts, people=3000):
    form = loads("".join((TEXT.replace("epsilon = 1", "epsilon = 2"), *parts)))
    return report(form, simulate(form, people).collected)


def test_answers_on_one_line_are_amplified_together():
    outcome = several(SECOND, TRUSTED)
    line = shuffled(PureLoss(2), reports=3000).epsilon(1e-6)
    assert outcome.collected.epsilon(1e-6) == pytest.approx(line, rel=1e-6)
    assert line < 0.5
    # An answer is known by the others on its line: no question is cheaper than the line.
    for result in outcome.results:
        assert result.loss.epsilon(1e-6) == pytest.approx(line, rel=1e-6)
    assert outcome.pairs
    assert outcome.loss.epsilon() == pytest.approx(2)


def test_questions_taken_apart_are_amplified_by_themselves_and_compose():
    outcome = several(SECOND, OPEN, TRUSTED + "separates = true\n")
    parts = [
        shuffled(RandomizedResponse(epsilon=1, categories=k), reports=3000) for k in (2, 3)
    ]
    for result, part in zip(outcome.results, parts, strict=True):
        assert result.loss.epsilon(1e-6) == pytest.approx(part.epsilon(1e-6), rel=1e-6)
    most = sum(part.epsilon(5e-7) for part in parts)
    assert 0.9 * most < outcome.collected.epsilon(1e-6) <= most * (1 + 1e-9)
    assert outcome.collected.epsilon(1e-6) < several(SECOND, TRUSTED).collected.epsilon(1e-6)
    assert not outcome.pairs


def test_open_or_missing_answers_tell_lines_apart():
    outcome = several(SECOND, OPEN, TRUSTED)
    assert outcome.collected == outcome.loss
    form = loads(TEXT + SECOND + TRUSTED)
    lines = ['{"a":1,"b":2}', '{"a":0,"b":0}'] * 500
    whole, holed = (
        report(form, parse_reports(form, some)) for some in (lines, [*lines, '{"a":1}'])
    )
    assert whole.collected.epsilon(1e-6) < 0.5
    assert holed.collected == holed.loss
    assert not any(result.amplified for result in holed.results)


def test_one_question_each_costs_the_worst_of_them():
    outcome = several(SECOND, TRUSTED, people=4000)
    assert outcome.collected.epsilon(1e-6) > 0.2
    each = loads('collection = "one-question-each"\n' + TEXT + SECOND + TRUSTED)
    outcome = report(each, simulate(each, 4000).collected)
    worst = max(result.loss.epsilon(1e-6) for result in outcome.results)
    assert outcome.collected.epsilon(1e-6) == pytest.approx(worst, rel=1e-9)
    assert all(result.amplified for result in outcome.results)


def test_lines_that_were_not_taken_apart_are_refused():
    form = loads(TEXT + SECOND + TRUSTED + "separates = true\n")
    with pytest.raises(InvalidData, match="separates answers"):
        parse_reports(form, ['{"a":1,"b":2}'])
