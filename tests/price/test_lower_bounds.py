"""Lower bounds: known numbers, mechanisms that attain them, and none that passes them."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import binom

from deniable.errors import InvalidParameter, Unsupported
from deniable.mechanisms import Exponential, InverseSensitivity, PermuteAndFlip
from deniable.price import lower_bounds
from deniable.privacy import (
    ApproximateLoss,
    ConcentratedLoss,
    GaussianLoss,
    PureLoss,
    RangeLoss,
)

F = Fraction


@given(st.floats(0.01, 8))
def test_the_strong_bound_of_a_count(epsilon):
    bound = lower_bounds.unbiased(PureLoss(epsilon))
    assert bound.value == pytest.approx(1 / (4 * math.sinh(epsilon / 2) ** 2), rel=1e-12)
    assert bound.value == pytest.approx(
        math.exp(epsilon) / (math.exp(epsilon) - 1) ** 2, rel=1e-9
    )


def test_one_change_is_the_best_for_answers_that_move_steadily():
    assert lower_bounds.unbiased(PureLoss(1), changes=50) == lower_bounds.unbiased(PureLoss(1))
    jump = lower_bounds.unbiased(PureLoss(0.1), reach=lambda k: 0 if k < 5 else 100, changes=9)
    assert jump.changes == 5
    assert jump.value == pytest.approx(100**2 / (4 * math.sinh(0.25) ** 2))


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1])
def test_the_classical_bounds_are_weaker(epsilon):
    strong = lower_bounds.unbiased(PureLoss(epsilon)).value
    classical = lower_bounds.unbiased_classical(epsilon).value
    simple = lower_bounds.unbiased_simple(epsilon).value
    assert simple <= classical < strong / 30
    by_hand = max(k**2 / (4 * (1 + math.exp(2 * k * epsilon))) for k in range(1, 300))
    assert classical == pytest.approx(by_hand)


def test_the_limits_of_the_classical_bounds():
    """For small epsilon: 1/33.2 at the best k, 1/68 in the short form."""
    assert lower_bounds.unbiased_classical(1e-4).value * 1e-8 == pytest.approx(
        1 / 33.2, rel=2e-3
    )
    assert lower_bounds.unbiased_simple(0.5).value == pytest.approx(4 / 68)
    with pytest.raises(Unsupported, match="up to 1"):
        lower_bounds.unbiased_simple(1.5)


def test_no_unbiased_private_mechanism_on_a_small_grid_passes_the_bound():
    """The least variance over all unbiased mechanisms of one bit, by linear programming.

    Outputs lie on a grid; the programme minimises the larger of the two variances.
    """
    epsilon = 1.0
    grid = np.linspace(-6, 7, 131)
    m = grid.size
    odds = math.exp(epsilon)
    cost = np.zeros(2 * m + 1)
    cost[-1] = 1
    equal, values = [], []
    for bit in (0, 1):
        for row, value in ((np.ones(m), 1.0), (grid, float(bit))):
            line = np.zeros(2 * m + 1)
            line[bit * m : (bit + 1) * m] = row
            equal.append(line)
            values.append(value)
    below = []
    for bit in (0, 1):
        line = np.zeros(2 * m + 1)
        line[bit * m : (bit + 1) * m] = (grid - bit) ** 2
        line[-1] = -1
        below.append(line)
        for i in range(m):
            line = np.zeros(2 * m + 1)
            line[bit * m + i], line[(1 - bit) * m + i] = 1, -odds
            below.append(line)
    solution = linprog(cost, A_ub=below, b_ub=np.zeros(len(below)), A_eq=equal, b_eq=values)
    bound = lower_bounds.unbiased(PureLoss(1)).value
    assert bound <= solution.fun <= 1.01 * bound


def test_bounds_of_other_losses():
    assert lower_bounds.unbiased(GaussianLoss(0.5)).value == pytest.approx(1 / math.expm1(0.25))
    assert lower_bounds.unbiased(ConcentratedLoss(0.1)).value == pytest.approx(
        1 / math.expm1(0.2)
    )
    assert lower_bounds.unbiased(RangeLoss(1)).value > lower_bounds.unbiased(PureLoss(1)).value
    with pytest.raises(Unsupported, match="may reveal everything"):
        lower_bounds.unbiased(ApproximateLoss(1, 1e-6))


def test_the_discrete_bound_and_its_known_case():
    """Majority with lead r: 1 / (1 + e**(-2 r eps))."""
    bound = lower_bounds.discrete([0, 20], 0.1)
    assert bound.value == pytest.approx(1 / (1 + math.exp(-4)))
    with pytest.raises(InvalidParameter, match="0"):
        lower_bounds.discrete([1, 2], 1)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.floats(0.05, 3))
def test_private_choices_stay_below_the_discrete_bound(gaps, epsilon):
    """Scores that fall by one for each change: -D is such a score."""
    distances = [0, *gaps]
    bound = lower_bounds.discrete(distances, epsilon).value
    for kind in (Exponential, PermuteAndFlip):
        law = kind(epsilon=epsilon).pmf([-d for d in distances])
        assert law[0] <= bound + 1e-12


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("data", [[3, 4, 4, 5, 8], [0], [1, 1, 1, 7, 7]], ids=str)
def test_inverse_sensitivity_attains_the_bound_of_a_quarter(relation, data):
    median = InverseSensitivity.median(range(9), epsilon=1, neighbors=relation)
    actual, bound = lower_bounds.quarter_optimality(median, data)
    assert actual == pytest.approx(bound.value, rel=1e-12)
    vote = InverseSensitivity.majority(epsilon=1, neighbors=relation)
    actual, bound = lower_bounds.quarter_optimality(vote, {True: 7, False: 3})
    assert actual == pytest.approx(bound.value, rel=1e-12)
    with pytest.raises(Unsupported, match="one true answer"):
        lower_bounds.quarter_optimality(vote, {True: 5, False: 5})


def test_two_points():
    n, epsilon = 50, 0.2
    tv = F(1, 10)  # so that n epsilon tv = 1
    forms = lower_bounds.two_point_forms(apart=1, n=n, epsilon=epsilon, total_variation=tv)
    coupling, mean, product, classical = (form.value for form in forms)
    assert mean == pytest.approx(1 / 7.436, rel=1e-3)
    assert classical == pytest.approx(1 / 10.87, rel=1e-3)
    exact = sum(
        binom.pmf(h, n, 0.1) * 2 / (1 + math.exp(epsilon * h)) / 4 for h in range(n + 1)
    )
    assert coupling == pytest.approx(exact, rel=1e-9)
    assert product == pytest.approx((1 - (1 - math.exp(-epsilon)) * 0.1) ** n / 4)
    assert coupling >= max(mean, product, classical)
    best = lower_bounds.two_point(apart=1, n=n, epsilon=epsilon, total_variation=tv)
    assert best.value == coupling


def test_two_points_without_privacy_take_over_when_epsilon_is_large():
    plan = {"apart": 1, "n": 50, "total_variation": F(1, 10), "kullback_leibler": 0.02}
    strict = lower_bounds.two_point(epsilon=0.01, **plan)
    loose = lower_bounds.two_point(epsilon=100, **plan)
    assert "no privacy" in loose.reference
    assert loose.value == pytest.approx(math.exp(-1) / 8)
    assert strict.value > loose.value


def test_two_points_hold_for_a_real_estimator():
    """The risk of the clipped noisy proportion, over both hypotheses, is above the bound."""
    n, epsilon, gap = 30, 0.3, 0.1
    bound = lower_bounds.two_point(apart=gap, n=n, epsilon=epsilon, total_variation=gap).value
    generator = np.random.default_rng(11)
    risks = []
    for p in (0.45, 0.55):
        noise = generator.geometric(1 - math.exp(-epsilon), (2, 40_000))
        noisy = generator.binomial(n, p, 40_000) + noise[0] - noise[1]
        risks.append(np.abs(np.clip(noisy / n, 0.45, 0.55) - p).mean())
    assert max(risks) >= bound
    assert max(risks) <= 4 * bound


@pytest.mark.parametrize("n", [1, 10, 100])
def test_two_point_bounds_fall_with_epsilon(n):
    risks = [
        lower_bounds.two_point(apart=1, n=n, epsilon=e, total_variation=0.2).value
        for e in (0.01, 0.1, 1, 3)
    ]
    assert all(a >= b for a, b in pairwise(risks))


@pytest.mark.parametrize(
    ("wrong", "call"),
    [
        ("epsilon", lambda: lower_bounds.unbiased_classical(0)),
        ("changes", lambda: lower_bounds.unbiased(PureLoss(1), changes=0)),
        (
            "total_variation",
            lambda: lower_bounds.two_point(apart=1, n=1, epsilon=1, total_variation=2),
        ),
    ],
)
def test_bad_questions_are_refused_by_name(wrong, call):
    with pytest.raises(InvalidParameter, match=wrong):
        call()


def test_a_bound_prints_what_it_is():
    assert "probability <= " in str(lower_bounds.discrete([0, 1], 1))
    assert "at 2 changes" in str(lower_bounds.discrete([0, 2], 1))
