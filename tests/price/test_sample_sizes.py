"""Plans for counts, means and proportions, and simulations that keep to them."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from deniable.errors import InvalidParameter
from deniable.mechanisms import Laplace
from deniable.price import sample_sizes


def test_counts_state_margin_and_bound():
    for epsilon, margin in ((1, 3), (0.1, 30), (0.5, 6)):
        count = sample_sizes.count(epsilon=epsilon)
        assert count.margin == margin
        assert count.standard_error == pytest.approx(math.sqrt(2) * count.least_error)
    assert "± 6 at 95 %" in str(sample_sizes.count(epsilon=0.5))


@pytest.mark.parametrize("margin", [0, 1, 6, 30, 1000])
def test_the_least_epsilon_for_a_count(margin):
    epsilon = sample_sizes.epsilon_for_count(margin=margin)
    assert Laplace(epsilon=epsilon).margin(0.95) <= margin
    assert Laplace(epsilon=epsilon * 0.9999).margin(0.95) > margin


def test_means_and_proportions_without_noise_are_the_classical_sizes():
    assert sample_sizes.sample_size_for_proportion(margin=0.03, epsilon=1000) == 1100
    plan = {"margin": 1, "lo": 0, "hi": 100, "standard_deviation": 20, "epsilon": 1000}
    assert sample_sizes.sample_size_for_mean(**plan) == math.ceil((1.959964 * 20) ** 2)


def covered(n, share, epsilon, margin):
    """P(|K + Z - n share| <= n margin), exactly, up to the rounding of float sums."""
    low, high = math.ceil(n * (share - margin)), math.floor(n * (share + margin))
    reach = 8 * math.sqrt(n * share * (1 - share)) + 40
    k = np.arange(max(0, int(n * share - reach)), min(n, int(n * share + reach)) + 1)
    ratio = math.exp(-epsilon)

    def noise_from(least):
        """P(Z >= least) for each entry."""
        tail = ratio ** np.abs(least).astype(float) / (1 + ratio)
        return np.where(least > 0, tail, 1 - ratio * tail)

    return float(
        binom.pmf(k, n, float(share)) @ (noise_from(low - k) - noise_from(high + 1 - k))
    )


SETTINGS = [
    pytest.param(margin, epsilon, level, share, id=f"{margin}-{epsilon}-{level}-{share}")
    for margin, epsilon, level, share in [
        ("0.01", 0.01, 0.99, None),  # by variances alone: 98.16 %
        ("0.02", 0.005, 0.95, None),  # 93.9 %
        *product(["0.03", "0.1", "0.3"], [0.02, 0.3, 5], [0.5, 0.95, 0.999], [None, "0.1"]),
        *product(["0.07"], [0.003, 0.05, 1], [0.8, 0.99], ["0", "1/3", "0.99", "1"]),
    ]
]


@pytest.mark.parametrize(("margin", "epsilon", "level", "share"), SETTINGS)
def test_proportions_are_covered_and_not_padded(margin, epsilon, level, share):
    half, given = Fraction(margin), Fraction(share or "1/2")
    plan = {"margin": half, "epsilon": epsilon, "confidence": level}
    guess = {} if share is None else {"prevalence": given}
    n = sample_sizes.sample_size_for_proportion(**plan, **guess)
    for more in (n, n + 1, n + 7, math.ceil(n + 1 / half), 2 * n):
        assert covered(more, given, epsilon, half) >= level
    # Half a record to either side: the size is that of a margin one record narrower, at most.
    less = [int(n - tenth / half / 10) - 1 for tenth in range(16)]
    assert any(size < 1 or covered(size, given, epsilon, half) < level for size in less)


@pytest.mark.parametrize("offset", [Fraction(k, 997) for k in range(-12, 13, 3)])
def test_a_prevalence_between_two_counts_is_covered_too(offset):
    n = sample_sizes.sample_size_for_proportion(margin=Fraction(3, 100), epsilon=0.5)
    for more in (n, n + 1, n + 16, n + 33):
        share = Fraction(1, 2) + offset / more
        assert covered(more, share, 0.5, Fraction(3, 100)) >= 0.95


def test_millions_of_records_are_counted_in_cells():
    plan = {"margin": Fraction(1, 5000), "epsilon": 0.0005}
    n = sample_sizes.sample_size_for_proportion(**plan)
    assert n > 10**7
    assert covered(n, Fraction(1, 2), 0.0005, Fraction(1, 5000)) >= 0.95
    assert covered(n * 99 // 100, Fraction(1, 2), 0.0005, Fraction(1, 5000)) < 0.95


@pytest.mark.parametrize(("epsilon", "level"), [(0.005, 0.95), (0.02, 0.99), (1, 0.95)])
def test_simulated_means_stay_within_the_margin(epsilon, level, size):
    trials = size(small=40_000, full=4_000_000, what="simulated private means")
    plan = {"margin": 2, "lo": 0, "hi": 100, "standard_deviation": 20}
    n = sample_sizes.sample_size_for_mean(**plan, epsilon=epsilon, confidence=level)
    generator = np.random.default_rng(1)
    error = generator.normal(0, 20 / math.sqrt(n), trials)
    error += generator.laplace(0, 100 / epsilon / n, trials)
    share, spread = np.mean(np.abs(error) <= 2), math.sqrt(level * (1 - level) / trials)
    assert abs(share - level) < 5 * spread + 20 / n


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
