"""Loss distributions: known numbers, agreement with closed forms, domination of mechanisms."""

import math
import random
from fractions import Fraction

import pytest

from deniable.errors import InvalidParameter, PrecisionNotReached, Unsupported
from deniable.mechanisms import Gaussian, Laplace, RandomizedResponse, Staircase
from deniable.privacy import (
    ApproximateLoss,
    ConcentratedLoss,
    GaussianLoss,
    LossDistribution,
    PureLoss,
)


@pytest.mark.parametrize("count", [1, 10, 30, 100])
@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-12])
def test_randomized_responses_agree_with_the_closed_form(count, delta):
    exact = (PureLoss(0.1) * count).epsilon(delta)
    low, high = (LossDistribution.of(PureLoss(0.1)) * count).epsilon_bounds(delta)
    assert low <= exact <= high
    assert high - low < 1e-9


def test_a_hundred_gaussians():
    exact = (GaussianLoss(0.1) * 100).epsilon(1e-5)
    assert f"{exact:.11f}" == "4.37717809568"
    low, high = (LossDistribution.of(Gaussian(sigma=10)) * 100).epsilon_bounds(1e-5)
    assert low <= exact <= high <= low + 1e-4


@pytest.mark.parametrize("delta", [1e-3, 1e-9, 1e-15])
def test_a_million_is_finite_and_monotone(delta):
    small = LossDistribution.of(PureLoss(0.001))
    epsilons = [(small * 10**k).epsilon(delta) for k in range(1, 7)]
    assert epsilons == sorted(epsilons)
    assert epsilons[-1] == pytest.approx((PureLoss(0.001) * 10**6).epsilon(delta), abs=1e-5)


def random_plan(dice):
    """Parts of which a closed form knows the whole: one pure loss, or Gaussians only."""
    count = int(10 ** dice.uniform(0, 3.5))
    if dice.random() < 0.5:
        return [(PureLoss(round(dice.uniform(0.01, 1), 3)), count)]
    return [
        (GaussianLoss(round(dice.uniform(0.01, 0.5), 3)), 1 + count // 10)
        for _ in range(dice.randint(1, 3))
    ]


def test_random_plans_are_never_below_exact_and_monotone(size):
    count = size(small=60, full=1000, what="random plans priced by loss distribution")
    dice = random.Random(11)
    for _ in range(count):
        parts = random_plan(dice)
        delta = 10 ** dice.uniform(-14, -1)
        exact = sum((part * n for part, n in parts), start=PureLoss(0) * 0)
        spread = [LossDistribution.of(part) * n for part, n in parts]
        numeric = sum(spread, start=PureLoss(0) * 0)
        low, high = numeric.epsilon_bounds(delta)
        assert low <= exact.epsilon(delta) * (1 + 1e-12) + 1e-12
        assert exact.epsilon(delta) <= high
        assert high <= exact.epsilon(delta) + 2e-4
        # A smaller delta costs more; the last digits of two upper bounds may differ in slack.
        assert numeric.epsilon(delta * 0.9) >= high * (1 - 1e-12)
        assert numeric.delta(high * 1.01) <= numeric.delta(high)
        # Both are upper bounds of their own, each with its own slack: the way back is near.
        assert numeric.delta(high) <= delta * (1 + 1e-6)
        more = numeric + spread[0]
        assert more.epsilon(delta) >= high


def test_n_at_once_are_n_singles():
    single = LossDistribution.laplace(0.2) + LossDistribution.of(GaussianLoss(0.3))
    singles = single + single + single
    assert singles == single * 3
    assert singles.epsilon(1e-6) == (single * 3).epsilon(1e-6)


def test_less_noise_costs_more():
    costs = [
        (LossDistribution.laplace(e) * 20 + GaussianLoss(0.2)).epsilon(1e-6)
        for e in (0.1, 0.11, 0.2, 0.4)
    ]
    assert costs == sorted(costs)
    assert len(set(costs)) == 4


def excess(mechanism, epsilon, shift, reach):
    """The hockey-stick divergence of two outputs so far apart, by summing up."""
    odds = math.exp(epsilon)
    total = 0.0
    for output in range(-reach, reach + 1):
        total += max(0.0, mechanism.pmf(output, 0) - odds * mechanism.pmf(output, shift))
    return total


@pytest.mark.parametrize(
    ("mechanism", "steps"),
    [
        (Laplace(epsilon=1), 1),
        (Laplace(epsilon=2, sensitivity=5), 5),
        (Staircase(epsilon=2, sensitivity=4), 4),
        (Staircase(epsilon=4, sensitivity=9), 9),
    ],
    ids=str,
)
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.5])
def test_mechanisms_are_dominated_at_every_shift(mechanism, steps, epsilon):
    delta = LossDistribution.of(mechanism).delta(epsilon)
    shifts = [excess(mechanism, epsilon, shift, 40) for shift in range(1, steps + 1)]
    assert max(shifts) <= delta + 1e-12
    assert delta <= max(shifts) + 1e-6  # and attained
    assert delta <= mechanism.loss.delta(epsilon) + 1e-9


