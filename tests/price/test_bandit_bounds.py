"""What any bandit misses."""

import math

import pytest

import deniable as dp
from deniable.errors import InvalidParameter


def test_without_privacy_it_is_lai_and_robbins():
    found = dp.price.bandit_regret([0.75, 0.7], horizon=10**6).value
    kl = 0.7 * math.log(0.7 / 0.75) + 0.3 * math.log(0.3 / 0.25)
    assert found == pytest.approx(0.05 * math.log(10**6) / kl)


def test_a_small_epsilon_makes_it_larger():
    means = [0.75, 0.7, 0.7]
    found = [
        dp.price.bandit_regret(means, horizon=10**6, epsilon=epsilon).value
        for epsilon in (10, 0.01, 0.001)
    ]
    assert found[0] == dp.price.bandit_regret(means, horizon=10**6).value
    assert found[2] == pytest.approx(2 * math.log(10**6) / 0.006)
    assert found == sorted(found)


def test_edges():
    assert dp.price.bandit_regret([0.5, 0.5], horizon=10).value == 0
    assert dp.price.bandit_regret([1, 0.5], horizon=10).value == 0
    assert dp.price.bandit_regret([1, 0], horizon=10, epsilon=1).value > 0
    for wrong in ([0.5], [0.5, 2]):
        with pytest.raises(InvalidParameter):
            dp.price.bandit_regret(wrong, horizon=10)
