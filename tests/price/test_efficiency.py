"""Efficiency: variances by direct summation, and ratios against the bound."""

import math
from fractions import Fraction

import pytest

from deniable.errors import InvalidParameter, Unsupported
from deniable.mechanisms import (
    Exponential,
    Gaussian,
    InverseSensitivity,
    Laplace,
    Majority,
    RandomizedResponse,
    Staircase,
)
from deniable.price.efficiency import efficiency, noise_variance

F = Fraction


@pytest.mark.parametrize(
    "mechanism",
    [
        Laplace(epsilon=1),
        Laplace(epsilon=2, sensitivity=3),
        Laplace(epsilon=1, step=F(1, 4)),
        Staircase(epsilon=1),
        Staircase(epsilon=4, sensitivity=10),
        Staircase(epsilon=2, sensitivity=7),
        Gaussian(sigma=0.3),
        Gaussian(sigma=1.5),
        Gaussian(sigma=3, step=F(1, 2)),
    ],
    ids=str,
)
def test_variances_are_those_of_the_law(mechanism):
    law, step = mechanism.noise(), float(mechanism.step)
    direct = sum(2 * z * z * law.pmf(z, 200)[0] / 2**200 for z in range(1, 400)) * step**2
    assert noise_variance(mechanism) == pytest.approx(direct, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 5])
def test_laplace_noise_on_a_count_is_twice_the_bound(epsilon):
    assert efficiency(Laplace(epsilon=epsilon)).ratio == pytest.approx(2, rel=1e-9)
    assert efficiency(Laplace(epsilon=epsilon)).error_ratio == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize("odds", [F(11, 10), 3, 50])
def test_symmetric_randomized_response_attains_the_bound(odds):
    assert efficiency(RandomizedResponse(odds=odds)).ratio == pytest.approx(1, rel=1e-9)
    skewed = RandomizedResponse.channel(F(3, 4), F(1, 2))
    assert efficiency(skewed).ratio > 1.1


def test_gaussian_noise_nears_the_bound_as_mu_falls():
    ratios = [efficiency(Gaussian(mu=mu)).ratio for mu in (1, 0.1, 0.01)]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] == pytest.approx(math.expm1(1) * (1 + 1 / 12), rel=1e-3)
    assert 1 < ratios[-1] < 1.001


def test_staircase_beats_laplace_at_large_epsilon_only():
    for epsilon, better in ((0.1, 1.001), (5, 2)):
        stairs = efficiency(Staircase(epsilon=epsilon, sensitivity=100)).ratio
        laplace = efficiency(Laplace(epsilon=epsilon, sensitivity=100)).ratio
        assert stairs * better < laplace * 1.01
        assert stairs >= 1


def test_choices_are_compared_on_data():
    vote = efficiency(Majority(epsilon=0.1, neighbors="replace"), [520, 481])
    assert vote.error == pytest.approx(0.071048, abs=5e-7)
    assert vote.ratio == 1
    median = InverseSensitivity.median(range(5), epsilon=1, neighbors="replace")
    found = efficiency(median, [2, 2, 2, 3, 4])
    assert found.measure == "error probability"
    assert found.ratio > 1
    assert "standard error" not in str(found)
    with pytest.raises(InvalidParameter, match="give some"):
        efficiency(median)


def test_other_mechanisms_are_refused_with_a_way_out():
    with pytest.raises(Unsupported, match=r"price\.discrete"):
        efficiency(Exponential(epsilon=1))
