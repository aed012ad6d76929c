"""Renyi curves: known divergences, sums at fixed orders, and the optimal conversion."""

import math

import pytest

from deniable.errors import InvalidParameter, Unsupported
from deniable.privacy import (
    ApproximateLoss,
    ConcentratedLoss,
    GaussianLoss,
    LossDistribution,
    PureLoss,
    RenyiLoss,
    poisson,
    without_replacement,
)
from deniable.privacy.losses.renyi import divergence
from tests.privacy.contract import mp, read


@pytest.mark.parametrize("epsilon", [0.01, 1, 5])
@pytest.mark.parametrize("order", [1.5, 2, 32])
def test_the_divergence_of_randomized_response(epsilon, order):
    x, a = read(epsilon), read(order)
    p = mp.e**x / (1 + mp.e**x)
    truth = mp.log(p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)) / (a - 1)
    actual = divergence(PureLoss(epsilon), order)
    assert (
        truth
        <= mp.mpf(actual.numerator) / actual.denominator
        <= truth * (1 + mp.mpf(10) ** -17)
    )


def test_sums_at_one_order():
    both = GaussianLoss(1) * 3 + ConcentratedLoss(0.5)
    assert divergence(both, 4) == 3 * 2 + 2
    assert divergence(RenyiLoss({2: 1, 8: 3}) * 2, 4) == 6  # the next order known


def test_the_conversion():
    loss = RenyiLoss({16: 8})
    want = 8 + math.log(15 / 16) - (math.log(1e-6) + math.log(16)) / 15
    assert loss.epsilon(1e-6) == pytest.approx(want, rel=1e-12)
    assert loss.delta(want) == pytest.approx(1e-6, rel=1e-9)
    curve = RenyiLoss.of(GaussianLoss(1))
    assert GaussianLoss(1).epsilon(1e-6) < curve.epsilon(1e-6)
    assert curve.epsilon(1e-6) >= ConcentratedLoss(0.5).epsilon(1e-6)  # which takes any order
    assert curve.epsilon(1e-6) < 5.5


def test_it_promises_nothing_at_delta_zero():
    assert RenyiLoss({2: 1}).epsilon() == math.inf
    assert RenyiLoss({2: 0}).epsilon() == 0


def test_what_has_no_divergence_is_refused():
    for loss in (ApproximateLoss(1, 1e-6), LossDistribution.laplace(1), RenyiLoss({2: 1})):
        with pytest.raises(Unsupported, match="no Renyi divergence"):
            divergence(loss, 3)
    with pytest.raises(InvalidParameter, match="above 1"):
        divergence(PureLoss(1), 1)
    with pytest.raises(InvalidParameter, match="at least one"):
        RenyiLoss({})
    with pytest.raises(Unsupported, match=r"no group\(2\)"):
        RenyiLoss({2: 1}).group(2)


def sampled(mu, rate):
    return poisson(GaussianLoss(mu), rate=rate, neighbors="add-remove")


def moment(mu, rate, order, *, forward=True):
    """ln(E R**order) of the sampled Gaussian by quadrature, in either direction."""

    def term(z):
        ratio = 1 - rate + rate * mp.exp(mu * z - mu**2 / 2)
        return mp.npdf(z) * (ratio**order if forward else ratio ** (1 - order))

    with mp.workdps(40):
        return mp.log(mp.quad(term, list(range(-14, 15 + 2 * int(order * mu), 2))))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("mu", "rate"), [(1, 0.01), (0.5, 0.3), (2, 0.001)])
@pytest.mark.parametrize("order", [1.25, 2, 2.5, 5, 8])
def test_sampled_gaussians_are_never_below_their_divergence(mu, rate, order):
    actual = float(divergence(sampled(mu, rate) * 10, order))
    exact = 10 * moment(mu, mp.mpf(str(rate)), mp.mpf(order)) / (order - 1)
    back = 10 * moment(mu, mp.mpf(str(rate)), mp.mpf(order), forward=False) / (order - 1)
    assert actual >= exact * (1 - mp.mpf(10) ** -14) >= back * (1 - mp.mpf(10) ** -14)
    if order == int(order):
        assert actual == pytest.approx(float(exact), rel=1e-12)


def test_a_sampled_gaussian_has_a_renyi_loss():
    steps = sampled(1, 0.01) * 1000
    tight = steps.epsilon(1e-6)
    assert tight < RenyiLoss.of(steps).epsilon(1e-6) < 1.2 * tight
    loss = without_replacement(GaussianLoss(1), sample=1, population=9, neighbors="replace")
    with pytest.raises(Unsupported, match="Poisson sampling"):
        RenyiLoss.of(loss)
