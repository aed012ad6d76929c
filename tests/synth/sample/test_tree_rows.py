"""Rows follow the model up to rounding."""

import numpy as np

from deniable.synth.fit.tree_model import TreeModel
from deniable.synth.sample.tree_rows import count_rows, deal, sample_rows

RNG = np.random.default_rng(4)
AB = np.array([[40.0, 10.0, 0.0], [5.0, 30.0, 15.0]])
BC = np.array([[20.0, 25.0], [40.0, 0.0], [5.0, 10.0]])
MODEL = TreeModel(100.0, (AB.sum(1), AB.sum(0), BC.sum(0)), {(0, 1): AB, (1, 2): BC})
SIZES = (2, 3, 2)


def test_counts_are_rounded_not_drawn():
    rows = sample_rows(MODEL, 1000, RNG)
    assert rows.shape == (1000, 3)
    pairs = count_rows(rows, (0, 1), SIZES).reshape(2, 3)
    assert (abs(pairs - 10 * AB) <= 1).all()
    others = count_rows(rows, (1, 2), SIZES).reshape(3, 2)
    assert (abs(others - 10 * BC) <= 2).all()


def test_an_unlikely_cell_gets_its_share_on_average():
    counts = sum(
        np.bincount(deal(np.array([0.3, 0.7]), 1, RNG), minlength=2)[0] for _ in range(2000)
    )
    assert abs(counts - 600) < 4.5 * np.sqrt(2000 * 0.21)


def test_no_rows_and_no_weights():
    assert deal(np.array([1.0, 2.0]), 0, RNG).size == 0
    assert sorted(deal(np.zeros(3), 3, RNG).tolist()) == [0, 1, 2]
    assert sample_rows(MODEL, 0, RNG).shape == (0, 3)


def test_two_samples_differ():
    first, other = (sample_rows(MODEL, 200, np.random.default_rng()) for _ in range(2))
    assert (first != other).any()
