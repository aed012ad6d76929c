"""Gaussian losses: the exact curve, and the analytic calibration."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidParameter
from deniable.privacy import GaussianLoss
from tests.privacy import curves
from tests.privacy.contract import LossContract, assert_just_above, mp, read


class TestGaussianLoss(LossContract):
    loss = GaussianLoss(1)
    other = GaussianLoss(0.25)

    def truth(self, epsilon):
        return curves.gaussian(mp.mpf(1), epsilon)


class TestIrrationalMu(LossContract):
    loss = GaussianLoss(mu_squared=Fraction(1, 3))
    other = GaussianLoss(mu_squared=2)

    def truth(self, epsilon):
        return curves.gaussian(mp.sqrt(mp.mpf(1) / 3), epsilon)


def test_known_conversion():
    assert f"{GaussianLoss(1).epsilon(1e-6):.7f}" == "4.8865541"


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    [
        (1, 1e-6, "4.22467888933"),
        (1, 1e-5, "3.73063163482"),
        (0.1, 1e-6, "36.3046904262"),
        (4, 1e-6, "1.19351858716"),
        (10, 1e-10, "0.683043967"),
    ],
)
def test_known_calibrations(epsilon, delta, sigma):
    loss = GaussianLoss.calibrated(epsilon=epsilon, delta=delta)
    digits = len(sigma.replace(".", "").lstrip("0"))
    assert f"{float(1 / loss.mu_squared) ** 0.5:.{digits}g}" == sigma
    assert loss.delta(epsilon) <= delta


@given(st.floats(-10, 2.84).map(lambda power: 10**power), st.floats(-300, -0.4))
def test_calibration_goes_down(epsilon, power):
    delta = 10**power
    mu = mp.sqrt(read(GaussianLoss.calibrated(epsilon=epsilon, delta=delta).mu_squared))
    assert curves.gaussian(mu, read(epsilon)) <= read(delta)
    assert curves.gaussian(mu * (1 + mp.mpf("1e-15")), read(epsilon)) > read(delta)


@given(st.floats(-6, 2).map(lambda power: 10**power), st.floats(-300, -0.4))
def test_epsilon_at_extremes(mu, power):
    delta = 10**power
    least = GaussianLoss(mu).epsilon(delta)
    assert curves.gaussian(read(mu), read(least)) <= read(delta)
    if least > 0:
        assert curves.gaussian(read(mu), read(least) * (1 - mp.mpf("1e-12"))) > read(delta)


@given(st.floats(-6, 2).map(lambda power: 10**power), st.floats(0, 38))
def test_delta_at_extremes(mu, deviations):
    epsilon = mu * deviations
    assert_just_above(GaussianLoss(mu).delta(epsilon), curves.gaussian(read(mu), read(epsilon)))


def test_a_delta_too_small_for_a_float_is_still_above_zero():
    assert GaussianLoss(1e-6).delta(700) == 5e-324
    assert GaussianLoss(100).delta(0) == 1


@given(st.floats(-6, 1.5).map(lambda power: 10**power), st.floats(1e-300, 0.999))
def test_tradeoff_is_just_below_the_truth(mu, alpha):
    value = GaussianLoss(mu).tradeoff(alpha)
    with mp.workdps(60):
        z = mp.findroot(
            lambda z: mp.log(mp.ncdf(-z)) - mp.log(read(alpha)), _start(alpha), tol=1e-45
        )
        truth = mp.ncdf(z - read(mu))
    assert read(value) <= truth * (1 + mp.mpf(10) ** -40)
    assert read(value) >= truth * (1 - mp.mpf("1e-12")) - mp.mpf("5e-324")


def _start(alpha: float) -> float:
    from statistics import NormalDist

    return -NormalDist().inv_cdf(alpha)


def test_mu_squared_is_held_exactly():
    assert GaussianLoss(0.1).mu_squared == Fraction(1, 100)
    assert GaussianLoss(mu=0.1) == GaussianLoss(mu_squared=0.01)
    assert (GaussianLoss(mu_squared=2) * 3).mu_squared == 6
    assert GaussianLoss(mu_squared=2).group(3).mu_squared == 18
    assert GaussianLoss(0.1).rho == Fraction(1, 200)


def test_nothing_lost():
    assert GaussianLoss(0).epsilon() == 0
    assert GaussianLoss(0).delta(0) == 0
    assert GaussianLoss(1).epsilon() == math.inf


@pytest.mark.parametrize("mu", [-1, math.nan, math.inf, "1", True])
def test_an_unusable_mu_is_refused(mu):
    with pytest.raises(InvalidParameter, match="`mu`"):
        GaussianLoss(mu)
    with pytest.raises(InvalidParameter, match="`mu_squared`"):
        GaussianLoss(mu_squared=mu)


@pytest.mark.parametrize("given", [{}, {"mu": 1, "mu_squared": 1}])
def test_one_of_mu_and_its_square_is_needed(given):
    with pytest.raises(InvalidParameter, match="exactly one"):
        GaussianLoss(**given)


@pytest.mark.parametrize("delta", [0, 1, -1, math.nan])
def test_calibration_needs_a_delta(delta):
    with pytest.raises(InvalidParameter, match="`delta`"):
        GaussianLoss.calibrated(epsilon=1, delta=delta)


def test_deltas_below_every_float_end_too():
    delta = Fraction(1, 10**500)
    epsilon = GaussianLoss(1).epsilon(delta)
    assert curves.gaussian(mp.mpf(1), read(epsilon)) <= read(delta)
    assert GaussianLoss.calibrated(epsilon=1, delta=delta).mu_squared > 0


@pytest.mark.parametrize("power", [-265, -290, -300])
def test_calibration_where_the_first_bracket_is_too_far_out(power):
    delta = 10.0**power
    assert GaussianLoss.calibrated(epsilon=3, delta=delta).delta(3) <= delta
