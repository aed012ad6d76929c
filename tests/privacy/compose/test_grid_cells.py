"""Pairs on a grid dominate themselves: no delta is ever lower there."""

import math
from fractions import Fraction

import numpy as np
import pytest

from deniable.privacy.arithmetic.dominating_pairs import (
    DiscretePair,
    GaussianPair,
    LaplacePair,
    SubsampledPair,
)
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.repeated_pairs import RepeatedPair
from deniable.privacy.compose.grid_cells import (
    discretize,
    discretize_all,
    effective_range,
)

PAIRS = [
    GaussianPair(0.3),
    GaussianPair(2.0),
    LaplacePair(0.7),
    SubsampledPair(GaussianPair(1.0), 0.05),
    SubsampledPair(GaussianPair(1.0), 0.05).reverse(),
    DiscretePair.of([0.5, 0.3, 0.2], [0.1, 0.3, 0.6]),
]


def on_grid(cells, epsilon):
    gain = cells.mass * np.maximum(-np.expm1(epsilon - cells.losses), 0)
    return float(gain.sum()) + cells.infinite


def exact(pair, epsilon):
    if isinstance(pair, DiscretePair):
        return sum(
            w * max(0.0, -math.expm1(epsilon - y))
            for y, w in zip(pair.losses, pair.weights, strict=True)
        )
    p, q = pair.above(np.array(epsilon))
    return float(p) - math.exp(epsilon) * float(q)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
@pytest.mark.parametrize("step", [0.1, 0.01, 0.00137])
def test_the_grid_dominates_and_comes_near(pair, step):
    cells = discretize(pair, step, effective_range(pair, 1e-30))
    assert cells.mass.min() >= 0
    assert cells.mass.sum() + cells.infinite == pytest.approx(1, abs=1e-9)
    for epsilon in (0.0, 0.05, 0.123456, 0.3, 0.6):
        truth = exact(pair, epsilon)
        assert on_grid(cells, epsilon) >= truth * (1 - 1e-13)
        assert on_grid(cells, epsilon) <= truth + step * step + 2 * step * (truth > 0)


def test_the_probability_under_q_is_kept():
    """E e**-L under P is Q's mass, so nothing was moved that was not paid for."""
    for pair in PAIRS[:3]:
        cells = discretize(pair, 0.01, effective_range(pair, 1e-30))
        assert float((cells.mass * np.exp(-cells.losses)).sum()) == pytest.approx(1, abs=1e-9)


def test_lattices_stay_where_they_are():
    coin = DiscretePair.of([0.75, 0.25], [0.25, 0.75])
    cells = discretize(coin, math.log(3), effective_range(coin, 0.0))
    assert cells.first == -1
    assert cells.mass.tolist() == pytest.approx([0.25, 0, 0.75])


def test_laplace_pairs_in_rows_are_the_same_as_single_ones():
    pairs = [GaussianPair(0.5), *(LaplacePair(0.3 + 0.01 * k) for k in range(40, -1, -1))]
    for pair, cells in zip(pairs, discretize_all(pairs, 0.0137, 1e-30), strict=True):
        alone = discretize(pair, 0.0137, effective_range(pair, 1e-30))
        start = alone.first - cells.first
        assert start >= 0
        kept = slice(start, start + alone.mass.size)
        assert cells.mass[kept] == pytest.approx(alone.mass, abs=1e-13)
        assert cells.mass.sum() - cells.mass[kept].sum() <= 1e-13
        assert cells.infinite == pytest.approx(alone.infinite, abs=1e-13)
        for epsilon in (0.0, 0.2, 0.31, 0.5):
            assert on_grid(cells, epsilon) >= exact(pair, epsilon) * (1 - 1e-13)


def test_discrete_pairs_in_rows_are_the_same_as_single_ones():
    three = DiscretePair.of([0.5, 0.3, 0.2], [0.1, 0.3, 0.6])
    coins = [DiscretePair.randomized_response(ExactEpsilon(Fraction(k, 20))) for k in (1, 7, 2)]
    for step in (0.05, 0.0137):  # all coins on the grid, and beside it
        pairs = [coins[0], three, *coins[1:]]
        for pair, cells in zip(pairs, discretize_all(pairs, step, 1e-30), strict=True):
            alone = discretize(pair, step, effective_range(pair, 1e-30))
            assert cells.first == alone.first
            assert cells.mass.tolist() == alone.mass.tolist()
            assert cells.doubt.tolist() == alone.doubt.tolist()
            for epsilon in (0.0, 0.04, 0.2, 0.31):
                assert on_grid(cells, epsilon) >= exact(pair, epsilon) * (1 - 1e-13)


@pytest.mark.parametrize("step", [7.5e-5, 0.3825 / 1271, 0.3825 / 33])
def test_an_atom_that_rounding_puts_beside_the_grid_stays_where_it_is(step):
    """It went one step to the right as a whole, as did those of all other such pairs."""
    for epsilon in (0.3825, math.nextafter(0.3825, 1), math.nextafter(0.3825, 0)):
        pair = LaplacePair(epsilon)
        cells = discretize(pair, step, pair.span)
        beyond = cells.mass[cells.losses > epsilon + step / 2].sum()
        assert beyond <= 1e-6
        assert cells.doubt.sum() <= 1e-6
        for x in (0.0, 0.05, 0.3, 0.38):
            assert on_grid(cells, x) >= exact(pair, x) * (1 - 1e-13)


def test_repeated_coins_have_no_mass_below_the_exact_one():
    """Each is a little above, since the probabilities may have been rounded down."""
    share, times = Fraction(1, 3), 300
    coin = DiscretePair.of([share, 1 - share], [1 - share, share])
    cells = discretize(RepeatedPair(coin, times), math.log(2), (0.0, 0.0))
    for place, mass in enumerate(cells.mass.tolist(), start=cells.first):
        j = (times + place) // 2  # how often the loss was the greater one
        ways = math.comb(times, j) if (times + place) % 2 == 0 else 0
        least = ways * (1 - share) ** j * share ** (times - j)
        assert (
            least <= Fraction(mass) <= least * (1 + Fraction(cells.error)) + Fraction(1, 10**38)
        )
    assert 0 < cells.error < 1e-9


def test_far_tails_are_counted_as_infinite():
    cells = discretize(GaussianPair(1.0), 0.1, effective_range(GaussianPair(1.0), 1e-6))
    assert 0 < cells.infinite <= 1e-6
