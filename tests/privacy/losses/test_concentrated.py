"""Concentrated losses: the optimal conversion, never below."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidParameter, Unsupported
from deniable.privacy import (
    ApproximateLoss,
    ConcentratedLoss,
    GaussianLoss,
    PureLoss,
    concentrated,
)
from tests.privacy import curves
from tests.privacy.contract import LossContract, assert_just_above, mp, read


class TestConcentratedLoss(LossContract):
    loss = ConcentratedLoss(0.1)
    other = ConcentratedLoss(0.02)

    def truth(self, epsilon):
        return curves.concentrated(read(0.1), epsilon)


@pytest.mark.parametrize(
    ("rho", "epsilon"), [(0.5, "5.2215344"), (0.1, "2.1419389"), (0.005, "0.4299415")]
)
def test_known_conversions(rho, epsilon):
    assert f"{ConcentratedLoss(rho).epsilon(1e-6):.7f}" == epsilon


@pytest.mark.parametrize(("delta", "rho"), [(1e-6, "0.02435597"), (1e-9, "0.01497306")])
def test_known_calibrations(delta, rho):
    loss = ConcentratedLoss.calibrated(epsilon=1, delta=delta)
    assert f"{float(loss.rho):.8f}" == rho
    assert loss.delta(1) <= delta < ConcentratedLoss(loss.rho * 1.000001).delta(1)


@given(st.floats(-10, 4).map(lambda power: 10**power), st.floats(-300, -0.4))
def test_extremes_stay_certified(rho, power):
    delta = 10**power
    least = ConcentratedLoss(rho).epsilon(delta)
    assert curves.concentrated(read(rho), read(least)) <= read(delta)
    if least > 0:
        assert curves.concentrated(read(rho), read(least) * (1 - mp.mpf("1e-12"))) > read(delta)


@given(st.floats(-10, 4).map(lambda power: 10**power), st.floats(0, 700))
def test_delta_at_extremes(rho, epsilon):
    assert_just_above(
        ConcentratedLoss(rho).delta(epsilon), curves.concentrated(read(rho), read(epsilon))
    )


@given(st.floats(-8, 2).map(lambda power: 10**power), st.floats(-100, -0.5))
def test_calibration_goes_down(epsilon, power):
    delta = 10**power
    rho = ConcentratedLoss.calibrated(epsilon=epsilon, delta=delta).rho
    assert curves.concentrated(read(rho), read(epsilon)) <= read(delta)
    wider = read(rho) * (1 + mp.mpf("1e-12"))
    assert curves.concentrated(wider, read(epsilon)) > read(delta)


def test_nothing_lost():
    assert ConcentratedLoss(0).epsilon() == 0
    assert ConcentratedLoss(0).delta(0) == 0
    assert ConcentratedLoss(0.1).epsilon() == math.inf


def test_charges():
    assert concentrated(GaussianLoss(1)).rho == 0.5
    assert concentrated(GaussianLoss(1) * 3 + ConcentratedLoss(1)).rho == 2.5
    assert 0.462117 < concentrated(PureLoss(1)).rho < 0.462118
    with pytest.raises(Unsupported, match="zCDP"):
        concentrated(ApproximateLoss(1, 1e-6))


@pytest.mark.parametrize("rho", [-1, math.nan, math.inf, "1", True, None])
def test_an_unusable_rho_is_refused(rho):
    with pytest.raises(InvalidParameter, match="`rho`"):
        ConcentratedLoss(rho)


@pytest.mark.parametrize("delta", [0, 1, -1, math.nan])
def test_calibration_needs_a_delta(delta):
    with pytest.raises(InvalidParameter, match="`delta`"):
        ConcentratedLoss.calibrated(epsilon=1, delta=delta)
