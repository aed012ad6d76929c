"""Amplification by sampling: exact small cases, known numbers, and the right relation."""

import math
from fractions import Fraction

import pytest

from deniable.errors import InvalidParameter, MissingRelation, Unsupported
from deniable.privacy import (
    ApproximateLoss,
    GaussianLoss,
    LossDistribution,
    PureLoss,
    parallel,
    poisson,
    without_replacement,
)
from deniable.privacy.arithmetic.dominating_pairs import DiscretePair
from deniable.privacy.compose.numerical_loss import NumericalLoss
from tests.privacy import exactly


def test_the_sampled_gaussian():
    step = poisson(GaussianLoss(1), rate=0.01, neighbors="add-remove")
    low, high = (step * 10_000).epsilon_bounds(1e-6)
    assert 6.9060 < low < 6.90739 < high < 6.9075
    finer = (step * 10_000).epsilon_bounds(1e-6, precision=1e-5)
    assert low < 6.9072 < finer[0] < finer[1] < high


@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_one_use_agrees_with_the_grid(delta):
    step = poisson(GaussianLoss(1), rate=0.1, neighbors="add-remove")
    low, high = LossDistribution.of(step).epsilon_bounds(delta, precision=1e-7)
    assert low <= step.epsilon(delta) <= high + 1e-9
    assert step.epsilon(delta) < GaussianLoss(1).epsilon(delta)


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("count", [1, 3, 8])
def test_poisson_sampling_of_coins_is_exact(rate, count):
    """Both directions, convolved with rationals."""
    p, q = [Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]
    mix = [rate * a + (1 - rate) * b for a, b in zip(p, q, strict=True)]
    coin = poisson(PureLoss(odds=3), rate=rate, neighbors="add-remove")
    for epsilon in (0.05, 0.4, 1.0):
        both = [
            exactly.delta(*exactly.composed([pair] * count), epsilon)
            for pair in ((mix, q), (q, mix))
        ]
        low, high = max(bounds[0] for bounds in both), max(bounds[1] for bounds in both)
        delta = (LossDistribution.of(coin) * count).delta(epsilon)
        assert delta >= low
        assert delta <= float(high) * (1 + 1e-5) + 1e-15
        if count == 1:
            assert low <= coin.delta(epsilon) <= float(high) * (1 + 1e-9) + 1e-15


def test_sampling_without_replacement_by_enumeration():
    """Three records, two of them sampled and released through coins: every transcript."""
    loss = without_replacement(PureLoss(odds=3), sample=2, population=3, neighbors="replace")
    assert loss.exact_epsilon == PureLoss(odds=1 + Fraction(2, 3) * 2).exact_epsilon

    def law(table):  # the sum of a random pair, through a coin on "is it above one?"
        yes = (
            sum(
                Fraction(3, 4) if sum(pair) > 1 else Fraction(1, 4)
                for pair in ((table[0], table[1]), (table[0], table[2]), (table[1], table[2]))
            )
            / 3
        )
        return [yes, 1 - yes]

    for epsilon in (0.0, 0.3, 0.8):
        for changed in range(3):
            rows, other = [0, 1, 1], [0, 1, 1]
            other[changed] = 1 - other[changed]
            _, high = exactly.delta(*exactly.composed([(law(rows), law(other))]), epsilon)
            assert float(high) <= loss.delta(epsilon) + 1e-15


def test_the_mirrored_pair_dominates_its_curve():
    loss = without_replacement(GaussianLoss(1), sample=10, population=100, neighbors="replace")
    grid = NumericalLoss(loss.dominating_pairs)
    for epsilon in (0.01, 0.2, 0.7):
        assert grid.delta(epsilon) >= loss.delta(epsilon) * (1 - 1e-9)
        assert grid.delta(epsilon) <= loss.delta(epsilon) * (1 + 1e-3)
    coins = without_replacement(PureLoss(odds=3), sample=1, population=4, neighbors="replace")
    ((pair, _),) = coins.dominating_pairs
    assert isinstance(pair, DiscretePair)
    assert NumericalLoss(coins.dominating_pairs).delta(0.1) == pytest.approx(
        coins.delta(0.1), rel=1e-6
    )


def test_charges_follow():
    coin = poisson(PureLoss(odds=3), rate=0.1, neighbors="add-remove")
    assert coin.exact_epsilon == PureLoss(odds=1.2).exact_epsilon
    risky = poisson(ApproximateLoss(1, 1e-6), rate=0.1, neighbors="add-remove")
    assert risky.slack == Fraction(1, 10**7)
    assert risky.epsilon(1e-7) == pytest.approx(math.log1p(0.1 * math.expm1(1)), rel=1e-12)
    assert poisson(GaussianLoss(1), rate=1, neighbors="add-remove").epsilon(1e-6) == (
        pytest.approx(GaussianLoss(1).epsilon(1e-6), rel=1e-12)
    )


