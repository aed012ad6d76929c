"""Filters: exact sums, refusals that cost nothing, and promises that no adversary beats."""

import math
from copy import deepcopy
from fractions import Fraction
from functools import cache

import pytest

from deniable.errors import BudgetExhausted, InvalidStoppingRule
from deniable.privacy import (
    ApproximateLoss,
    ConcentratedFilter,
    ConcentratedLoss,
    GaussianFilter,
    GaussianLoss,
    LossDistribution,
    PureFilter,
    PureLoss,
    RenyiFilter,
    reserved,
)
from tests.privacy.adversary import best_excess

FRESH = {
    "pure": lambda: PureFilter(1, delta=1e-6),
    "concentrated": lambda: ConcentratedFilter(0.1, delta=1e-6),
    "gaussian": lambda: GaussianFilter(mu=0.5),
    "renyi": lambda: RenyiFilter(order=4, divergence=0.5),
}
every = pytest.mark.parametrize("fresh", FRESH.values(), ids=FRESH.keys())


def filled(fresh, loss):
    """How many of a loss a new filter grants."""
    filter_, count = fresh(), 0
    while filter_.room_for(loss):
        filter_.spend(loss)
        count += 1
    return filter_, count


@every
def test_it_grants_until_full_and_then_refuses(fresh):
    loss = PureLoss(0.05)
    filter_, count = filled(fresh, loss)
    assert count > 3
    before = filter_.remaining
    with pytest.raises(BudgetExhausted, match="Nothing was charged"):
        filter_.spend(loss)
    assert filter_.remaining == before
    smaller = PureLoss(Fraction(1, 10**6))
    if filter_.room_for(smaller):
        filter_.spend(smaller)


@every
def test_what_is_granted_is_within_the_promise(fresh):
    filter_, count = filled(
        fresh, GaussianLoss(0.05) if filter_takes(fresh) else PureLoss(0.05)
    )
    loss = GaussianLoss(0.05) if filter_takes(fresh) else PureLoss(0.05)
    for delta in (1e-5, 1e-8):
        granted, promised = (loss * count).epsilon(delta), filter_.promise.epsilon(delta)
        assert granted <= promised


def filter_takes(fresh):
    return not isinstance(fresh(), PureFilter)


def test_sums_are_exact():
    tenths = PureFilter(epsilon=1)
    for _ in range(10):
        tenths.spend(PureLoss(0.1))
    assert not tenths.room_for(PureLoss(Fraction(1, 10**30)))
    coins = PureFilter(odds=27)
    for _ in range(3):
        coins.spend(PureLoss(odds=3))
    assert not coins.room_for(PureLoss(Fraction(1, 10**30)))
    rhos = ConcentratedFilter(0.3)
    for _ in range(3):
        rhos.spend(ConcentratedLoss(0.1))
    assert float(rhos.remaining) == 0


def test_deltas_are_added_up_beside():
    filter_ = PureFilter(1, delta=1e-6)
    filter_.spend(ApproximateLoss(0.1, 6e-7))
    assert not filter_.room_for(ApproximateLoss(0.1, 6e-7))
    assert filter_.room_for(ApproximateLoss(0.1, 4e-7))


def test_a_pure_loss_is_charged_where_the_curves_touch():
    filter_ = GaussianFilter(mu=2)
    filter_.spend(PureLoss(1))
    charged = 4 - float(filter_.remaining)
    assert math.sqrt(charged) == pytest.approx(1.232035, abs=1e-6)
    for alpha in (0.01, 0.1, 0.2689414213699951, 0.5, 0.9):
        gaussian = GaussianLoss(mu_squared=Fraction(charged) + Fraction(1, 10**12))
        assert gaussian.tradeoff(alpha) <= PureLoss(1).tradeoff(alpha) + 1e-12


@every
def test_a_loss_distribution_is_no_charge(fresh):
    filter_ = fresh()
    curve = LossDistribution.of(PureLoss(0.001))
    for attempt in (filter_.spend, filter_.room_for):
        with pytest.raises(InvalidStoppingRule, match="fixed in advance"):
            attempt(curve)
        with pytest.raises(InvalidStoppingRule, match="fixed in advance"):
            attempt(PureLoss(0.001) + curve)


@every
def test_the_epsilon_of_a_running_sum_is_no_charge(fresh):
    filter_ = fresh()
    running = PureLoss(0.001) * 3
    with pytest.raises(InvalidStoppingRule, match="when it was read"):
        filter_.spend(running.epsilon(1e-6))
    filter_.spend(running)
    with pytest.raises(InvalidStoppingRule, match=r"filter\.promise"):
        filter_.remaining.epsilon(1e-6)


def test_a_plan_enters_as_one_charge():
    plan = PureLoss(0.1) * 100
    budget = PureFilter(epsilon=5, delta=1e-6)
    assert not budget.room_for(plan)
    budget.spend(reserved(plan, delta=1e-6))
    assert 0.22 < float(budget.remaining) < 0.23
    concentrated = ConcentratedFilter(0.5)  # its own rho is cheaper than its epsilon's
    concentrated.spend(reserved(plan, delta=1e-6))
    assert float(concentrated.remaining) > 0
    mixed = reserved(LossDistribution.laplace(0.1) * 100, delta=5e-7)
    PureFilter(epsilon=5, delta=1e-6).spend(mixed)


