"""The estimates are those of least squares, and add up; the shares are the best ones."""

from itertools import product

import numpy as np
import pytest

from deniable.synth.fit.residuals import Design, Residuals, closure, subsets

SIZES = (2, 3, 4)
MEASURED = {(): 3.0, (0,): 0.5, (0, 1): 2.0, (1, 2): 1.5}
RNG = np.random.default_rng(3)


def marginal_matrix(columns):
    """The matrix that sums cells of all columns to a marginal."""
    parts = [np.eye(k) if i in columns else np.ones((1, k)) for i, k in enumerate(SIZES)]
    matrix = parts[0]
    for part in parts[1:]:
        matrix = np.kron(matrix, part)
    return matrix


def noisy_tables():
    shapes = {columns: [SIZES[i] for i in columns] for columns in MEASURED}
    return {
        columns: (RNG.normal(10, 3, shapes[columns]), variance)
        for columns, variance in MEASURED.items()
    }


def test_estimates_and_variances_are_those_of_least_squares():
    tables = noisy_tables()
    fitted = Residuals.fit(SIZES, tables)
    rows = np.vstack([marginal_matrix(c) / np.sqrt(v) for c, v in MEASURED.items()])
    values = np.concatenate([table.ravel() / np.sqrt(v) for table, v in tables.values()])
    best = np.linalg.pinv(rows) @ values
    spread = np.linalg.pinv(rows.T @ rows)
    for columns in closure(MEASURED):
        matrix = marginal_matrix(columns)
        assert np.allclose(fitted.table(columns).ravel(), matrix @ best)
        variances = np.diag(matrix @ spread @ matrix.T)
        assert np.allclose(variances, fitted.variance(columns))


def test_tables_add_up():
    fitted = Residuals.fit(SIZES, noisy_tables())
    assert np.allclose(fitted.table((0, 1)).sum(axis=0), fitted.table((1,)))
    assert np.allclose(fitted.table((1, 2)).sum(axis=1), fitted.table((1,)))
    assert np.allclose(fitted.table((1,)).sum(), fitted.table(()))


def test_exact_tables_stay_as_they_are():
    whole = RNG.integers(0, 9, SIZES).astype(float)
    sums = {c: tuple(i for i in range(3) if i not in c) for c in MEASURED}
    tables = {c: (whole.sum(axis=sums[c]), v) for c, v in MEASURED.items()}
    fitted = Residuals.fit(SIZES, tables)
    for columns in closure(MEASURED):
        others = tuple(i for i in range(3) if i not in columns)
        assert np.allclose(fitted.table(columns), whole.sum(axis=others))


@pytest.mark.parametrize(
    "wanted",
    [{(0, 1): 1.0}, {(0, 1): 1.0, (1, 2): 5.0}, {(0,): 1.0, (0, 1, 2): 0.01}],
)
def test_no_other_shares_are_better(wanted):
    design = Design(SIZES, wanted)
    weights = design.weights()
    assert sum(weights.values()) == pytest.approx(1)
    best = design.variance(weights)
    assert best >= design.least_variance() * (1 - 1e-9)
    for table, sign in product(closure(wanted), (1, -1)):
        moved = {c: weights.get(c, 0.0) for c in closure(wanted)}
        moved[table] = max(1e-9, moved[table] + sign * 0.02)
        total = sum(moved.values())
        moved = {c: own / total for c, own in moved.items()}
        assert design.variance(moved) >= best * (1 - 1e-3)


def test_one_table_is_measured_alone():
    assert Design((5, 7), {(0, 1): 2.0}).weights() == {(0, 1): 1.0}


def test_subsets_of_subsets_are_listed_once():
    assert closure([(0, 1), (1,)]) == subsets((0, 1))
