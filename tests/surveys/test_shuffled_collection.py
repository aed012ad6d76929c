"""Amplification is stated only where a shuffler earns it."""

import pytest

from deniable.mechanisms import OUE, RandomizedResponse
from deniable.surveys import loads, report, simulate
from deniable.surveys.shuffled_collection import collected_loss

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
