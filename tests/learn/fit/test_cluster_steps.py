"""k-means steps: their sensitivity, by enumeration, and centres that find clusters."""

from itertools import product
from math import isclose, sqrt

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.learn.fit.cluster_steps import (
    ClusterStep,
    assign,
    count_weight,
    public_start,
    step_square,
)


def integers(row, centres, weight):
    """What one row adds to a step."""
    own = np.zeros((len(centres), len(row) + 1))
    own[int(assign(np.array([row], dtype=float), centres)[0])] = [weight, *row]
    return own.ravel()


@pytest.mark.parametrize("weight", [1, 2, 6])
def test_no_row_moves_a_step_by_more(weight):
    centres = np.array([[-2.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    box = list(product(range(-2, 3), repeat=2))
    moved = [integers(row, centres, weight) for row in box]
    added = max(float(own @ own) for own in moved)
    replaced = max(float((a - b) @ (a - b)) for a in moved for b in moved)
    print(f"add-remove {sqrt(added / step_square(weight, [2, 2], 'add-remove')):.3f}")
    print(f"replace {sqrt(replaced / step_square(weight, [2, 2], 'replace')):.3f}")
    assert isclose(added, step_square(weight, [2, 2], "add-remove"))
    assert replaced <= step_square(weight, [2, 2], "replace")
    assert replaced > step_square(weight, [2, 2], "replace") / 2


def test_one_centre_moves_by_twice_the_length():
    """Same centre, opposite corners: 4 B², above 2 (w² + B²) when w is small."""
    a, b = integers((2, 2), np.zeros((1, 2)), 1), integers((-2, -2), np.zeros((1, 2)), 1)
    assert (a - b) @ (a - b) == step_square(1, [2, 2], "replace") == 32


def test_the_start_is_public_and_spread():
    start = public_start(5, [100, 50])
    assert np.array_equal(start, public_start(5, [100, 50]))
    assert (np.abs(start) <= [100, 50]).all()
    apart = np.linalg.norm((start[:, None] - start[None]) / [100, 50], axis=2)
    assert apart[np.triu_indices(5, 1)].min() > 0.5


def test_steps_find_clusters():
    chance = np.random.default_rng(1)
    middles = np.array([[-60.0, -60.0], [60.0, -60.0], [0.0, 70.0]])
    rows = np.clip(middles.repeat(500, axis=0) + chance.normal(size=(1500, 2)) * 8, -100, 100)
    reaches, centres = [100, 100], public_start(3, [100, 100])
    weight = count_weight(reaches)
    deviation = 20 * sqrt(step_square(weight, reaches, "add-remove"))
    for _ in range(6):
        own = assign(rows, centres)
        counts = weight * np.bincount(own, minlength=3)
        sums = np.stack([rows[own == place].sum(axis=0) for place in range(3)])
        noisy = (chance.normal(size=shape, scale=deviation) for shape in (3, (3, 2)))
        step = ClusterStep(counts + next(noisy), sums + next(noisy), deviation, weight)
        centres = step.move(centres, reaches)
    distances = np.linalg.norm(centres[:, None] - middles[None], axis=2)
    assert distances.min(axis=0).max() < 20


def test_a_centre_without_rows_stays():
    step = ClusterStep(np.array([-5.0]), np.array([[900.0]]), 1.0, 1)
    assert step.move(np.array([[3.0]]), [10]).tolist() == [[3.0]]
    with pytest.raises(InvalidParameter, match="at least 1"):
        public_start(0, [1])
