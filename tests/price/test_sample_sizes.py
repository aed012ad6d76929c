"""Plans for counts, means and proportions, and simulations that keep to them."""

import math

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.mechanisms import Laplace
from deniable.price import sample_sizes


def test_counts_state_margin_and_bound():
    for epsilon, margin in ((1, 3), (0.1, 30), (0.5, 6)):
        found = sample_sizes.count(epsilon=epsilon)
        assert found.margin == margin
        assert found.standard_error == pytest.approx(math.sqrt(2) * found.least_error)
    assert "± 6 at 95 %" in str(sample_sizes.count(epsilon=0.5))


@pytest.mark.parametrize("margin", [0, 1, 6, 30, 1000])
def test_the_least_epsilon_for_a_count(margin):
    epsilon = sample_sizes.epsilon_for_count(margin=margin)
    assert Laplace(epsilon=epsilon).margin(0.95) <= margin
    assert Laplace(epsilon=epsilon * 0.9999).margin(0.95) > margin


def test_means_and_proportions_without_noise_are_the_classical_sizes():
    assert sample_sizes.sample_size_for_proportion(margin=0.03, epsilon=1000) == 1068
    plan = {"margin": 1, "lo": 0, "hi": 100, "standard_deviation": 20, "epsilon": 1000}
    assert sample_sizes.sample_size_for_mean(**plan) == math.ceil((1.959964 * 20) ** 2)


@pytest.mark.parametrize("epsilon", [0.02, 0.1, 1])
def test_simulated_proportions_stay_within_the_margin(epsilon, size):
    trials = size(small=4_000, full=400_000, what="simulated private proportions")
    n = sample_sizes.sample_size_for_proportion(margin=0.05, epsilon=epsilon)
    generator = np.random.default_rng(1)
    coins = generator.geometric(-math.expm1(-epsilon), (2, trials))
    noisy = (generator.binomial(n, 0.5, trials) + coins[0] - coins[1]) / n
    assert np.mean(np.abs(noisy - 0.5) <= 0.05) > 0.93 - 2 / math.sqrt(trials)
    fewer = sample_sizes.sample_size_for_proportion(
        margin=0.05, epsilon=epsilon, prevalence=0.1
    )
    assert fewer < n


def test_the_price_vanishes_well_above_one_over_root_n():
    for n in (100, 10_000, 10**8):
        root = 1 / math.sqrt(n)
        assert sample_sizes.overhead(epsilon=30 * root, n=n) < 1.01
        assert sample_sizes.overhead(epsilon=root, n=n) == pytest.approx(3, rel=0.01)
        assert sample_sizes.overhead(epsilon=root / 10, n=n) > 28


@pytest.mark.parametrize(
    ("wrong", "call"),
    [
        ("epsilon", lambda: sample_sizes.count(epsilon=0)),
        ("confidence", lambda: sample_sizes.count(epsilon=1, confidence=1)),
        ("`lo`", lambda: sample_sizes.sample_size_for_mean(margin=1, lo=1, hi=1, epsilon=1)),
        (
            "standard_deviation",
            lambda: sample_sizes.sample_size_for_mean(
                margin=1, lo=0, hi=1, epsilon=1, standard_deviation=2
            ),
        ),
        (
            "prevalence",
            lambda: sample_sizes.sample_size_for_proportion(
                margin=0.1, epsilon=1, prevalence=2
            ),
        ),
    ],
)
def test_bad_plans_are_refused_by_name(wrong, call):
    with pytest.raises(InvalidParameter, match=wrong):
        call()
