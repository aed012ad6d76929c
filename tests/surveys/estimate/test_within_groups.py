"""Shares within groups cover the truth, with public and with private groups."""

import math
from fractions import Fraction

import numpy as np
import pytest

from deniable.exact import bernoulli
from deniable.exact.rationals import rational
from deniable.mechanisms import OUE, Ordinal, RandomizedResponse
from deniable.surveys.estimate.look_rules import LookRule
from deniable.surveys.estimate.within_groups import (
    answer_channels,
    count_support,
    estimate_answers,
    shares_within,
)
from tests.surveys.designs import DESIGNS, answers, meaning

FIXED = LookRule(anytime=False)
COINS = RandomizedResponse(odds=3)


def drawn(share, people):
    return bernoulli(rational(share), people).astype(int)


@pytest.mark.parametrize("young", [30, 400])
def test_intervals_within_public_groups_cover(young, size):
    """Also for a small group, and not by being far too wide."""
    runs = size(small=300, full=4000, what="surveys with shares within public groups")
    ages = np.repeat([0, 1], [young, 600])
    covered = np.zeros(2)
    of_all = 0
    for _ in range(runs):
        has = np.concatenate([drawn(0.3, young), drawn(0.05, 600)])
        shares = shares_within(COINS, 2, (COINS.randomize(has), ages), FIXED)
        for group, truth in enumerate((0.3, 0.05)):
            low, high = shares[group][1].estimate.interval
            covered[group] += low <= truth <= high
        low, high = estimate_answers(COINS, COINS.randomize(has), FIXED)[1].estimate.interval
        of_all += low <= 0.3 <= high
    spread = math.sqrt(0.05 * 0.95 / runs)
    assert (covered / runs > 0.95 - 4 * spread).all()
    assert of_all / runs < 0.9 or young < 100  # power: the share of all is another number


def test_intervals_within_private_groups_cover(size):
    runs = size(small=200, full=4000, what="surveys with shares within private groups")
    three = RandomizedResponse(odds=6, categories=3)
    covered, of_all = np.zeros(3), 0
    for _ in range(runs):
        group = np.repeat([0, 1, 2], [300, 500, 400])
        truth = (0.5, 0.1, 0.25)
        has = np.concatenate([drawn(x, n) for x, n in zip(truth, (300, 500, 400), strict=True)])
        reports = COINS.randomize(has), three.randomize(group)
        shares = shares_within(COINS, three, reports, FIXED)
        for g in range(3):
            low, high = shares[g][1].estimate.interval
            covered[g] += low <= truth[g] <= high
        low, high = estimate_answers(COINS, reports[0], FIXED)[1].estimate.interval
        of_all += low <= truth[0] <= high
    assert (covered / runs > 0.95 - 4 * math.sqrt(0.05 * 0.95 / runs)).all()
    assert of_all < runs / 2  # power


@pytest.mark.parametrize(
    "name",
    ["three", "ordinal", "OUE", "hybrid", "number or not", "boxes at once", "box by box"],
)
@pytest.mark.parametrize("private", [False, True], ids=["public group", "private group"])
@pytest.mark.parametrize("anytime", [False, True], ids=["fixed", "anytime"])
def test_every_kind_of_question_has_shares_within_groups(name, private, anytime):
    design, people = DESIGNS[name], 6000
    rule = LookRule(anytime, Fraction(999_999, 1_000_000), people)
    given, group = answers(design), np.arange(people) % 2
    # In group 0 the first answers, in group 1 the last ones.
    who = np.where(group == 0, np.arange(people) % 2, len(given) - 1 - np.arange(people) % 2)
    if name == "number or not":
        who = np.where(group == 0, 0, 3)
    reports = design.randomize(given[who]), COINS.randomize(group) if private else group
    shares = shares_within(design, COINS if private else 2, reports, rule)
    assert len(shares) == 2
    for g, estimates in enumerate(shares):
        truth = meaning(design)[who[group == g]].mean(axis=0)
        if name in ("hybrid", "number or not"):  # the mean, and who declines
            truth = [4 * truth[1] / (truth[0] + truth[1]), *truth[2:]]
        assert len(estimates) == len(truth)
        for number, true in zip(estimates, truth, strict=True):
            low, high = number.estimate.interval
            assert low <= true <= high


def test_channels_and_counts_of_answers():
    lopsided = RandomizedResponse.channel(Fraction(3, 4), Fraction(1, 2))
    no, yes = answer_channels(lopsided)
    assert no == (Fraction(1, 2), Fraction(1, 4))
    assert yes == (Fraction(3, 4), Fraction(1, 2))
    assert answer_channels(Ordinal(odds=9, categories=4)) is None
    many = OUE(odds=4, categories=5)
    reports = many.randomize([2] * 100)
    assert count_support(many, reports).tolist() == many.supports(reports).sum(axis=0).tolist()
    box = DESIGNS["box by box"]
    ticks = box.randomize(answers(box))
    assert count_support(box, ticks).tolist() == ticks.sum(axis=0).tolist()


def test_a_group_without_people_has_no_shares():
    assert shares_within(COINS, 3, ([1, 0], [0, 2]), FIXED)[1] == ()
    number = DESIGNS["hybrid"]
    assert shares_within(COINS, number, ([1], number.randomize([2])), FIXED) == []
