"""The weighted share is unbiased, and its variance rule is right where others are not."""

import numpy as np
import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact import uniform_below
from deniable.mechanisms import RandomizedResponse
from deniable.surveys import weighted_share

COINS = RandomizedResponse(odds=3)


def order(n):
    return np.argsort(uniform_below(1 << 60, n), kind="stable")


def simple(population, n, repeats):
    """Simple random samples of a population of 0s and 1s, with the truth's total."""
    for _ in range(repeats):
        yield population[order(population.size)[:n]]


def test_simple_random_samples(size):
    repeats = size(small=4000, full=40_000, what="samples of 80 of 200 people")
    population = (np.arange(200) < 60).astype(int)
    totals, stated, safe, tempting = [], [], [], []
    w = np.full(80, 2.5)
    for answers in simple(population, 80, repeats):
        reports = COINS.randomize(answers)
        estimate = weighted_share(COINS, reports, w, sampling="simple", population=200)
        totals.append(estimate.total)
        stated.append(estimate.total_error**2)
        safe.append(weighted_share(COINS, reports, w, population=200).total_error ** 2)
        r = (reports - 0.25) / 0.5
        tempting.append(estimate.total_error**2 + float(((w**2 - w) * r * (r - 1)).sum()))
    truth = np.var(totals)
    assert np.mean(totals) == pytest.approx(60, abs=6 * np.sqrt(truth / repeats))
    # The standard deviation of the ratio is 2.2 % at 4,000 samples, 0.7 % at 40,000.
    within = 0.1 if repeats >= 40_000 else 0.15
    assert np.mean(stated) == pytest.approx(truth, rel=within)
    assert np.mean(safe) >= 0.95 * truth
    assert np.mean(safe) < 1.3 * truth
    assert np.mean(tempting) > 1.25 * truth  # coins counted twice: the test can tell


def test_people_asked_by_their_own_coins(size):
    repeats = size(small=2500, full=25_000, what="samples of about 225 of 600 people")
    population = (np.arange(600) % 5 == 0).astype(int)
    chance = np.where(np.arange(600) < 300, 0.25, 0.5)
    totals, stated = [], []
    for _ in range(repeats):
        sample = uniform_below(1 << 40, 600) < chance * (1 << 40)
        reports = COINS.randomize(population[sample])
        estimate = weighted_share(
            COINS, reports, 1 / chance[sample], sampling="independent", population=600
        )
        totals.append(estimate.total)
        stated.append(estimate.total_error**2)
    assert np.mean(totals) == pytest.approx(120, abs=6 * np.std(totals) / repeats**0.5)
    # The standard deviation of the ratio is 2.8 % at 2,500 samples, 0.9 % at 25,000.
    within = 0.1 if repeats >= 25_000 else 0.17
    assert np.mean(stated) == pytest.approx(np.var(totals), rel=within)


def test_200_000_people_are_recovered():
    n = 200_000
    group = np.arange(n) % 4 == 0  # oversampled: weight 1, the others 3
    answers = np.where(group, np.arange(n) % 8 == 0, np.arange(n) % 10 == 1)
    w = np.where(group, 1.0, 3.0)
    truth = float((w * answers).sum() / w.sum())
    estimate = weighted_share(COINS, COINS.randomize(answers), w)
    assert estimate.share == pytest.approx(truth, abs=7 * estimate.standard_error)
    assert estimate.standard_error < 0.004
    low, high = estimate.interval()
    assert low < estimate.share < high


def test_strata_narrow_the_error():
    answers = np.repeat([0, 1], 500)
    reports = RandomizedResponse(odds=99).randomize(answers)
    design, w, strata = RandomizedResponse(odds=99), np.full(1000, 2.0), np.repeat([0, 1], 500)
    plain = weighted_share(design, reports, w, sampling="simple", population=2000)
    split = weighted_share(
        design, reports, w, sampling="simple", population=2000, strata=strata
    )
    assert split.total == plain.total
    assert split.total_error < 0.5 * plain.total_error


def test_bad_designs():
    for bad in ([1.0], [0.5, 2.0], [1.0, float("inf")]):
        with pytest.raises(InvalidData, match="weights"):
            weighted_share(COINS, [0, 1], bad)
    with pytest.raises(InvalidData, match="equal"):
        weighted_share(COINS, [0, 1], [1.0, 2.0], sampling="simple")
    with pytest.raises(InvalidData, match="two reports"):
        weighted_share(COINS, [1], [1.0])
    with pytest.raises(InvalidData, match="stratum"):
        weighted_share(COINS, [0, 1], [1.0, 2.0], strata=[0, 1])
    with pytest.raises(InvalidData, match="strata"):
        weighted_share(COINS, [0, 1], [1.0, 2.0], strata=[0])
    with pytest.raises(InvalidParameter, match="sampling"):
        weighted_share(COINS, [0, 1], [1.0, 2.0], sampling="cluster")


@pytest.mark.parametrize("odds", [3, 20])
def test_intervals_of_few_people_hold(odds, size):
    """Normal intervals covered 64 to 90 % of these."""
    surveys = size(small=400, full=8000, what="weighted surveys of twenty people")
    coins = RandomizedResponse(odds=odds)
    for share in (0.02, 0.3):
        held = 0
        for _ in range(surveys):
            weights = 2.0 ** uniform_below(4, 20)
            true = (uniform_below(100, 20) < 100 * share).astype(int)
            low, high = weighted_share(coins, coins.randomize(true), weights).interval()
            held += low <= share <= high
        assert held / surveys >= 0.95 - 4 * (0.0475 / surveys) ** 0.5
