"""Every mechanism answers at every epsilon, or refuses before it sees a value."""

from fractions import Fraction

import pytest

import deniable as dp
from deniable.errors import InvalidParameter

EPSILONS = ["1e-400", "1e-300", "1e-12", "1e-6", "1", "800", "1e5", "1e12", "1e300", "1e400"]
SCORES = [5, 3, 1, 0, 7]
FAR_APART = [0, 10**15, 10**15]
MADE = {
    "Laplace": lambda e: dp.Laplace(epsilon=e),
    "Laplace of a wide number": lambda e: dp.Laplace(epsilon=e, sensitivity=10**6),
    "Staircase": lambda e: dp.Staircase(epsilon=e),
    "Staircase of one number": lambda e: dp.Staircase(epsilon=e),
    "Staircase of a wide number": lambda e: dp.Staircase(epsilon=e, sensitivity=10**6),
    "Gaussian": lambda e: dp.Gaussian.calibrated(epsilon=e, delta=1e-6),
    "NoisyMax, Laplace": lambda e: dp.NoisyMax(epsilon=e, noise="laplace"),
    "NoisyMax, exponential": lambda e: dp.NoisyMax(epsilon=e, noise="exponential"),
    "NoisyMax, Gumbel": lambda e: dp.NoisyMax(epsilon=e, noise="gumbel"),
    "Exponential": lambda e: dp.Exponential(epsilon=e),
    "PermuteAndFlip": lambda e: dp.PermuteAndFlip(epsilon=e),
    "SparseVector": lambda e: dp.SparseVector(epsilon=e),
    "Quantiles": lambda e: dp.Quantiles(
        [0.25, 0.5], bounds=(0, 100), neighbors="replace", epsilon=e
    ),
    "Density": lambda e: dp.Density(bounds=(0, 1), neighbors="replace", epsilon=e, rows=50),
    "Majority": lambda e: dp.Majority(epsilon=e),
    "Thresholding": lambda e: dp.Thresholding(epsilon=e, delta=1e-6),
}
TABLES = {
    "Staircase of one number": [5, 10**15],
    "Staircase of a wide number": [5, 10**15],
    "Quantiles": [list(range(50)), [100] * 50],
    "Density": [[0.1, 0.2] * 25, [0.9] * 50],
    "Majority": [[3, 2], [0, 10**9]],
    "Thresholding": [[5, 3], [0, 10**9]],
}


def _outcome(mechanism, values):
    """None if there is an answer; otherwise the message."""
    try:
        if isinstance(mechanism, dp.SparseVector):
            list(mechanism.release(values, threshold=4))
        else:
            mechanism.release(values)
    except InvalidParameter as refused:
        return str(refused)
    return None


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", MADE)
def test_a_mechanism_answers_or_refuses_whatever_the_values_are(name, epsilon):
    try:
        mechanism = MADE[name](Fraction(epsilon))
    except InvalidParameter:
        assert not 1e-12 <= float(epsilon) <= 1e12
        return
    first, second = (
        _outcome(mechanism, table) for table in TABLES.get(name, [SCORES, FAR_APART])
    )
    assert first == second
    assert first is None or not 1e-6 <= float(epsilon) <= 1e12
