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
    found = collected_loss(survey(), COINS, reports=1000)
    assert found.epsilon(1e-6) == pytest.approx(0.142058, abs=1e-5)
    many = collected_loss(survey(), OUE(odds=3, categories=30), reports=10_000)
    assert many.epsilon(1e-6) < 0.3


@pytest.mark.parametrize(
    "made",
    [
        loads(TEXT),
        survey(independent="false"),
        survey(strips='["identity", "order"]'),
        survey(strips="[]"),
    ],
    ids=["none", "the analyst's own", "keeps times", "keeps all"],
)
def test_otherwise_the_local_loss_is_shown(made):
    assert collected_loss(made, COINS, reports=1000) == COINS.loss


def test_a_lone_report_is_not_hidden():
    assert collected_loss(survey(), COINS, reports=1) == COINS.loss


def test_the_report_states_it():
    plain, mixed = (
        report(made, simulate(made, 2000).collected).results[0]
        for made in (loads(TEXT), survey())
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
    made = loads("".join((TEXT.replace("epsilon = 1", "epsilon = 2"), *parts)))
    return report(made, simulate(made, people).collected)


def test_answers_on_one_line_are_amplified_together():
    found = several(SECOND, TRUSTED)
    line = shuffled(PureLoss(2), reports=3000).epsilon(1e-6)
    assert found.collected.epsilon(1e-6) == pytest.approx(line, rel=1e-6)
    assert line < 0.5
    # An answer is known by the others on its line: no question is cheaper than the line.
    for one in found.results:
        assert one.loss.epsilon(1e-6) == pytest.approx(line, rel=1e-6)
    assert found.pairs
    assert found.loss.epsilon() == pytest.approx(2)


def test_questions_taken_apart_are_amplified_by_themselves_and_compose():
    found = several(SECOND, OPEN, TRUSTED + "separates = true\n")
    parts = [
        shuffled(RandomizedResponse(epsilon=1, categories=k), reports=3000) for k in (2, 3)
    ]
    for one, part in zip(found.results, parts, strict=True):
        assert one.loss.epsilon(1e-6) == pytest.approx(part.epsilon(1e-6), rel=1e-6)
    most = sum(part.epsilon(5e-7) for part in parts)
    assert 0.9 * most < found.collected.epsilon(1e-6) <= most * (1 + 1e-9)
    assert found.collected.epsilon(1e-6) < several(SECOND, TRUSTED).collected.epsilon(1e-6)
    assert not found.pairs


def test_open_or_missing_answers_tell_lines_apart():
    found = several(SECOND, OPEN, TRUSTED)
    assert found.collected == found.loss
    made = loads(TEXT + SECOND + TRUSTED)
    lines = ['{"a":1,"b":2}', '{"a":0,"b":0}'] * 500
    whole, holed = (
        report(made, parse_reports(made, some)) for some in (lines, [*lines, '{"a":1}'])
    )
    assert whole.collected.epsilon(1e-6) < 0.5
    assert holed.collected == holed.loss
    assert not any(one.amplified for one in holed.results)


def test_one_question_each_costs_the_worst_of_them():
    found = several(SECOND, TRUSTED, people=4000)
    assert found.collected.epsilon(1e-6) > 0.2
    each = loads('collection = "one-question-each"\n' + TEXT + SECOND + TRUSTED)
    found = report(each, simulate(each, 4000).collected)
    worst = max(one.loss.epsilon(1e-6) for one in found.results)
    assert found.collected.epsilon(1e-6) == pytest.approx(worst, rel=1e-9)
    assert all(one.amplified for one in found.results)


def test_lines_that_were_not_taken_apart_are_refused():
    made = loads(TEXT + SECOND + TRUSTED + "separates = true\n")
    with pytest.raises(InvalidData, match="separates answers"):
        parse_reports(made, ['{"a":1,"b":2}'])