# Against the adversary: odds are rational, so all of this is exact.

DEPTH = 6
MENU = [Fraction(5, 4), Fraction(3, 2), Fraction(2), Fraction(3)]


def grants(fresh):
    """Whether a filter grants a history. Sums know no order, so histories are sorted: what
    fits whole fits in every order, and each prefix of it does, too."""
    new = fresh()

    @cache
    def state(history):
        filter_ = deepcopy(new)
        for odds in history:
            if not filter_.room_for(PureLoss(odds=odds)):
                return False
            filter_.spend(PureLoss(odds=odds))
        return True

    return lambda history: state(tuple(sorted(history)))


@pytest.mark.parametrize(
    "fresh",
    [
        lambda: PureFilter(odds=4),
        lambda: ConcentratedFilter(0.35),
        lambda: GaussianFilter(mu=1),
        lambda: RenyiFilter(order=3, divergence=0.8),
    ],
    ids=["pure", "concentrated", "gaussian", "renyi"],
)
@pytest.mark.parametrize("odds", [Fraction(3, 2), Fraction(3), Fraction(5)])
def test_no_adversary_beats_a_filter(fresh, odds):
    promised = fresh().promise.delta(math.log(odds) * (1 - 1e-12))
    reached = best_excess(MENU, grants(fresh), odds, DEPTH)
    assert float(reached) <= promised
    if not isinstance(fresh(), PureFilter):
        assert reached > 0


def test_the_invalid_stopping_rule_is_beaten():
    """Composing the curve of what was released and going on while it is within the budget."""
    epsilon, delta = 2.0, Fraction(1, 10)
    odds = Fraction(math.exp(epsilon)) * (1 + Fraction(1, 10**12))  # a little against us
    menu = [Fraction(3, 2), *map(Fraction, (2, 3, 4, 6, 8))]

    @cache
    def crossed(history):
        return fixed_delta(history, odds) <= delta

    reached = best_excess(menu, lambda history: crossed(tuple(sorted(history))), odds, DEPTH)
    assert Fraction(127, 100) < reached / delta < Fraction(128, 100)


def fixed_delta(choices, odds):
    """The exact delta of randomized responses that are fixed in advance."""

    def best(i, p, q):
        if i == len(choices):
            return max(Fraction(0), p - odds * q)
        truth, lie = choices[i] / (1 + choices[i]), 1 / (1 + choices[i])
        return best(i + 1, p * truth, q * lie) + best(i + 1, p * lie, q * truth)

    return best(0, Fraction(1), Fraction(1))


@pytest.mark.parametrize(
    ("filter_", "loss", "taker"),
    [
        (GaussianFilter(1), ConcentratedLoss(0.01), "A ConcentratedFilter takes it"),
        (PureFilter(1), GaussianLoss(0.1), "A ConcentratedFilter or a GaussianFilter takes it"),
    ],
)
def test_a_loss_of_another_unit_is_told_where_it_fits(filter_, loss, taker):
    with pytest.raises(InvalidStoppingRule, match=taker) as refused:
        filter_.spend(loss)
    assert "already knows" not in str(refused.value)


def test_a_renyi_filter_adds_up_deltas_beside_divergences():
    study = RenyiFilter(order=4, divergence=0.5, delta=1e-6)
    step = ApproximateLoss(0.1, 4e-7)
    study.spend(step)
    study.spend(step)
    assert study.remaining.slack == Fraction(2, 10**7)
    alone = RenyiFilter(order=4, divergence=0.5)
    alone.spend(PureLoss(0.1) * 2)
    assert study.remaining.amount == alone.remaining.amount
    assert not study.room_for(step)  # of delta, not of divergence
    assert study.room_for(PureLoss(0.1))
    # The promise covers the worst that was granted: both pure parts, and both disclosures.
    assert study.promise.epsilon(2e-6) >= (step * 2).epsilon(2e-6)
    assert study.promise.epsilon(1e-6) == float("inf") > study.promise.epsilon(2e-6)
    with pytest.raises(InvalidStoppingRule):
        study.spend(LossDistribution.laplace(0.1))


def test_a_missing_delta_is_named():
    with pytest.raises(BudgetExhausted, match="its delta is 1e-07, and delta 0 is left"):
        PureFilter(1).spend(ApproximateLoss(0.1, 1e-7))
    with pytest.raises(BudgetExhausted, match="<epsilon 1, delta 1e-06 left>"):
        PureFilter(1, delta=1e-6).spend(ApproximateLoss(2, 1e-7))


def test_what_is_left_prints_short_and_rounded_down():
    study = ConcentratedFilter.within(epsilon=1, delta=1e-6)
    study.spend(GaussianLoss(0.1))
    assert repr(study.remaining) == "<rho 0.0193559 left>"
    third = PureFilter(Fraction(10**30, 3 * 10**30 - 1)).remaining
    assert repr(third) == "<epsilon 0.333333 left>"
