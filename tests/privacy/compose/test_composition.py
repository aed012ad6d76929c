"""Compositions: exact at delta 0, never below the truth elsewhere."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidParameter, Unsupported
from deniable.privacy import (
    ApproximateLoss,
    Composition,
    ConcentratedLoss,
    GaussianLoss,
    LossDistribution,
    PureLoss,
    RenyiLoss,
    poisson,
    reserved,
)
from deniable.privacy.compose import composition
from tests.privacy import curves
from tests.privacy.contract import LossContract, assert_just_above, mp, read


class TestPureTimesTen(LossContract):
    loss = PureLoss(0.1) * 10
    other = PureLoss(0.5)
    tight = False

    def truth(self, epsilon):
        return curves.randomized_responses(read(0.1), 10, epsilon)


class TestGaussians(LossContract):
    loss = GaussianLoss(0.5) * 3 + GaussianLoss(0.1)
    other = PureLoss(0.1)

    def truth(self, epsilon):
        return curves.gaussian(mp.sqrt(read(0.76)), epsilon)


class TestMixed(LossContract):
    """Below: what the Gaussian alone costs, and the pure part alone."""

    loss = GaussianLoss(0.5) + PureLoss(odds=2) + ApproximateLoss(0.1, 1e-9)
    other = ConcentratedLoss(0.1)
    tight = False

    def truth(self, epsilon):
        alone = curves.gaussian(read(0.5), epsilon), curves.pure(mp.log(2), epsilon)
        return max(*alone, read(1e-9))


def test_ten_tenths_are_one_at_delta_0_and_not_the_same_loss():
    ten = PureLoss(0.1) * 10
    assert ten.epsilon() == 1.0
    assert ten != PureLoss(1)
    assert isinstance(ten, Composition)
    assert ten.delta(1) == 0


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 999))
def test_pure_sums_are_exact(a, b, thousandths):
    epsilon = Fraction(thousandths, 1000)
    both = PureLoss(epsilon) * a + PureLoss(odds=3) * b
    assert_just_above(both.epsilon(), read(epsilon) * a + b * mp.log(3), tolerance=5e-16)


def test_known_numbers():
    assert f"{(PureLoss(0.1) * 100).epsilon(1e-6):.4f}" == "4.7746"
    assert f"{(GaussianLoss(0.1) * 100).epsilon(1e-5):.11f}" == "4.37717809568"
    assert (GaussianLoss(0.1) * 100).epsilon(1e-5) == GaussianLoss(1).epsilon(1e-5)


@pytest.mark.parametrize("k", [2, 10, 30, 100])
@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-15])
def test_never_below_many_randomized_responses(k, delta):
    epsilon = (PureLoss(0.3) * k).epsilon(delta)
    assert curves.randomized_responses(read(0.3), k, read(epsilon)) <= read(delta)


def test_it_says_which_form_it_used():
    assert (PureLoss(0.1) * 100).form().name == "sum"
    assert (PureLoss(0.1) * 100).form(1e-6).name == "optimal"
    assert (PureLoss(0.1) * 3).form(1e-6).name == "optimal"
    assert (GaussianLoss(1) * 2).form(1e-6).name == "gaussian"
    lines = (GaussianLoss(1) + PureLoss(0.01)).explain(1e-6).splitlines()
    assert lines[0].startswith("numerical: ")
    assert len(lines) == 4


def test_nothing_composed_loses_nothing():
    nothing = PureLoss(1) * 0
    assert nothing == Composition(())
    assert (nothing.epsilon(), nothing.epsilon(1e-6), nothing.delta(0)) == (0, 0, 0)
    assert nothing.tradeoff(0.3) == 0.7
    assert nothing + PureLoss(1) == PureLoss(1)


def test_a_million_parts():
    assert (PureLoss(0.001) * 10**6).epsilon() == 1000
    assert 7 < (PureLoss(0.001) * 10**6).epsilon(1e-15) < 9
    assert (ApproximateLoss(0.001, 1e-12) * 10**6).epsilon(9.9e-7) == math.inf
    assert (ApproximateLoss(0.001, 1e-12) * 10**6).epsilon(1.1e-6) < 9


def test_parts_are_merged_and_opened():
    inner = PureLoss(1) + GaussianLoss(1)
    outer = Composition(((inner, 2), (PureLoss(1), 1)))
    assert outer.parts == ((GaussianLoss(1), 2), (PureLoss(1), 3))
    with pytest.raises(InvalidParameter, match="must be a loss"):
        Composition(((0.1, 2),))


def test_renyi_curves_add_up():
    curve = RenyiLoss({2: 1, 16: 8})
    assert (curve * 2).epsilon(1e-6) == RenyiLoss({2: 2, 16: 16}).epsilon(1e-6)
    with_bell = curve + GaussianLoss(1)
    assert with_bell.epsilon(1e-6) == RenyiLoss({2: 2, 16: 16}).epsilon(1e-6)
    assert with_bell.form(1e-6).name == "renyi"


def test_parts_without_a_common_charge_promise_nothing():
    odd = ConcentratedLoss(0.1) + poisson(GaussianLoss(1), rate=0.1, neighbors="add-remove")
    assert odd.epsilon(1e-6) == math.inf
    assert odd.delta(1) == 1
    with pytest.raises(Unsupported, match="no kind of charge in common"):
        odd.form(1e-6)


def test_the_price_of_a_reserved_plan_is_no_lower_bound():
    plan = reserved(PureLoss(0.1) * 100, delta=1e-6) + PureLoss(1)
    low, _ = plan.epsilon_bounds(1e-7)
    assert low <= (PureLoss(0.1) * 100 + PureLoss(1)).epsilon(1e-7)


def test_a_long_sum_is_sorted_once(monkeypatch):
    """Sorting at every `+` would take time that grows with the square of the sum."""
    calls, merge = [], composition._count_parts

    def counted(parts):
        calls.append(1)
        return merge(parts)

    monkeypatch.setattr(composition, "_count_parts", counted)
    parts = [PureLoss(Fraction(k, 10_000)) for k in range(1, 1001)]
    whole = sum(parts)
    assert not calls
    assert whole.epsilon() == 50.05
    assert len(calls) == 1
    assert whole == Composition(tuple((part, 1) for part in reversed(parts)))
    assert whole + parts[0] == Composition(((whole, 1), (parts[0], 1)))


def test_a_sum_of_a_thousand_different_losses_is_close_to_its_lower_bound(size):
    count = size(small=100, full=1000, what="different losses in a sum")
    bells = [GaussianLoss(Fraction(10 + k, 10_000)) for k in range(count // 2)]
    tents = [LossDistribution.laplace(Fraction(10 + k, 5000)) for k in range(count // 2)]
    low, high = sum([*bells, *tents]).epsilon_bounds(1e-6)
    assert 0 < high - low <= 1e-4
