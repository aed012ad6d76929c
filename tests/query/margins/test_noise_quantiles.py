"""Quantiles of weighted sums of noises, against exact convolutions and closed forms."""

from fractions import Fraction
from math import exp, log, sqrt

import numpy as np
import pytest

from deniable.mechanisms import Gaussian, Laplace, Thresholding
from deniable.mechanisms.noise.gaussian import GaussianNoise
from deniable.mechanisms.noise.laplace import LaplaceNoise
from deniable.query.margins.noise_quantiles import fixed_margin, moments, spread_quantile

LEVEL = Fraction(19, 20)


def exact_pmf(law, reach):
    return {z: law.pmf(z, 80)[0] / 2**80 for z in range(-reach, reach + 1)}


@pytest.mark.parametrize(
    "law",
    [
        LaplaceNoise(Fraction(1, 2)),
        LaplaceNoise(Fraction(7, 3)),
        GaussianNoise(Fraction(9)),
        Thresholding(epsilon=1, delta=1e-12).noise,
    ],
    ids=str,
)
def test_moments(law):
    pmf = exact_pmf(law, 130)
    variance = sum(z**2 * p for z, p in pmf.items())
    fourth = sum(z**4 * p for z, p in pmf.items()) - 3 * variance**2
    assert moments(law)[0] == pytest.approx(variance, rel=1e-5)
    assert moments(law)[1] == pytest.approx(fourth, rel=1e-3, abs=0.02 * variance)


@pytest.mark.parametrize("weights", [(1, 1), (1, -1), (2, 3), (Fraction(1, 2), Fraction(3, 4))])
@pytest.mark.parametrize("level", [Fraction(1, 2), LEVEL, Fraction(999, 1000)])
@pytest.mark.parametrize(
    "laws",
    [
        (LaplaceNoise(Fraction(1)), LaplaceNoise(Fraction(1))),
        (LaplaceNoise(Fraction(1, 4)), LaplaceNoise(Fraction(2))),
        (LaplaceNoise(Fraction(2)), GaussianNoise(Fraction(3))),
    ],
    ids=str,
)
def test_small_noises_are_convolved_exactly(weights, level, laws):
    mass = {}
    first, two = (exact_pmf(law, 60) for law in laws)
    for z, p in first.items():
        for y, q in two.items():
            distance = abs(weights[0] * z + weights[1] * y)
            mass[distance] = mass.get(distance, 0) + p * q
    margin = fixed_margin(
        {"a": Fraction(weights[0]), "b": Fraction(weights[1])},
        dict(zip("ab", laws, strict=True)),
        level,
    )
    within = sum(p for d, p in mass.items() if d <= Fraction(margin) + Fraction(1, 10**9))
    sooner = sum(p for d, p in mass.items() if d < Fraction(margin) - Fraction(1, 10**9))
    assert sooner < level <= within + 1e-9


def test_one_noise_has_its_own_margin():
    for mechanism in (Laplace(epsilon=0.3, sensitivity=4), Gaussian(sigma=20)):
        margin = fixed_margin({"a": Fraction(-3, 2)}, {"a": mechanism.noise()}, LEVEL)
        assert margin == 1.5 * mechanism.margin(0.95)
    assert fixed_margin({"a": Fraction(0)}, {"a": LaplaceNoise(Fraction(1))}, LEVEL) == 0


def test_wide_noises_follow_the_closed_form_of_two():
    scale = 10**6
    laws = {name: LaplaceNoise(Fraction(scale)) for name in "ab"}
    margin = fixed_margin({"a": Fraction(1), "b": Fraction(1)}, laws, LEVEL) / scale
    assert exp(-margin) * (1 + margin / 2) == pytest.approx(0.05, rel=2e-3)
    margin = fixed_margin({"a": Fraction(1), "b": Fraction(1, 3)}, laws, LEVEL) / scale
    tail = (exp(-margin) - exp(-3 * margin) / 9) / (1 - 1 / 9)
    assert tail == pytest.approx(0.05, rel=2e-3)


def test_wide_gaussian_noises_add_up_to_one():
    laws = {name: GaussianNoise(Fraction(10**12)) for name in "ab"}
    margin = fixed_margin({"a": Fraction(3), "b": Fraction(4)}, laws, LEVEL)
    assert margin == pytest.approx(1.9599640 * 5e6, rel=1e-3)


@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(9, 10), LEVEL, Fraction(99, 100)])
def test_the_table_is_near(level):
    """Two to five Laplace noises of any weights, and mixtures with Gaussian noise."""
    generator = np.random.default_rng(6)
    scale = 10**6
    for case in range(40):
        weights = generator.random(2 + case % 4) ** 2
        weights /= weights.max()
        laws = {str(i): LaplaceNoise(Fraction(scale)) for i in range(weights.size)}
        if case % 3 == 0:
            laws["0"] = GaussianNoise(Fraction(scale**2))
        exact = fixed_margin({str(i): Fraction(w) for i, w in enumerate(weights)}, laws, level)
        variance = sum(w**2 * moments(laws[str(i)])[0] for i, w in enumerate(weights))
        fourth = sum(w**4 * moments(laws[str(i)])[1] for i, w in enumerate(weights))
        near = spread_quantile(np.array([variance]), np.array([fourth]), level)[0]
        assert near == pytest.approx(exact, rel=0.012 if level >= 0.9 else 0.04), weights


def test_the_ends_of_the_table():
    level = Fraction(9, 10)
    laplace, normal = spread_quantile(np.array([2.0, 4.0]), np.array([12.0, 0.0]), level)
    assert laplace == pytest.approx(log(10), rel=1e-6)
    assert normal == pytest.approx(2 * 1.6448536, rel=1e-6)
    assert spread_quantile(np.zeros(1), np.zeros(1), level)[0] == 0
    assert sqrt(2) < laplace


def test_noises_that_are_zero_almost_surely_leave_the_others_alone():
    """Their variance is below the least double: a cell of the others would have no width."""
    quiet, loud = LaplaceNoise(Fraction(1, 10**5)), LaplaceNoise(Fraction(10**6))
    weights = {"a": Fraction(1, 3), "b": Fraction(10**6, 7)}
    assert fixed_margin(weights, {"a": quiet, "b": quiet}, LEVEL) == 0
    alone = fixed_margin({"a": Fraction(1, 3)}, {"a": loud}, LEVEL)
    assert fixed_margin(weights, {"a": loud, "b": quiet}, LEVEL) == alone
    assert 0 < moments(quiet)[0] < 1e-80
    assert 0 < moments(quiet)[1] < 1e-80
