"""The nearest centre, decided by whole numbers."""

from fractions import Fraction

import numpy as np

from deniable.learn.fit.noisy_sums import NoisySums
from deniable.learn.measure.cluster_program import cluster_program, read_step
from deniable.learn.measure.column_roles import GridRole
from deniable.learn.measure.moment_step import code_terms
from deniable.query.statements.row_integers import evaluate


def test_rows_go_to_the_nearest_centre_and_ties_to_the_first():
    roles = [GridRole(name, Fraction(0), Fraction(1), 256, None) for name in "ab"]
    centres = np.array([[-100.0, 0.0], [100.0, 0.0], [0.0, 0.0]])
    program = cluster_program([256, 256], code_terms(roles), centres, 7)
    chance = np.random.default_rng(1)
    codes = chance.integers(0, 256, size=(400, 2))
    named = evaluate(program.levels, {"c0": codes[:, 0], "c1": codes[:, 1]})
    rows = 2 * codes - 255
    wanted = ((rows[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
    assert np.array_equal(named["b0"], wanted)
    assert program.size == 3
    assert program.value_ranges == [(7, 7), (-255, 255), (-255, 255)]


def test_noisy_sums_become_a_step():
    sums = NoisySums(np.array([[8, 3], [4, -2]]), Fraction(9), gaussian=True)
    step = read_step(sums, 4)
    assert step.counts.tolist() == [8, 4]
    assert step.sums.tolist() == [[3], [-2]]
    assert (step.deviation, step.weight) == (3.0, 4)
