import math
from fractions import Fraction

import mpmath
import pytest

from deniable.audit import check
from deniable.errors import InvalidParameter
from deniable.exact.rationals import rational
from deniable.mechanisms import Gaussian
from deniable.privacy import GaussianLoss
from tests.mechanisms.contract import AdditiveContract, Claims


class TestGaussian(AdditiveContract):
    mechanism = Gaussian(mu=Fraction(1, 2), sensitivity=2)
    neighbors = (
        (5, 6, 7),
        (0.2, 2.2, 1.7),
    )
    outputs = range(-90, 100)
    must_be_told_apart = Gaussian(sigma=4.4, sensitivity=2)
    half_noise = Gaussian(sigma=2, sensitivity=2)


class TestSmallGaussian(AdditiveContract):
    """Where rounding shows most: sigma half a step."""

    mechanism = Gaussian(sigma=0.5)
    neighbors = (
        (0, 1),
        (0.4, 1.4),
    )
    outputs = range(-15, 16)
    must_be_told_apart = Gaussian(sigma=0.55)
    half_noise = Gaussian(sigma=0.25)


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    [
        (1, 1e-5, 3.73063163482),
        (1, 1e-6, 4.22467888933),
        (0.1, 1e-6, 36.3046904262),
        (4, 1e-6, 1.19351858716),
        (10, 1e-10, 0.683043967),
    ],
)
def test_calibrated(epsilon, delta, sigma):
    mechanism = Gaussian.calibrated(epsilon=epsilon, delta=delta, sensitivity=1)
    assert mechanism.sigma == pytest.approx(sigma, rel=1e-9)
    assert mechanism.loss.delta(epsilon) <= delta
    assert Fraction(mechanism.sigma) ** 2 >= mechanism.variance  # rounded up, never down
    assert rational(mechanism.sigma) ** 2 >= mechanism.variance
    assert mechanism.sigma <= math.sqrt(mechanism.variance) * (1 + 1e-15)


def test_the_classical_sigma_is_caught_above_epsilon_one():
    sigma = math.sqrt(2 * math.log(1.25e10)) / 10
    claim = Gaussian.calibrated(epsilon=10, delta=1e-10, sensitivity=100)
    broken = Claims(Gaussian(sigma=100 * sigma, sensitivity=100), claim)
    verdict = check(broken, [(0, 100)], range(-700, 800))
    assert verdict.violated, verdict


def test_parameters_are_the_same_thing():
    by_rho = Gaussian(rho=0.02, sensitivity=2)
    assert by_rho == Gaussian(mu=0.2, sensitivity=2) == Gaussian(sigma=10, sensitivity=2)
    assert by_rho == Gaussian(variance=100, sensitivity=2)
    assert by_rho.loss == GaussianLoss(mu_squared=Fraction(1, 25))
    assert by_rho.rho == Fraction(1, 50)


@pytest.mark.parametrize("arguments", [{}, {"rho": 1, "mu": 1}, {"sigma": 0}, {"rho": -1}])
def test_bad_parameters(arguments):
    with pytest.raises(InvalidParameter):
        Gaussian(**arguments)


@pytest.mark.parametrize("sigma", [0.3, 1, 100, 2**20])
def test_pmf_agrees_with_another_library(sigma):
    mechanism = Gaussian(sigma=sigma)
    with mpmath.workdps(60):
        for z in (0, 1, int(2 * sigma), int(9 * sigma)):
            edges = [(mpmath.mpf(z) + half) / sigma for half in (-0.5, 0.5)]
            exact = mpmath.ncdf(-edges[0]) - mpmath.ncdf(-edges[1])
            assert mechanism.pmf(z, 0) == pytest.approx(float(exact), rel=1e-15)


def test_vectors_share_the_l2_sensitivity():
    mechanism = Gaussian(mu=1, sensitivity=Fraction(7, 5))
    grid = [[a, b] for a in range(-12, 14) for b in range(-12, 14)]
    assert check(mechanism, [([0, 0], [1, 0])], grid).private
    verdict = check(mechanism, [([0, 0], [3, 3])], grid)
    assert verdict.violated


def test_reals_widen_by_the_root_of_their_number():
    assert Gaussian(sigma=3).noise(4, real=True).variance == 81
    two = Gaussian(sigma=3).noise(2, real=True).variance
    assert 0 < float(two) - 9 * (1 + math.sqrt(2)) ** 2 + 1e-12 < 2e-12


def test_a_grid_other_than_one():
    tenths = Gaussian(sigma=3, step=Fraction(1, 10))
    assert tenths.noise().variance == 900
    assert tenths.pmf(0.7, 0) == Gaussian(sigma=30).pmf(7, 0)
    assert tenths.margin(real=False) == Gaussian(sigma=30).margin() / 10
    assert check(tenths, [(0, 1)], [k / 10 for k in range(-300, 310)]).private
    assert Gaussian(sigma=30, sensitivity=10, step=5).noise().variance == 36


def test_epsilon_and_delta_are_those_of_the_calibrated_one():
    mechanism = Gaussian(epsilon=1, delta=1e-6, sensitivity=2)
    assert mechanism == Gaussian.calibrated(epsilon=1, delta=1e-6, sensitivity=2)
    assert mechanism.loss.epsilon(1e-6) <= 1