def test_a_long_shift_is_cheaper_than_its_epsilon():
    grid = LossDistribution.of(Laplace(epsilon=0.1, sensitivity=1, step=Fraction(1, 1000)))
    assert (grid * 100).epsilon(1e-6) < 4.70 < (PureLoss(0.1) * 100).epsilon(1e-6)
    line = LossDistribution.laplace(0.1)
    assert (grid * 100).epsilon(1e-6) == pytest.approx((line * 100).epsilon(1e-6), abs=1e-3)


@pytest.mark.parametrize("values", [2, 5])
def test_several_numbers_cost_at_most_their_pure_loss(values):
    many = LossDistribution.of(Laplace(epsilon=1, sensitivity=5), values=values)
    assert many == LossDistribution.of(PureLoss(1))


def test_channels_count_in_both_directions():
    lopsided = RandomizedResponse.channel(0.75, 0.5)
    distribution = LossDistribution.of(lopsided)
    assert distribution.epsilon() == pytest.approx(math.log(2), abs=1e-12)
    assert distribution.delta(0.5) == pytest.approx(
        max(0.75 - math.exp(0.5) * 0.5, 0.5 - math.exp(0.5) * 0.25), rel=1e-6
    )
    five = LossDistribution.of(RandomizedResponse(odds=3, categories=5))
    assert (five * 10).epsilon(1e-6) < (PureLoss(odds=3) * 10).epsilon(1e-6)


def test_a_slack_is_an_infinite_loss():
    risky = LossDistribution.of(ApproximateLoss(0.5, 1e-3))
    assert risky.epsilon(1e-4) == math.inf
    assert risky.delta(0.5) == pytest.approx(1e-3, rel=1e-6)


def test_what_has_no_pair_is_refused():
    with pytest.raises(Unsupported, match="no dominating pair"):
        LossDistribution.of(ConcentratedLoss(0.1))
    with pytest.raises(InvalidParameter, match="Found 3"):
        LossDistribution.of(3)
    with pytest.raises(InvalidParameter, match="add up to 1"):
        LossDistribution.from_pair([0.5, 0.4], [0.5, 0.5])
    with pytest.raises(InvalidParameter, match="same outputs"):
        LossDistribution.from_pair([1], [0.5, 0.5])
    with pytest.raises(Unsupported, match=r"no group\(3\)"):
        LossDistribution.laplace(1).group(3)


def test_no_test_without_false_alarms_beats_the_tradeoff():
    told = LossDistribution.from_pair([0.9, 0.1], [1, 0])
    assert 0.9 - 1e-9 < told.tradeoff(0) <= 0.9
    assert (told * 2).tradeoff(0) <= 0.81
    assert LossDistribution.of(ApproximateLoss(1, 0.25)).tradeoff(0) <= 0.75


# continuous losses for which e**loss is no float
NO_LOWER_BOUND = [LossDistribution.laplace(800), GaussianLoss(100) + PureLoss(50)]


@pytest.mark.parametrize(
    "loss",
    [
        *NO_LOWER_BOUND,
        LossDistribution.of(PureLoss(800)) * 2,
        PureLoss(800) * 2 + GaussianLoss(1),
        GaussianLoss(1e-9) + PureLoss(1e-9),
    ],
    ids=repr,
)
def test_losses_beyond_the_range_of_odds_have_their_numbers(loss):
    high = loss.epsilon(1e-6)
    assert 0 <= high < math.inf
    assert loss.epsilon(1e-3) <= high
    assert 0 <= loss.delta(high) <= 1e-6
    if loss in NO_LOWER_BOUND:
        with pytest.raises(PrecisionNotReached, match=r"epsilon lies between 0\.0 and"):
            loss.epsilon_bounds(1e-6)
    else:
        assert loss.epsilon_bounds(1e-6)[0] <= high
