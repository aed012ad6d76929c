import copy
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms import Ordinal, RandomizedResponse
from deniable.privacy import PureLoss
from tests.mechanisms.contract import MechanismContract


class TestOrdinal(MechanismContract):
    mechanism = Ordinal(odds=3, categories=4)
    neighbors = ((0, 1, 2, 3),)
    outputs = range(4)
    must_be_told_apart = Ordinal(odds=Fraction(33, 10), categories=4)
    half_noise = Ordinal(odds=9, categories=4)

    def draw(self, mechanism, value):
        return Counter(mechanism.randomize(np.full(self.draws, value)).tolist())

    def test_it_is_a_value(self):
        assert copy.copy(self.mechanism) == self.mechanism
        assert self.mechanism != self.half_noise


@pytest.mark.parametrize("k", [2, 3, 4, 11])
@pytest.mark.parametrize("odds", [Fraction(3, 2), 3, 9])
def test_the_loss_is_exact_and_nearly_what_was_asked(k, odds):
    design = Ordinal(odds=odds, categories=k)
    assert all(sum(column) == 1 for column in zip(*design.matrix, strict=True))
    worst = max(max(row) / min(row) for row in design.matrix)
    assert design.loss == PureLoss(odds=worst)
    assert worst <= odds
    assert float(worst) == pytest.approx(float(odds), rel=1e-3)


def test_it_beats_the_exponential_mechanism_s_own_choice():
    design = Ordinal(epsilon=2, categories=7)
    assert design.ratio < Fraction(math.exp(-2 / (2 * 6)))


def test_shares_and_means_of_200_000_people_are_recovered():
    design = Ordinal(epsilon=2, categories=5)
    answers = np.arange(200_000) % 9 % 5
    truth = np.bincount(answers) / answers.size
    reports = design.randomize(answers)
    estimates = design.estimate(reports, confidence=1 - 1e-9)
    for estimate, share in zip(estimates, truth, strict=True):
        assert estimate.interval[0] < share < estimate.interval[1]
    mean = design.estimate_mean(reports, confidence=1 - 1e-9)
    assert mean.interval[0] < answers.mean() < mean.interval[1]
    scored = design.estimate_mean(reports, scores=[-2, -1, 0, 1, 2])
    assert scored.raw == pytest.approx(mean.raw - 2)


def test_errors_are_as_stated(size):
    groups = size(small=2000, full=20_000, what="groups of 100 people on a scale")
    design = Ordinal(epsilon=2, categories=5)
    answers = (np.arange(groups * 100) % 5).reshape(groups, 100)
    estimates = [design.estimate_mean(each) for each in design.randomize(answers)]
    noise = np.mean([(each.raw - 2) ** 2 for each in estimates])
    stated = (
        np.mean([each.standard_error**2 for each in estimates]) - 2 / 100
    )  # less the sampling
    # The standard deviation of the ratio is 3.2 % at 2,000 groups, 1 % at 20,000.
    within = 0.1 if groups >= 20_000 else 0.2
    assert noise == pytest.approx(stated, rel=within)


def test_means_are_better_than_by_randomized_response():
    scale, direct = (
        Ordinal(epsilon=1, categories=7),
        RandomizedResponse(epsilon=1, categories=7),
    )
    error = scale.estimate_mean(counts=(100,) * 7).standard_error
    slope = float(direct.p - direct.q)
    assert error < math.sqrt(4 / 700) / slope


def test_bad_designs():
    for wrong in ({"odds": 1}, {"ratio": 1}, {"ratio": 0}, {}, {"odds": 3, "ratio": 0.5}):
        with pytest.raises(InvalidParameter):
            Ordinal(categories=4, **wrong)
    with pytest.raises(InvalidParameter, match="at most"):
        Ordinal(odds=3, categories=1000)
    with pytest.raises(InvalidParameter, match="too near"):
        Ordinal(odds=Fraction(10**7 + 1, 10**7), categories=50)
    with pytest.raises(InvalidData):
        Ordinal(odds=3, categories=4).randomize([5])
    with pytest.raises(InvalidParameter, match="scores"):
        Ordinal(odds=3, categories=4).estimate_mean(counts=(1, 1, 1, 1), scores=[1, 2])
    with pytest.raises(InvalidParameter, match="either"):
        Ordinal(odds=3, categories=4).estimate()


def test_the_variance_is_that_of_the_estimates():
    scale, n = Ordinal(ratio=Fraction(1, 2), categories=3), 112_000
    truth = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    rates = [sum(p * x for p, x in zip(row, truth, strict=True)) for row in scale.matrix]
    shares = scale.estimate(counts=[int(rate * n) for rate in rates])
    assert shares.raw == pytest.approx([float(x) for x in truth])
    errors = [variance**0.5 for variance in scale.variance(truth, respondents=n)]
    assert errors == pytest.approx(list(shares.standard_error))


def test_without_the_chance_of_the_sample_the_variance_is_that_of_the_coins():
    two = Ordinal(ratio=Fraction(1, 3), categories=2)  # randomized response, odds 3
    coins = RandomizedResponse(odds=3)
    for population in (True, False):
        variances = two.variance((0.7, 0.3), respondents=1000, population=population)
        expected = coins.variance(0.3, respondents=1000, population=population)
        assert variances == pytest.approx((expected, expected))


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.5, 0.3, 0.3)])
def test_the_variance_needs_all_shares(shares):
    with pytest.raises(InvalidParameter, match="add up to 1"):
        Ordinal(ratio=0.5, categories=3).variance(shares, respondents=10)
