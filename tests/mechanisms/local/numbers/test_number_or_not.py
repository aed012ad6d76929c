"""Numbers that may be declined: every report enumerated, the truth recovered."""

from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from deniable.errors import InvalidData
from deniable.mechanisms import NumberOrNot, Tally
from deniable.privacy import PureLoss
from tests.mechanisms.contract import THRESHOLD, fit

NAN = float("nan")


@pytest.mark.parametrize("odds", [Fraction(3, 2), 3, 9])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_declining_is_inside_the_same_odds(steps, odds):
    design = NumberOrNot(odds=odds, low=5, high=5 + steps)
    answers = [*map(float, range(5, 6 + steps)), NAN]
    laws = [[design.pmf(y, x) for y in range(3)] for x in answers]
    assert all(sum(law) == 1 for law in laws)
    worst = max(a[y] / b[y] for a, b in permutations(laws, 2) for y in range(3))
    assert design.loss == PureLoss(odds=worst)
    assert max(laws[-1][y] / laws[0][y] for y in range(3)) == odds


@pytest.mark.parametrize("answer", [0.0, 1.0, 3.0, NAN])
def test_the_sampler_follows_pmf_and_nothing_near_it(answer):
    design = NumberOrNot(odds=3, low=0, high=3)
    near = NumberOrNot(odds=Fraction(33, 10), low=0, high=3)
    counts = Counter(design.randomize(np.full(200_000, answer)).tolist())
    assert fit(counts, design, answer) > THRESHOLD
    if answer != 1.0:  # there the two laws are nearly the same
        assert fit(counts, near, answer) < THRESHOLD


def test_means_and_declines_of_200_000_people_are_recovered():
    design = NumberOrNot(epsilon=1.5, low=0, high=50)
    answers = ((np.arange(200_000) * 7919 % 97) % 51).astype(float)
    answers[::5] = NAN
    reports = design.randomize(answers)
    mean = design.estimate(reports, confidence=1 - 1e-10)
    assert mean.interval[0] < np.nanmean(answers) < mean.interval[1]
    assert mean.interval[1] - mean.interval[0] < 5
    gone = design.not_said(reports, confidence=1 - 1e-10)
    assert gone.interval[0] < 0.2 < gone.interval[1]


def test_errors_are_as_stated(size):
    surveys = size(small=1000, full=20_000, what="surveys of 1,000 people")
    design = NumberOrNot(epsilon=2, low=-10, high=10)
    answers = np.where(np.arange(1000) % 10 < 3, 10.0, -10.0)
    answers[np.arange(1000) % 5 == 4] = NAN
    truth = float(np.nanmean(answers))
    people = answers[np.arange(surveys * 1000) * 7919 % 1000]
    estimates = [design.estimate(y) for y in design.randomize(people).reshape(surveys, 1000)]
    error = np.mean([(estimate.raw - truth) ** 2 for estimate in estimates])
    # People are fixed, so the sampling part of the stated variance is taken off.
    stated = design.variance(truth, respondents=1000, declining=0.2)
    sampling = float(np.nanvar(answers)) / 800
    assert error == pytest.approx(stated - sampling, rel=0.1 if surveys > 5000 else 0.25)
    assert np.mean([estimate.standard_error**2 for estimate in estimates]) == pytest.approx(
        stated, rel=0.05
    )
    covered = np.mean(
        [estimate.interval[0] <= truth <= estimate.interval[1] for estimate in estimates]
    )
    assert covered > 0.93


def test_hardly_anybody_said():
    design = NumberOrNot(odds=3, low=0, high=10)
    estimate = design.estimate(counts=Tally(design, (20, 20, 60), 100))
    assert estimate.interval == (0, 10)
    assert estimate.standard_error > 10
    nobody = design.estimate(counts=Tally(design, (10, 10, 80), 100))
    assert nobody.interval == (0, 10)


def test_numbers_are_still_clipped_and_checked():
    design = NumberOrNot(odds=3, low=0, high=4)
    assert design.pmf(1, 100.0) == design.pmf(1, 4) == Fraction(3, 5)
    assert design.pmf(2, NAN) == Fraction(3, 5)
    for bad in ([], ["5"], None, [float("inf")], np.ma.masked_array([5.0])):
        with pytest.raises(InvalidData) as caught:
            design.randomize(bad)
        assert "5" not in str(caught.value)
