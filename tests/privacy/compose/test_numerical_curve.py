"""Curves found on a grid enclose exact rational convolutions, down to delta 1e-15."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from deniable.privacy import GaussianLoss
from deniable.privacy.arithmetic.dominating_pairs import (
    DiscretePair,
    GaussianPair,
    LaplacePair,
    SubsampledPair,
    count_pairs,
)
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.compose import numerical_curve
from deniable.privacy.compose.coarse_sum import coarse_sum
from deniable.privacy.compose.loss_grid import LossGrid
from deniable.privacy.compose.numerical_curve import compute_curve
from deniable.privacy.compose.numerical_loss import NumericalLoss
from deniable.privacy.compose.precision_search import choose_grid
from deniable.privacy.compose.repeated import RepeatedLoss
from tests.privacy import exactly


def random_pair(dice):
    """Two laws on five outputs whose likelihood ratios are powers of 2, so that sums of many
    losses take few values: any masses at 2, 4, 1/4 and 1, and what it takes at 1/2 and 2."""
    at = {Fraction(4): dice.randint(0, 2), Fraction(1): dice.randint(0, 30)}
    at[Fraction(1, 4)] = dice.randint(0, 3)
    scale = Fraction(1, sum(at.values()) + dice.randint(4, 40))
    p = [mass * scale for mass in at.values()]
    q = [mass * scale / ratio for ratio, mass in at.items()]
    # a at 2 and b at 1/2: a + b = 1 - sum(p), a / 2 + 2 b = 1 - sum(q)
    b = (1 - sum(q) - (1 - sum(p)) / 2) / Fraction(3, 2)
    a = 1 - sum(p) - b
    if a <= 0 or b <= 0:
        return random_pair(dice)
    return [*p, a, b], [*q, a / 2, 2 * b]


def random_plan(dice):
    kinds = [random_pair(dice) for _ in range(dice.randint(1, 3))]
    return [kind for kind in kinds for _ in range(dice.randint(3, 16))]


def near(pairs, epsilon, tilt=None):
    """The curve of pairs near an epsilon, tilted for it unless told otherwise."""
    plan = count_pairs(exactly.atoms(pairs))
    seen = coarse_sum(plan)
    t = tilt or seen.tilt_for_epsilon(epsilon)
    log = seen.height(t) - t * epsilon
    grid = choose_grid(plan, None, None)
    return compute_curve(plan, grid, t, epsilon, math.exp(min(max(log, -57), 0)))


def cases(dice, count):
    """Plans, with an epsilon and its exact delta, from 0.1 to 1e-15."""
    number = 0
    while number < count:
        pairs = random_plan(dice)
        masses, infinite = exactly.composed(pairs)
        logs = sorted((math.log(ratio), float(mass)) for ratio, mass in masses.items())
        goal, tail = 10 ** dice.uniform(-15, -1), 0.0
        while logs and tail < goal:
            loss, mass = logs.pop()
            tail += mass
        epsilon = loss - dice.uniform(0, math.log(2))
        if epsilon <= 0:
            continue
        low, high = exactly.delta(masses, infinite, epsilon)
        number += 1
        yield pairs, epsilon, low, high


def test_rounding_is_bounded_against_exact_convolution(size):
    count = size(small=200, full=2000, what="plans composed exactly")
    smallest, widest = 1.0, 0.0
    for pairs, epsilon, low, high in cases(random.Random(5), count):
        curve = near(pairs, epsilon)
        assert curve.below(epsilon) <= high
        assert low <= curve.above(epsilon)
        assert curve.variance == 0  # all on one lattice: rounding is all that separates them
        widest = max(widest, curve.above(epsilon) / float(low) - 1)
        smallest = min(smallest, float(low))
    assert smallest < 1e-14
    assert widest < 0.01


def test_without_tilting_small_deltas_drown():
    worst = 0.0
    for pairs, epsilon, low, _ in cases(random.Random(5), 60):
        flat = near(pairs, epsilon, tilt=1e-3)
        worst = max(worst, flat.above(epsilon) / float(low) - 1)
    assert worst > 0.01  # the bound that the tilted ones keep


def test_both_directions_count():
    pairs = [([Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 4), Fraction(3, 4)])] * 8
    exact = [
        exactly.delta(*exactly.composed(direction), 1.5)
        for direction in (pairs, exactly.swapped(pairs))
    ]
    loss = NumericalLoss(count_pairs(exactly.atoms(pairs)))
    assert float(exact[0][0]) != float(exact[1][0])
    assert loss.delta(1.5) >= max(float(low) for low, _ in exact)
    assert loss.delta(1.5) <= max(float(high) for _, high in exact) * (1 + 1e-6)


@pytest.mark.parametrize("precision", [1e-3, 1e-4, 1e-5])
def test_more_precision_narrows_the_gap(precision):
    loss = NumericalLoss(count_pairs([(LaplacePair(0.3), 20), (GaussianPair(0.5), 1)]))
    coarse = loss.epsilon_bounds(1e-6, precision=precision)
    fine = loss.epsilon_bounds(1e-6, precision=precision / 10)
    assert coarse[0] <= fine[1]
    assert fine[0] <= coarse[1]
    assert coarse[1] - coarse[0] <= precision
    assert fine[1] - fine[0] <= precision / 10


def test_impossible_outputs_cost_their_probability():
    pair = DiscretePair.of([0.9, 0.1, 0], [0.9, 0, 0.1])
    loss = NumericalLoss(count_pairs([(pair, 2)]))
    assert loss.delta(3) == pytest.approx(1 - 0.81, rel=1e-9)
    assert loss.epsilon(0.1) == math.inf
    assert loss.epsilon(0.2) == 0


def test_all_told_apart():
    loss = NumericalLoss(count_pairs([(DiscretePair.of([1, 0], [0, 1]), 1)]))
    assert loss.delta(5) == 1
    assert loss.epsilon_bounds(0.5)[1] == math.inf


def in_window(monkeypatch, low, high, tilt):
    """The curve of one Gaussian pair, computed on that window only, and its exact delta."""
    grid, pairs = LossGrid(0.001, 1, 0.0), ((GaussianPair(1.0), 1),)
    window = round(low / grid.step), round((high - low) / grid.step)
    monkeypatch.setattr(numerical_curve, "_window", lambda *_: window)
    return numerical_curve.compute_curve(pairs, grid, tilt, 1.0, 0.1), GaussianLoss(1).delta


def test_a_read_below_the_window_counts_what_lies_between(monkeypatch):
    curve, exact = in_window(monkeypatch, 1.0, 9.0, tilt=4.0)
    assert exact(0.3) <= curve.above(0.3) <= 1
    assert exact(1.5) <= curve.above(1.5) <= exact(1.5) * (1 + 1e-3)


def test_what_is_wrapped_into_a_narrow_window_is_subtracted(monkeypatch):
    curve, exact = in_window(monkeypatch, -2.0, 2.0, tilt=6.0)
    for epsilon in (0.2, 0.5, 1.0, 1.5):
        assert curve.below(epsilon) <= exact(epsilon) <= curve.above(epsilon)


@pytest.mark.parametrize(("count", "each"), [(1, "1.005"), (4, "0.505"), (20, "0.105")])
def test_what_the_grid_may_add_is_subtracted(count, each):
    """Coins in the middle between two losses of the grid: no loss can be moved by more."""
    exact = RepeatedLoss(ExactEpsilon(Fraction(each)), count)
    pairs = ((DiscretePair.randomized_response(exact.each), count),)
    grid, tilt, bounded = LossGrid(0.01, count, 0.0), 2.0, 0
    for x in np.linspace(0.0, float(each) * count, 103)[1:-1].tolist():
        delta = exact.delta(x)
        curve = compute_curve(pairs, grid, tilt, x, delta)
        assert curve.below(x) <= delta * (1 + 1e-9)
        assert delta <= curve.above(x) * (1 + 1e-9)
        bounded += curve.below(x) > delta / 2
    assert bounded > 30


def test_a_read_far_above_the_origin_is_small():
    """There e**(x - origin) is no float."""
    pairs = ((SubsampledPair(GaussianPair(40.0), 0.9), 5),)
    curve = compute_curve(pairs, LossGrid(0.5, 5, 0.0), 0.01, 4000.0, 0.1)
    assert curve.above(5500.0) <= curve.above(5000.0) <= curve.above(4500.0) < 0.5


def test_heavy_tails_in_two_parts_are_the_same_curve():
    """One or two jumps, and none: together all of the distribution, except three of them."""
    pairs = ((SubsampledPair(GaussianPair(1.0), 0.01), 20),)
    grid = LossGrid(0.0005, 20, 0.0)
    whole = numerical_curve.compute_curve(pairs, grid, 8.0, 0.6, 1e-6)
    parts = numerical_curve.compute_curve(pairs, grid, 12.0, 0.6, 1e-6, heavy=True)
    assert len(parts.parts) == 2
    for epsilon in (0.5, 0.6, 0.7):
        assert parts.above(epsilon) == pytest.approx(whole.above(epsilon), rel=1e-6)
        assert parts.below(epsilon) <= whole.above(epsilon)
