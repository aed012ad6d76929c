"""Pairs on a grid dominate themselves: no delta is ever lower there."""

import math

import numpy as np
import pytest

from deniable.privacy.arithmetic.dominating_pairs import (
    DiscretePair,
    GaussianPair,
    LaplacePair,
    SubsampledPair,
)
from deniable.privacy.compose.grid_cells import discretize, effective_range

PAIRS = [
    GaussianPair(0.3),
    GaussianPair(2.0),
    LaplacePair(0.7),
    SubsampledPair(GaussianPair(1.0), 0.05),
    SubsampledPair(GaussianPair(1.0), 0.05).reverse(),
    DiscretePair.of([0.5, 0.3, 0.2], [0.1, 0.3, 0.6]),
]


def on_grid(found, epsilon):
    gain = found.mass * np.maximum(-np.expm1(epsilon - found.losses), 0)
    return float(gain.sum()) + found.infinite


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
    found = discretize(pair, step, effective_range(pair, 1e-30))
    assert found.mass.min() >= 0
    assert found.mass.sum() + found.infinite == pytest.approx(1, abs=1e-9)
    for epsilon in (0.0, 0.05, 0.123456, 0.3, 0.6):
        truth = exact(pair, epsilon)
        assert on_grid(found, epsilon) >= truth * (1 - 1e-13)
        assert on_grid(found, epsilon) <= truth + step * step + 2 * step * (truth > 0)


def test_the_probability_under_q_is_kept():
    """E e**-L under P is Q's mass, so nothing was moved that was not paid for."""
    for pair in PAIRS[:3]:
        found = discretize(pair, 0.01, effective_range(pair, 1e-30))
        assert float((found.mass * np.exp(-found.losses)).sum()) == pytest.approx(1, abs=1e-9)


def test_lattices_stay_where_they_are():
    coin = DiscretePair.of([0.75, 0.25], [0.25, 0.75])
    found = discretize(coin, math.log(3), effective_range(coin, 0.0))
    assert found.first == -1
    assert found.mass.tolist() == pytest.approx([0.25, 0, 0.75])


def test_far_tails_are_counted_as_infinite():
    found = discretize(GaussianPair(1.0), 0.1, effective_range(GaussianPair(1.0), 1e-6))
    assert 0 < found.infinite <= 1e-6
