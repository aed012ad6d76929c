"""At the planned look, ratios are covered also where a few reports decide."""

import math

import numpy as np
import pytest

from deniable.exact import bernoulli
from deniable.exact.rationals import rational
from deniable.mechanisms import Duchi, RandomizedResponse
from deniable.surveys.estimate import look_rules
from deniable.surveys.estimate.look_rules import LookRule
from deniable.surveys.estimate.within_groups import (
    estimate_answers,
    shares_of_all,
    shares_within,
)

FIXED = LookRule(anytime=False)

# What is estimated, people, odds, share in the group, share of the trait inside and outside.
# Fieller's interval alone misses too often in these.
FEW = [
    ("within", 50, 10, 0.1, 0.0, 0.3),
    ("within", 200, 100, 0.1, 0.0, 0.3),
    ("within", 200, 100, 0.9, 1.0, 0.0),
    ("within", 500, 100, 0.1, 0.01, 0.1),
    ("of all", 50, 100, 0.1, 0.1, 0.1),
    ("of all", 200, 100, 0.05, 0.1, 0.1),
    ("of all, public", 50, 100, 0.1, 0.1, 0.1),
    ("of all, public", 500, 100, 0.02, 0.05, 0.1),
    ("mean", 50, 100, 0.0, 0.0, 0.01),
    ("mean", 50, 100, 0.0, 0.0, 0.99),
    ("mean in a public group", 100, 100, 0.5, 0.01, 0.5),
]
OTHERS = [
    ("within", 50, 3, 0.5, 0.1, 0.1),
    ("within", 200, 3, 0.3, 0.02, 0.5),
    ("within", 500, 10, 0.3, 0.3, 0.05),
    ("within", 1000, 3, 0.1, 0.0, 0.3),
    ("within", 1000, 10, 0.1, 0.5, 0.1),
    ("within", 1000, 100, 0.3, 0.3, 0.05),
    ("of all", 200, 3, 0.3, 0.3, 0.05),
    ("of all", 1000, 100, 0.3, 0.2, 0.1),
    ("of all, public", 500, 10, 0.3, 0.1, 0.1),
    ("mean", 100, 3, 0.0, 0.0, 0.05),
    ("mean", 1000, 10, 0.0, 0.0, 0.95),
    ("mean in a public group", 500, 10, 0.3, 0.05, 0.5),
]


def drawn(share, people):
    return bernoulli(rational(share), people).astype(int)


def survey(what, people, odds, group, inside, outside):
    """One survey: what was found, and the truth of the population."""
    coins = RandomizedResponse(odds=odds)
    member = drawn(group, people)
    has = np.where(member == 1, drawn(inside, people), drawn(outside, people))
    if what == "within":
        reports = coins.randomize(has), coins.randomize(member)
        return shares_within(coins, coins, reports, FIXED)[1][1], inside
    if what == "of all":
        reports = coins.randomize(has), coins.randomize(member)
        return shares_of_all(coins, coins, reports, FIXED)[1][1], group * inside
    if what == "of all, public":
        shares = shares_of_all(coins, 2, (coins.randomize(has), member), FIXED)[1]
        return (shares[1] if shares else None), group * inside
    number = Duchi(odds=odds, low=0, high=1)
    if what == "mean":
        return estimate_answers(number, number.randomize(has), FIXED)[0], outside
    shares = shares_within(number, 2, (number.randomize(has), member), FIXED)[1]
    return (shares[0] if shares else None), inside


def rate_of_misses(case, runs):
    """How often an interval misses, of those that are shown."""
    missed = shown = 0
    while shown < runs:
        share, truth = survey(*case)
        if share is not None:
            low, high = share.estimate.interval
            missed += not low <= truth <= high
            shown += 1
    return missed / runs


@pytest.mark.parametrize("case", FEW + OTHERS, ids=str)
def test_intervals_cover_at_the_planned_look(case, size):
    runs = size(small=100, full=4000, what="surveys with few decisive reports, for each case")
    assert rate_of_misses(case, runs) <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / runs)


def test_fieller_alone_would_miss_where_few_reports_decide(size, monkeypatch):
    """The power of the test above: the same cases, and Fieller's interval in all of them."""
    runs = size(small=50, full=4000, what="surveys with Fieller's interval from few reports")
    monkeypatch.setattr(look_rules, "has_many", lambda outcomes: True)
    rates = [rate_of_misses(case, runs) for case in FEW]
    limit = 0.05 + 4 * math.sqrt(0.05 * 0.95 / runs)
    assert max(rates) > limit
    if runs > 1000:
        assert min(rates) > limit


@pytest.mark.parametrize("case", FEW, ids=str)
def test_no_interval_has_no_width(case):
    for _ in range(20):
        share, _truth = survey(*case)
        if share is not None:
            low, high = share.estimate.interval
            assert high - low > 1 / case[1]
            assert share.method == "betting"


def test_many_reports_get_the_narrower_interval():
    share, _truth = survey("within", 2000, 3, 0.3, 0.3, 0.05)
    assert share.method == "fieller"
    assert share.tuning == ()
    share, _truth = survey("within", 50, 100, 0.3, 0.3, 0.05)
    assert share.method == "betting"
    assert len(share.tuning) == 2


def test_a_public_group_without_people_has_no_share_of_all():
    coins = RandomizedResponse(odds=3)
    rows = shares_of_all(coins, 3, ([1] * 20 + [0] * 40, [0] * 30 + [1] * 30), FIXED)
    assert [len(row) for row in rows] == [2, 2, 0]
    # Nobody has answer 1, but there are people in the group: the share may still be above 0.
    (empty,) = (row[1] for row in shares_of_all(2, 1, ([0] * 60, [0] * 60), FIXED))
    assert empty.estimate.interval[0] == 0
    assert 1 / 60 < empty.estimate.interval[1] < 0.12
