import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.exact import uniform_below
from deniable.mechanisms import RandomizedResponse, SquareWave
from deniable.mechanisms.local.maximum_likelihood import expectation_maximisation
from tests.mechanisms.numeric_contract import NumericContract


class TestSquareWave(NumericContract):
    design = SquareWave


@pytest.mark.parametrize(
    ("epsilon", "b"), [(0.5, 0.358155), (1, 0.256083), (2, 0.129337), (3, 0.063715)]
)
def test_the_window_is_the_published_one(epsilon, b):
    design = SquareWave(epsilon=epsilon, low=0, high=100_000)
    assert design.window_size / (2 * design.steps) == pytest.approx(b, abs=1e-5)


def test_a_distribution_of_200_000_people_is_recovered():
    k, n = 64, 200_000
    two = uniform_below(k // 2, n) + uniform_below(k // 2, n)  # a triangle
    truth = np.bincount(two, minlength=k) / n
    wave = SquareWave(epsilon=1, low=0, high=k - 1)
    shares = np.array(wave.distribution(wave.randomize(two)))
    assert shares.sum() == pytest.approx(1)
    distance = np.abs(np.cumsum(shares) - np.cumsum(truth)).mean()  # Wasserstein, of the range
    assert distance < 0.01
    assert wave.mean(shares) == pytest.approx(two.mean(), abs=1.0)
    # k-ary randomized response of the same loss, read by the same method, does much worse.
    direct = RandomizedResponse(epsilon=1, categories=k)
    counts = np.array(direct.aggregate(direct.randomize(two)).counts, dtype=float)
    channel = np.array(direct.matrix, dtype=float)
    other = expectation_maximisation([(channel, counts)], rounds=2000)
    assert np.abs(other - truth).sum() > 2 * np.abs(shares - truth).sum()


def test_too_fine_a_grid_is_refused():
    with pytest.raises(InvalidParameter, match="larger `step`"):
        SquareWave(epsilon=1, low=0, high=10_000).distribution([0])


@pytest.mark.parametrize("answer", [0, 3, 10])
def test_readings_are_unbiased_with_the_stated_variance(answer):
    wave = SquareWave(epsilon=1, low=0, high=10)
    chances = [float(wave.pmf(report, answer)) for report in range(wave.outputs)]
    readings = wave.readings()
    mean = float(readings @ chances)
    assert mean == pytest.approx(answer, abs=1e-9)
    spread = float((readings - mean) ** 2 @ chances)
    assert wave.variance(answer, respondents=4) == pytest.approx(spread / 4)
