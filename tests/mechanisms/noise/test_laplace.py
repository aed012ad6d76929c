import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from deniable.audit import check
from deniable.errors import InvalidParameter
from deniable.mechanisms import Laplace
from deniable.mechanisms.grid import put_on_grid
from deniable.privacy import PureLoss
from tests.mechanisms.contract import AdditiveContract, Claims, fit


class TestLaplace(AdditiveContract):
    mechanism = Laplace(epsilon=Fraction(2, 3), sensitivity=2)
    neighbors = (
        (5, 6, 7),
        (-1, 1),
        (0.2, 2.2, 1.7),
        (-0.5, 1.49),
    )
    outputs = range(-90, 90)
    must_be_told_apart = Laplace(epsilon=Fraction(2, 3) / Fraction(11, 10), sensitivity=2)
    half_noise = Laplace(epsilon=Fraction(4, 3), sensitivity=2)


class TestLaplaceByOdds(AdditiveContract):
    mechanism = Laplace(odds=3)
    neighbors = (
        (0, 1),
        (0.25, 0.75),
    )
    outputs = range(-60, 60)
    must_be_told_apart = Laplace(epsilon=1)
    half_noise = Laplace(odds=9)

    def test_the_loss_is_stated_in_odds(self):
        assert self.mechanism.loss == PureLoss(odds=3)
        assert self.mechanism.loss.epsilon() == math.log(3)

    def test_odds_near_one_still_have_noise(self):
        scale = Laplace(odds=1 + Fraction(1, 10**30)).noise().scale
        assert 10**30 <= scale <= 10**30 * (1 + Fraction(1, 2**60))


def test_known_answers():
    assert round(Laplace(epsilon=1, sensitivity=1).pmf(0, 0), 11) == 0.46211715726
    assert Laplace(epsilon=1).margin(0.95) == 3
    assert Laplace(epsilon=0.5).margin(0.95) == 6
    assert Laplace(epsilon=0.1).margin(0.95) == 30


@pytest.mark.parametrize("epsilon", [2**-20, 0.01, 1, 40])
def test_pmf_agrees_with_the_closed_form(epsilon):
    for z in (0, 1, 7):
        exact = math.tanh(epsilon / 2) * math.exp(-z * epsilon)
        assert Laplace(epsilon=epsilon).pmf(z, 0) == pytest.approx(exact, rel=1e-13)


def test_a_list_of_neighbours_shares_the_sensitivity():
    mechanism = Laplace(epsilon=1, sensitivity=2)
    grid = [[a, b] for a in range(-15, 16) for b in range(-15, 16)]
    assert check(mechanism, [([0, 0], [1, 1]), ([0, 0], [2, 0])], grid).private
    assert check(mechanism, [([0, 0], [2, 1])], grid).violated


def test_a_grid_other_than_one():
    cents = Laplace(epsilon=1, step=Fraction(1, 100))
    assert check(cents, [(0, 1), (0.001, 1.001)], [k / 100 for k in range(-1200, 1200)]).private
    assert cents.pmf(0.07, 0) == Laplace(epsilon=1, sensitivity=100).pmf(7, 0)
    assert cents.margin(real=False) == Laplace(epsilon=1, sensitivity=100).margin() / 100
    assert type(cents.release(1)) is float
    assert round(cents.release(1) * 100) / 100 == pytest.approx(1, abs=50)
    fives = Laplace(epsilon=1, sensitivity=10, step=5)
    assert set(np.array(fives.release([7] * 100)) % 5) == {0}
    assert fives.pmf(10, 8) == Laplace(epsilon=1, sensitivity=3).pmf(2, 2)  # widened: 7 rounds
    assert fives.pmf(11, 8) == 0


class Unwidened:
    """Rounds reals and forgets that rounding moves neighbours apart."""

    def __init__(self, mechanism):
        self.mechanism, self.loss = mechanism, mechanism.loss

    def pmf_bounds(self, output, value, bits=256):
        return self.mechanism.noise().pmf(
            output - int(put_on_grid(value, Fraction(1)).steps[0]), bits
        )


class Truncated:
    """Laplace noise cut to [-8, 8] around the true value, then renormalised."""

    def __init__(self, mechanism):
        self.mechanism, self.loss = mechanism, mechanism.loss

    def pmf_bounds(self, output, value, bits=256):
        if abs(output - value) > 8:
            return 0, 0
        lo, hi = self.mechanism.pmf_bounds(output, value, bits)
        kept = (1 << bits) - self.mechanism.noise().outside(8, bits)[0]
        return (lo << bits) // (kept + 4), -(-(hi << bits) // (kept - 4))


@pytest.mark.parametrize(
    ("broken", "neighbors"),
    [
        (Claims(Laplace(epsilon=2), Laplace(epsilon=1)), (0, 1)),
        (Claims(Laplace(epsilon=1), Laplace(epsilon=1, sensitivity=3)), (0, 3)),
        (Unwidened(Laplace(epsilon=1, sensitivity=0.5)), (0.4, 0.9)),
        (Truncated(Laplace(epsilon=1)), (0, 1)),
    ],
    ids=["noise halved", "sensitivity ignored", "reals without widening", "truncated"],
)
def test_broken_variants_are_caught(broken, neighbors):
    assert check(broken, [neighbors], range(-40, 40)).violated


def test_a_real_release_really_draws_the_wider_noise():
    mechanism = Laplace(epsilon=1, sensitivity=1)
    counts = Counter(mechanism.release(0.25) for _ in range(4000))
    assert fit(counts, mechanism, 0.25) > 1e-9
    assert fit(counts, mechanism, 0) < 1e-9  # the law for integers, half as wide


def test_types_decide_whether_a_value_is_real_not_values():
    mechanism = Laplace(epsilon=1)
    assert mechanism.pmf(2, 2.0) != mechanism.pmf(2, 2)
    assert mechanism.pmf(2, 2.0) == mechanism.pmf(2, Fraction(2)) == mechanism.pmf(2, 2.3)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "1", True])
def test_bad_epsilon(bad):
    with pytest.raises(InvalidParameter, match="epsilon"):
        Laplace(epsilon=bad)


@pytest.mark.parametrize("bad", [0, 1, 0.5, float("nan"), "3"])
def test_bad_odds(bad):
    with pytest.raises(InvalidParameter, match="odds"):
        Laplace(odds=bad)


@pytest.mark.parametrize("both", [{}, {"epsilon": 1, "odds": 3}])
def test_one_strength_only(both):
    with pytest.raises(InvalidParameter, match="either `epsilon` or `odds`"):
        Laplace(**both)


def test_a_type_that_depends_on_a_record_gives_it_away():
    """Why `release` takes types to be public: reals get wider noise than integers."""
    verdict = check(Laplace(epsilon=1), [(3, 2.5)], range(-40, 40))
    assert verdict.violated
    assert check(Laplace(epsilon=1), [(3.0, 2.5)], range(-40, 40)).private


def test_the_scale_is_the_sensitivity_over_epsilon():
    assert Laplace(scale=2) == Laplace(epsilon=Fraction(1, 2))
    assert Laplace(scale=2, sensitivity=3).loss == Laplace(epsilon=1.5).loss
    assert Laplace(scale=2, sensitivity=3).noise().scale == 2
