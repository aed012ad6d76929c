"""Calibration: the least noise that fits, and one step less does not."""

import pytest

from deniable.errors import InvalidParameter
from deniable.mechanisms import Gaussian, Laplace
from deniable.privacy import ApproximateLoss, ConcentratedLoss, PureLoss, calibrate, how_many
from deniable.privacy.losses.distribution import LossDistribution


@pytest.mark.parametrize(
    "budget", [ApproximateLoss(1, 1e-6), ConcentratedLoss(0.01), ApproximateLoss(0.1, 1e-9)]
)
@pytest.mark.parametrize("count", [1, 30])
def test_the_least_gaussian_noise(budget, count):
    best = calibrate(lambda s: Gaussian(sigma=s), to=budget, count=count)
    assert (best.loss * count).fits(budget)
    less = Gaussian(sigma=best.sigma * (1 - 2e-5))
    assert not (less.loss * count).fits(budget)


def test_it_agrees_with_the_closed_form():
    best = calibrate(lambda s: Gaussian(sigma=s), to=ApproximateLoss(1, 1e-6))
    assert best.sigma == pytest.approx(4.22467888933, abs=1e-5)
    assert best.sigma >= 4.22467888933


def test_tight_composition_needs_less_noise():
    budget = ApproximateLoss(1, 1e-6)
    best = calibrate(lambda scale: Laplace(epsilon=1 / scale), to=budget, count=200)
    assert best.loss.epsilon() > 3 / 200  # three times what the plain sum allows
    assert (best.loss * 200).epsilon(1e-6) <= 1


def test_other_plans_than_a_mechanism_alone():
    class Two:
        def __init__(self, scale):
            self.loss = LossDistribution.laplace(1 / scale) + Gaussian(sigma=scale).loss

    best = calibrate(Two, to=ApproximateLoss(2, 1e-5), count=5, digits=3)
    assert (best.loss * 5).epsilon(1e-5) <= 2


def test_hopeless_budgets_are_refused():
    with pytest.raises(InvalidParameter, match="No amount"):
        calibrate(lambda s: Gaussian(sigma=s), to=PureLoss(1))
    with pytest.raises(InvalidParameter, match="Any amount"):
        calibrate(lambda s: Laplace(epsilon=0.1), to=PureLoss(1))


def test_how_many():
    budget = ApproximateLoss(1, 1e-6)
    for each in (PureLoss(0.01), Gaussian(sigma=100).loss, LossDistribution.laplace(0.05)):
        count = how_many(each, budget)
        assert count > 1
        assert (each * count).fits(budget)
        assert not (each * (count + 1)).fits(budget)
    assert how_many(PureLoss(0.1), PureLoss(1), already=PureLoss(0.25)) == 7
    assert how_many(PureLoss(2), PureLoss(1)) == 0
    with pytest.raises(InvalidParameter, match="cost nothing"):
        how_many(PureLoss(0), PureLoss(1))
