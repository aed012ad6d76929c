"""Simulated regret."""

import warnings

import numpy as np
import pytest

import deniable as dp
from deniable.errors import InvalidParameter

HARD = [0.75] + [0.70] * 4


def test_successive_elimination_at_epsilon_a_tenth(size):
    """10,800 at most; 10,240 without privacy, with the same constants."""
    runs = size(small=20, full=400, what="bandits of 10^6 steps")
    private = dp.simulate_bandit(
        HARD, horizon=10**6, epsilon=0.1, runs=runs, method="elimination"
    )
    open_ = dp.simulate_bandit(
        HARD, horizon=10**6, epsilon=None, runs=runs, method="elimination"
    )
    assert private.mean <= 10_800
    assert open_.mean <= 10_500
    assert private.mean <= 1.1 * open_.mean


def test_episodes_miss_less(size):
    runs = size(small=10, full=400, what="bandits in episodes")
    regret = dp.simulate_bandit(HARD, horizon=10**6, epsilon=0.1, runs=runs)
    assert regret.mean + 4 * regret.deviation < 0.5 * 10_600


def test_curves_grow_and_end_at_the_horizon():
    regret = dp.simulate_bandit([0.9, 0.2, 0.1], horizon=5000, epsilon=1, runs=4, seed=3)
    assert regret.times[-1] == 5000
    assert regret.curves.shape == (4, len(regret.times))
    assert (np.diff(regret.curves, axis=1) >= -1e-9).all()
    assert regret.mean == pytest.approx(regret.final.mean())
    with pytest.raises(InvalidParameter, match="two arms"):
        dp.simulate_bandit([0.5], horizon=10, epsilon=1)


def test_one_run_has_no_known_deviation():
    regret = dp.simulate_bandit([0.5, 0.4], horizon=10, epsilon=1, runs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert regret.deviation == np.inf
    assert np.isfinite(regret.mean)
