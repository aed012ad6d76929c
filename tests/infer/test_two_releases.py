"""Numbers of two releases: the interval covers as often as it says, and no shorter one does."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter
from deniable.infer.two_releases import ReleasedNumbers, calculate_with_both

ROWS = pa.table({"ward": ["A"] * 300 + ["B"] * 100})
WARDS = "SELECT ward, COUNT(*) AS n FROM data GROUP BY ward"
TRUTH = {"sum": 700, "difference": -100, "ratio": 0.75, "share": 0.75}


@pytest.fixture(scope="module")
def visits():
    return dp.protect(ROWS, keys={"ward": ["A", "B"]}, epsilon=10**6)


def pair(visits, epsilon=(1, 2)):
    wards = visits.sql(WARDS, epsilon=epsilon[0], fresh=True)
    whole = visits.sql("SELECT COUNT(*) AS n FROM data", epsilon=epsilon[1], fresh=True)
    return ReleasedNumbers(wards, ["A"], "n"), ReleasedNumbers(whole, [()], "n")


@pytest.mark.parametrize("operation", TRUTH)
def test_intervals_cover_as_often_as_they_say(visits, operation, size):
    times = size(small=40, full=4000, what="pairs of releases")
    covered = 0
    for _ in range(times):
        first, second = pair(visits)
        estimate = calculate_with_both(first, operation, second, confidence=0.8)
        covered += estimate.low <= TRUTH[operation] <= estimate.high
    assert covered >= 0.8 * times - 6 * math.sqrt(0.16 * times)


def test_the_margin_is_that_of_the_sum_of_both_noises(visits):
    first, second = pair(visits, (0.1, 0.05))
    estimate = calculate_with_both(first, "difference", second)
    singly = [
        float(part.release.answer.table["n_margin"][0].as_py()) for part in (first, second)
    ]
    assert max(singly) < estimate.margin < sum(singly)
    noise = [
        dp.Laplace(epsilon=epsilon).release(np.zeros(40_000, int)) for epsilon in (0.1, 0.05)
    ]
    inside = np.mean(np.abs(noise[0] - noise[1]) <= estimate.margin)
    assert 0.945 < inside < 0.96
    too_short = np.mean(np.abs(noise[0] - noise[1]) <= max(singly))
    assert too_short < 0.945  # the same sample tells a wrong margin


def test_one_answer_given_twice_has_one_noise(visits):
    first, _ = pair(visits)
    again = replace(first.release, repeated=True)
    with pytest.raises(InvalidParameter, match="the same answer"):
        calculate_with_both(first, "difference", ReleasedNumbers(again, ["B"], "n"))
    other, _ = pair(visits)
    fresh = ReleasedNumbers(other.release, ["A"], "n")
    assert abs(calculate_with_both(first, "difference", fresh).value) < 60


def test_equal_names_say_which_release_is_which(visits):
    first, second = (visits.sql(WARDS, epsilon=epsilon, fresh=True) for epsilon in (1, 2))
    numbers = (ReleasedNumbers(release, ["A"], "n") for release in (first, second))
    estimate = calculate_with_both(next(numbers), "sum", next(numbers))
    assert estimate.what == "n of A (first) and n of A (second)"
