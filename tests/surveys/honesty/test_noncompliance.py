import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.exact import bernoulli
from deniable.exact.rationals import rational
from deniable.mechanisms import RandomizedResponse
from deniable.surveys import (
    attentive_prevalence,
    forgery,
    if_some_deny,
    if_some_lie,
    two_devices,
)
from deniable.surveys.estimate.unbiased_readings import reader_for
from tests.surveys.designs import DESIGNS, answers, law, meaning

COINS = RandomizedResponse(odds=3)


def test_careless_answers_are_taken_out():
    n = 200_000
    follows = bernoulli(rational(0.85), n)
    truth = np.arange(n) % 10 < 2

    def report_of(answers):
        return np.where(follows, COINS.randomize(answers), bernoulli(rational(0.5), n))

    counts, anchor = (COINS.aggregate(report_of(a)) for a in (truth, np.zeros(n, dtype=bool)))
    naive = COINS.estimate(counts=counts)
    estimate = attentive_prevalence(COINS, counts, anchor=COINS, anchor_counts=anchor)
    assert abs(estimate.attentive - 0.85) < 7 * estimate.attentive_error
    assert abs(estimate.prevalence - 0.2) < 7 * estimate.standard_error
    assert abs(naive.raw - 0.2) > 7 * naive.standard_error  # the test can tell


def test_an_anchor_must_be_able_to_tell():
    half = RandomizedResponse.channel(0.9, 0.5)
    with pytest.raises(InvalidParameter, match="cannot be distinguished"):
        attentive_prevalence(COINS, (60, 40), anchor=half, anchor_counts=(50, 50))
    with pytest.raises(InvalidParameter, match="at random"):
        attentive_prevalence(COINS, (60, 40), anchor=COINS, anchor_counts=(50, 50))


def test_evaders_are_counted():
    n = 200_000
    first = RandomizedResponse.forced(0.7, yes=0.2, no=0.1)
    second = RandomizedResponse.forced(0.6, yes=0.1, no=0.3)
    kind = np.arange(n) % 10  # 0, 1: yes; 9: evades
    modes = []
    for design in (first, second):
        reports = np.where(kind == 9, False, design.randomize(kind < 2))
        modes.append((design, design.aggregate(reports)))
    estimate = two_devices(*modes)
    assert abs(estimate.yes - 0.2) < 7 * estimate.yes_error
    assert estimate.evading == pytest.approx(0.1, abs=0.05)
    with pytest.raises(InvalidParameter, match="too similar"):
        two_devices(modes[0], modes[0])


def test_denials():
    estimate = COINS.estimate(counts=(600, 400))
    assert if_some_deny(estimate)[0.2] == pytest.approx(0.375)
    assert if_some_deny(COINS.estimate(counts=(25, 75)), (0.5,)) == {0.5: 1.0}
    with pytest.raises(InvalidParameter, match="below 1"):
        if_some_deny(estimate, (1,))


def test_forged_reports():
    assert forgery(COINS, respondents=1000, forged=10) == pytest.approx(0.015)
    # 400 honest noes send 100 yeses on average; 40 of them replaced by forged yeses: 130.
    before, after = (COINS.estimate(counts=(400 - y, y)).raw for y in (100, 130))
    assert after - before == pytest.approx(forgery(COINS, respondents=400, forged=40))
    with pytest.raises(InvalidParameter, match="at most"):
        forgery(COINS, respondents=5, forged=6)


@pytest.mark.parametrize("name", ["ordinal", "OUE", "Duchi", "hybrid", "square wave", "three"])
def test_forged_reports_of_other_designs(name):
    """The worst report in place of the worst honest one, by enumeration."""
    design = DESIGNS[name]
    read, width = reader_for(design), 1.0
    reports = np.concatenate([law(design, answer)[0] for answer in answers(design)])
    wide = read(np.unique(reports, axis=0))
    if read.ends:
        wide, width = wide[:, 1:], 4.0
    means = meaning(design)[:, 1:] if read.ends else meaning(design)
    worst = max(np.abs(wide[:, None, :] - means[None]).max() * width, 0)
    assert forgery(design, respondents=100, forged=10) == pytest.approx(0.1 * worst)


def test_lies_have_a_range():
    estimate = COINS.estimate(counts=(600, 400))
    assert if_some_lie(estimate)[0.2] == pytest.approx((0.1, 0.5))
    assert if_some_lie(estimate, lying=(0.5,)) == {0.5: (0.0, pytest.approx(0.8))}
    with pytest.raises(InvalidParameter, match="not known"):
        forgery(DESIGNS["number or not"], respondents=5, forged=1)
