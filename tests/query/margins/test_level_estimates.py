"""Least squares between levels, against the normal equations solved by numpy."""

from itertools import product

import numpy as np
import pytest

from deniable.query.margins.level_estimates import (
    estimate_variances,
    gain_of_levels,
    least_squares,
)

DRAW = np.random.default_rng(7)


def design(sizes, level):
    """Which finest groups each group of a level is the sum of."""
    cells = list(product(*map(range, sizes)))
    groups = list(product(*(range(sizes[place]) for place in level)))
    return np.array(
        [[float(tuple(c[p] for p in level) == group) for c in cells] for group in groups]
    )


CASES = [
    ([4], [(), (0,)]),
    ([3, 2], [(), (0,), (0, 1)]),
    ([3, 4], [(0,), (1,)]),
    ([2, 3, 2], [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]),
    ([3, 1, 2], [(1,), (0, 2)]),
]


@pytest.mark.parametrize(("sizes", "levels"), CASES)
def test_they_solve_the_normal_equations(sizes, levels):
    variances = DRAW.uniform(0.5, 9, len(levels)).tolist()
    designs = [design(sizes, level) for level in levels]
    measured = [DRAW.normal(size=(3, len(d))) * 10 for d in designs]
    estimates = least_squares(sizes, levels, variances, measured)
    stacked = np.concatenate([d / v**0.5 for d, v in zip(designs, variances, strict=True)])
    right = np.concatenate(
        [m / v**0.5 for m, v in zip(measured, variances, strict=True)], axis=1
    )
    expected = (np.linalg.pinv(stacked) @ right.T).T
    assert np.allclose(estimates, expected)


@pytest.mark.parametrize(("sizes", "levels"), CASES)
def test_the_variances_are_those_of_the_estimates(sizes, levels):
    variances = DRAW.uniform(0.5, 9, len(levels)).tolist()
    designs = [design(sizes, level) for level in levels]
    whole = sum(d.T @ d / v for d, v in zip(designs, variances, strict=True))
    covariance = np.linalg.pinv(whole)
    expected = [(d @ covariance @ d.T).diagonal() for d in designs]
    estimates = estimate_variances(sizes, levels, variances)
    for variance, rows in zip(estimates, expected, strict=True):
        assert np.allclose(rows, variance)


def test_exact_measurements_are_kept():
    true = DRAW.normal(size=12)
    levels = [(), (1,), (0, 1)]
    measured = [(design([3, 4], level) @ true)[np.newaxis] for level in levels]
    assert np.allclose(least_squares([3, 4], levels, [1.0, 2.0, 3.0], measured), true)


@pytest.mark.parametrize(("size", "better"), [(3, False), (8, False), (40, True), (900, True)])
def test_a_total_of_many_groups_is_better_measured_itself(size, better):
    split = 4 * 2.0  # half of epsilon: four times the variance
    assert (gain_of_levels([size], [(), (0,)], [split, split], 2.0) > 1) == better