def test_the_relation_must_match():
    with pytest.raises(MissingRelation):
        poisson(PureLoss(1), rate=0.1)
    with pytest.raises(InvalidParameter, match="without_replacement"):
        poisson(PureLoss(1), rate=0.1, neighbors="replace")
    with pytest.raises(InvalidParameter, match="poisson"):
        without_replacement(PureLoss(1), sample=1, population=2, neighbors="add-remove")
    with pytest.raises(InvalidParameter, match="at most 1"):
        poisson(PureLoss(1), rate=1.5, neighbors="add-remove")
    with pytest.raises(InvalidParameter, match="at most 1"):
        without_replacement(PureLoss(1), sample=3, population=2, neighbors="replace")


def test_what_is_not_known_is_refused():
    coin = poisson(PureLoss(1), rate=0.1, neighbors="add-remove")
    with pytest.raises(Unsupported, match=r"no group\(2\)"):
        coin.group(2)
    with pytest.raises(Unsupported, match="product of the rates"):
        poisson(coin, rate=0.1, neighbors="add-remove")
    lopsided = LossDistribution(((DiscretePair.of([0.5, 0.5], [0.25, 0.75]), 1),))
    assert poisson(lopsided, rate=0.1, neighbors="add-remove").dominating_pairs is None
    both = parallel(PureLoss(1), PureLoss(2), neighbors="add-remove")
    assert poisson(both, rate=0.5, neighbors="add-remove").epsilon() < 2


def test_a_sample_of_everybody_is_everybody():
    for whole in (GaussianLoss(1), PureLoss(1), LossDistribution.of(ApproximateLoss(1, 0.1))):
        all_in = poisson(whole, rate=1, neighbors="add-remove") * 2
        assert all_in.epsilon(0.3) == pytest.approx((whole * 2).epsilon(0.3), abs=1e-5)
    chosen = without_replacement(GaussianLoss(1), sample=5, population=5, neighbors="replace")
    exact = (GaussianLoss(1) * 2).epsilon(1e-5)
    assert exact <= (chosen * 2).epsilon(1e-5) <= exact + 1e-5


def test_small_rates_and_large_losses():
    rare = poisson(GaussianLoss(1), rate=1e-9, neighbors="add-remove") * 10**6
    low, high = rare.epsilon_bounds(1e-12)
    assert 0 <= low <= high < 1e-4
    huge = poisson(PureLoss(800), rate=0.1, neighbors="add-remove") * 2
    assert 1500 < huge.epsilon(1e-6) < 1600
    steep = poisson(GaussianLoss(50), rate=0.5, neighbors="add-remove") * 3
    assert 4000 < steep.epsilon(1e-6) < (GaussianLoss(50) * 3).epsilon(1e-6)
    nothing = poisson(GaussianLoss(0), rate=0.5, neighbors="add-remove") * 2
    assert nothing.epsilon(1e-6) == 0


def test_a_sampled_record_may_be_told_outright():
    sampled = poisson(
        LossDistribution.of(ApproximateLoss(1, 0.1)), rate=0.5, neighbors="add-remove"
    )
    assert 0.95 - 1e-9 < sampled.tradeoff(0) <= 0.95


def test_disjoint_parts_are_sampled_under_their_own_relation():
    wards = parallel(PureLoss(1), PureLoss(1), neighbors="replace")
    with pytest.raises(InvalidParameter, match="composed under"):
        poisson(wards + PureLoss(1), rate=0.5, neighbors="add-remove")
    assert without_replacement(wards, sample=1, population=2, neighbors="replace").epsilon() < 2


@pytest.mark.parametrize("loss", [GaussianLoss(1), PureLoss(1), ApproximateLoss(1, 1e-9)])
@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_one_sampled_use_has_a_tight_lower_bound(loss, delta):
    few = without_replacement(loss, sample=1, population=100, neighbors="replace")
    for sampled in (poisson(loss, rate=0.01, neighbors="add-remove"), few):
        low, high = sampled.epsilon_bounds(delta)
        assert high > 0
        assert high * (1 - 1e-9) <= low <= high


@pytest.mark.parametrize("count", [2, 10])
def test_a_plan_without_replacement_has_a_lower_bound(count):
    """Its worst mechanism is at least as bad as one that depends on a single record."""
    step = without_replacement(GaussianLoss(1), sample=1, population=100, neighbors="replace")
    poisson_step = poisson(GaussianLoss(1), rate=0.01, neighbors="add-remove")
    low, high = (step * count).epsilon_bounds(1e-6)
    attained = (poisson_step * count).epsilon_bounds(1e-6)
    assert 0.9 * high < low <= attained[1] <= high + 1e-9
    assert low == pytest.approx(attained[0], abs=2e-4)
