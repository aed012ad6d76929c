"""Belief propagation where factors are of any size: all cliques keep their rows."""

import numpy as np
import pytest

from deniable.synth.fit.belief_propagation import Propagation
from deniable.synth.fit.clique_model import CliqueModel
from deniable.synth.fit.junction_tree import JunctionTree
from deniable.synth.fit.tree_model import NoisyTable


def count(factors, sizes, total=80.0):
    tree = JunctionTree.of(factors, sizes)
    return tree, Propagation.of(tree, factors).count(factors, total)


@pytest.mark.parametrize("size", [0.0, 300.0, 800.0, 1e5, 1e9])
def test_factors_that_cancel_each_other_leave_the_rest(size):
    """One says e**size of a cell, the other e**-size; exp alone would make both cliques 0."""
    against = np.array([[size], [0.0]])
    factors = {(0, 1): against + np.log([[1.0, 3.0]]), (0, 2): np.log([[3.0, 1.0]]) - against}
    for belief in count(factors, (2, 2, 2))[1]:
        assert belief.sum() == pytest.approx(80)
        assert belief.sum(1) == pytest.approx([40, 40], rel=1e-6)
        assert np.sort(belief.sum(0)) == pytest.approx([20, 60], rel=1e-6)


@pytest.mark.parametrize("size", [700.0, 735.0, 744.0])
@pytest.mark.parametrize("turned", [False, True])
def test_what_one_factor_leaves_may_be_rare_in_another(size, turned):
    """No clique divides by the smallest floats, or by 0."""
    rare, only = np.array([[0.0, 0.0], [-size, -size]]), np.array([[-1e9, -1e9], [0.0, 0.0]])
    factors = {(0, 1): only, (0, 2): rare} if turned else {(0, 1): rare, (0, 2): only}
    for belief in count(factors, (2, 2, 2))[1]:
        assert belief.ravel() == pytest.approx([0, 0, 40, 40])


@pytest.mark.parametrize("sizes", [(4,), (1,), (1, 1, 1)])
def test_few_columns_and_single_cells_are_counted(sizes):
    factors = {(i,): np.zeros(size) for i, size in enumerate(sizes)}
    for belief in count(factors, sizes)[1]:
        assert belief == pytest.approx(np.full(belief.shape, 80 / belief.size))


@pytest.mark.parametrize("seed", [0, 1, 20, 23])
def test_much_noise_about_few_rows_leaves_a_model_with_all_rows(seed):
    """Tables that contradict each other drive their factors apart, round by round."""
    chance = np.random.default_rng(seed)
    sizes, sets = (3, 3, 3, 3), [(0, 1), (0, 1, 2), (0, 2, 3), (1, 2)]
    noisy = {}
    for own in [*((i,) for i in range(4)), *sets]:
        deviation = 5000 / float(chance.choice([1, 3, 10]))
        counts = chance.normal(0, deviation, [sizes[i] for i in own])
        noisy[own] = NoisyTable(counts, deviation**2)
    model = CliqueModel.independent([noisy[(i,)] for i in range(4)], 1.0, {})
    for place in range(len(noisy)):
        model = model.fit(dict(list(noisy.items())[: place + 1]), 40)
    model = model.fit(noisy, 300)
    assert max(np.ptp(own) for own in model.factors.values()) > 1000
    for belief in model.beliefs:
        assert belief.sum() == pytest.approx(1)
