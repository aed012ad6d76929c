"""Efficiency: variances by direct summation, and ratios against the bound."""

import math
from fractions import Fraction

import pytest

from deniable.errors import InvalidParameter, Unsupported
from deniable.mechanisms import (
    OLH,
    OUE,
    Density,
    Duchi,
    Exponential,
    Gaussian,
    HadamardResponse,
    Hybrid,
    InverseSensitivity,
    Laplace,
    Loloha,
    Majority,
    NoisyMax,
    NumberOrNot,
    Ordinal,
    PermuteAndFlip,
    Piecewise,
    Quantiles,
    RandomizedResponse,
    Rappor,
    SparseVector,
    SquareWave,
    Staircase,
    SubsetSelection,
    Thresholding,
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
    comparison = efficiency(median, [2, 2, 2, 3, 4])
    assert comparison.measure == "error probability"
    assert comparison.ratio > 1
    assert "standard error" not in str(comparison)
    with pytest.raises(InvalidParameter, match="Give some"):
        efficiency(median)


@pytest.mark.parametrize(
    "scores", [[0, 4], [0, 4, 6, 6], {"a": 1, "b": 9, "c": 3}, [0.5, 3.25]]
)
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip, NoisyMax])
def test_choices_among_scores(kind, monotone, scores):
    comparison = efficiency(kind(epsilon=1, monotone=monotone), scores)
    assert comparison.ratio >= 1 - 1e-9
    assert "treats candidates alike" in str(comparison)


def test_permute_and_flip_is_the_best_between_two():
    assert efficiency(PermuteAndFlip(epsilon=1), [0, 4]).ratio == pytest.approx(1)
    assert efficiency(Exponential(epsilon=1), [0, 4]).ratio == pytest.approx(1.761594, abs=1e-6)


@pytest.mark.parametrize(
    ("mechanism", "data"),
    [
        (SparseVector(epsilon=1), 10),
        (SparseVector(epsilon=1, count=3, sensitivity=2), F(7)),
        (Quantiles(0.5, epsilon=1, bounds=(0, 1000), neighbors="replace"), 1000),
        (Quantiles([0.1, 0.5], epsilon=1, bounds=(0, 9), neighbors="add-remove"), 500),
        (Thresholding(epsilon=1, delta=1e-5), 11),
        (Thresholding(epsilon=1, delta=1e-5, groups=3), 11),
    ],
    ids=lambda each: type(each).__name__ if not isinstance(each, int | F) else str(each),
)
def test_others_that_need_data(mechanism, data):
    comparison = efficiency(mechanism, data)
    assert 1 - 1e-9 <= comparison.ratio < 10**6
    assert comparison.bound.reference
    with pytest.raises(InvalidParameter, match="Give some"):
        efficiency(mechanism)


def test_thresholding_is_near_the_best_though_it_tells_the_count_too():
    for units in (5, 9, 11, 12, 15, 20):
        assert 1 <= efficiency(Thresholding(epsilon=1, delta=1e-5), units).ratio < 1.16


@pytest.mark.parametrize(
    "mechanism",
    [
        OUE(epsilon=1, categories=30),
        OLH(epsilon=1, categories=30),
        HadamardResponse(epsilon=1, categories=30),
        RandomizedResponse(epsilon=1, categories=30),
        Ordinal(epsilon=1, categories=7),
        Loloha(epsilon=1, epsilon_forever=2, categories=30),
        Duchi(epsilon=1, low=0, high=100),
        Piecewise(epsilon=1, low=0, high=100),
        Hybrid(epsilon=1, low=0, high=100),
        SquareWave(epsilon=1, low=0, high=100),
        NumberOrNot(epsilon=1, low=0, high=100),
        Density(epsilon=1, bounds=(0, 1), neighbors="replace", terms=4),
        Density(epsilon=1, bounds=(0, 1), neighbors="add-remove", terms=4),
    ],
    ids=lambda each: type(each).__name__,
)
def test_every_mechanism_has_a_bound(mechanism):
    comparison = efficiency(mechanism)
    assert comparison.ratio >= 1 - 1e-9
    assert "variance" in comparison.measure
    assert comparison.error_ratio == pytest.approx(math.sqrt(comparison.ratio))


def test_subset_selection_attains_the_bound_for_all_shares():
    comparison = efficiency(SubsetSelection(epsilon=1, categories=16))
    assert comparison.ratio == pytest.approx(1, rel=1e-9)


def test_what_has_no_bound_says_so():
    with pytest.raises(Unsupported, match=r"price\.discrete"):
        efficiency(Rappor())
    with pytest.raises(Unsupported, match="number of terms"):
        efficiency(Density(epsilon=1, bounds=(0, 1), neighbors="replace", terms="private"))
