"""Models over cliques against the whole table, which is small enough to be written down."""

import random
from itertools import combinations

import numpy as np
import pytest

from deniable.synth.fit.clique_model import CliqueModel
from deniable.synth.fit.junction_tree import JunctionTree
from deniable.synth.fit.tree_model import NoisyTable


def whole(factors, sizes, total):
    """The whole table of a product of factors."""
    logs = np.zeros(sizes)
    for columns, own in factors.items():
        shape = [sizes[i] if i in columns else 1 for i in range(len(sizes))]
        logs = logs + own.reshape(shape)
    rows = np.exp(logs - logs.max())
    return rows * total / rows.sum()


@pytest.mark.parametrize("seed", range(25))
def test_every_marginal_is_that_of_the_whole_table(seed):
    dice, chance = random.Random(seed), np.random.default_rng(seed)
    sizes = tuple(dice.randint(1, 3) for _ in range(dice.randint(2, 6)))
    sets = [(i,) for i in range(len(sizes))]
    sets += dice.sample(
        list(combinations(range(len(sizes)), 2)), dice.randint(0, len(sizes) - 1)
    )
    factors = {own: chance.normal(size=[sizes[i] for i in own]) for own in sets}
    model = CliqueModel(JunctionTree.of(factors, sizes), 70.0, factors)
    model.calibrate()
    exact = whole(factors, sizes, 70.0)
    for degree in (1, 2, 3):
        for columns in combinations(range(len(sizes)), min(degree, len(sizes))):
            others = tuple(i for i in range(len(sizes)) if i not in columns)
            assert np.allclose(model.marginal(columns), exact.sum(axis=others), atol=1e-9)
            turned = columns[::-1]
            assert np.allclose(model.marginal(turned), model.marginal(columns).T, atol=1e-9)


def test_a_model_fits_tables_that_agree():
    chance = np.random.default_rng(3)
    table = chance.random((3, 2, 4)) * 100
    single = [
        NoisyTable(table.sum(axis=tuple(j for j in range(3) if j != i)), 1.0) for i in range(3)
    ]
    pairs = {(0, 1): table.sum(axis=2), (1, 2): table.sum(axis=0), (0, 2): table.sum(axis=1)}
    model = CliqueModel.independent(single, table.sum(), {})
    assert np.allclose(model.marginal((0,)), single[0].counts)
    fitted = model.fit({own: NoisyTable(counts, 1.0) for own, counts in pairs.items()}, 2000)
    for own, counts in pairs.items():
        assert np.abs(fitted.marginal(own) - counts).sum() < 0.01 * table.sum()


def test_precise_tables_count_more():
    first, second = np.array([[40.0, 10.0], [10.0, 40.0]]), np.full((2, 2), 25.0)
    single = [NoisyTable(np.array([50.0, 50.0]), 1.0)] * 2
    model = CliqueModel.independent(single, 100.0, {})
    near = [
        model.fit({(0, 1): NoisyTable((first / a + second / b) / (1 / a + 1 / b), 1.0)}, 300)
        for a, b in ((1, 9), (9, 1))
    ]
    assert near[0].marginal((0, 1))[0, 0] > near[1].marginal((0, 1))[0, 0] + 5


def test_impossible_cells_stay_empty():
    never = np.array([[False, True], [False, False]])
    single = [NoisyTable(np.array([50.0, 50.0]), 1.0)] * 3
    model = CliqueModel.independent(single, 100.0, {(0, 2): never})
    noisy = NoisyTable(np.full((2, 2), 25.0), 1.0)
    fitted = model.fit({(0, 2): noisy, (0, 1): noisy}, 200)
    assert model.marginal((0, 2))[0, 1] < 1e-12
    assert fitted.marginal((0, 2))[0, 1] < 1e-12
    assert np.isclose(fitted.marginal((0, 2)).sum(), 100)


def test_no_rows_and_negative_counts_fit():
    single = [NoisyTable(np.array([-5.0, 3.0, -1.0]), 4.0)] * 2
    model = CliqueModel.independent(single, -3.0, {})
    fitted = model.fit({(0, 1): NoisyTable(np.full((3, 3), -2.0), 4.0)}, 50)
    assert np.isfinite(fitted.marginal((0, 1))).all()
