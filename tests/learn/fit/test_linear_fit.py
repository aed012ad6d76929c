"""Coefficients from noisy moments: their intervals hold, and a plug-in's do not."""

from math import inf, isfinite, sqrt

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.learn.fit.linear_fit import LinearFit, default_penalty
from deniable.learn.fit.noisy_moments import NoisyMoments

ROWS = 1_000


def make_rows(chance, features, *, alike=False):
    """An intercept, features in [-1, 1] and a clipped target."""
    rows = chance.uniform(-1, 1, size=(ROWS, features + 1))
    rows[:, 0] = 1.0
    if alike:
        rows[:, 2] = rows[:, 1] + 0.05 * rows[:, 2]
    slope = chance.normal(size=features + 1) / 2
    target = np.clip(rows @ slope + 0.3 * chance.normal(size=ROWS), -1, 1)
    return np.column_stack([rows, target])


def add_noise(chance, matrix, deviation):
    noise = np.triu(chance.normal(size=matrix.shape), 1) * deviation / sqrt(2)
    noise += noise.T + np.diag(chance.normal(size=len(matrix))) * deviation
    return NoisyMoments(matrix + noise, deviation)


def penalties(matrix, deviation):
    least = default_penalty(NoisyMoments(matrix, deviation))
    return (0.0, *[least] * (len(matrix) - 2))


def solve(matrix, own):
    return np.linalg.solve(matrix[:-1, :-1] + np.diag(own), matrix[:-1, -1])


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("deviation", [3.0, 30.0, 300.0])
def test_each_interval_covers(size, deviation, alike):
    count = size(small=200, full=5_000, what=f"ridge fits at deviation {deviation}")
    chance = np.random.default_rng(int(deviation))
    rows = make_rows(chance, 4, alike=alike)
    matrix = rows.T @ rows
    own = penalties(matrix, deviation)
    target = solve(matrix, own)
    covered, together = np.zeros(5), 0
    for _ in range(count):
        fit = LinearFit(add_noise(chance, matrix, deviation), own)
        low, high = np.array(fit.intervals()).T
        covered += (low <= target) & (target <= high)
        low, high = np.array(fit.intervals_together()).T
        together += bool(((low <= target) & (target <= high)).all())
    least = 0.95 - 4 * sqrt(0.95 * 0.05 / count)
    print(f"covered {covered / count}, all at once {together / count}; at least {least:.4f}")
    assert (covered / count >= least).all()
    assert together / count >= least


def test_half_the_noise_would_not_cover():
    """Power: with the deviation of other noise the same intervals miss."""
    chance = np.random.default_rng(8)
    rows = make_rows(chance, 4)
    matrix = rows.T @ rows
    own = penalties(matrix, 30.0)
    target, covered = solve(matrix, own), np.zeros(5)
    for _ in range(300):
        noisy = add_noise(chance, matrix, 30.0)
        low, high = np.array(LinearFit(NoisyMoments(noisy.matrix, 15.0), own).intervals()).T
        covered += (low <= target) & (target <= high)
    assert covered.max() / 300 < 0.85


def test_intervals_are_not_much_wider_than_a_plug_in():
    chance = np.random.default_rng(4)
    rows = make_rows(chance, 4)
    matrix = rows.T @ rows
    fit = LinearFit(add_noise(chance, matrix, 10.0), penalties(matrix, 10.0))
    own, square = fit.coefficients, float(fit.coefficients @ fit.coefficients)
    inverse = np.linalg.inv(fit.moments.matrix[:-1, :-1] + np.diag(fit.penalties))
    spread = 50 * ((1 + square) * np.eye(5) + np.outer(own, own))
    plug_in = 1.96 * np.sqrt(np.diag(inverse @ spread @ inverse.T))
    halves = [(high - low) / 2 for low, high in fit.intervals()]
    assert (np.array(halves) / plug_in < 1.6).all()


def test_without_a_penalty_noise_as_large_as_the_data_gives_no_limits():
    noisy = NoisyMoments(np.diag([5.0, 4.0, 3.0]), deviation=100.0)
    assert LinearFit(noisy, (0.0, 0.0)).intervals() == [(-inf, inf)] * 2


def test_a_penalty_always_gives_limits_on_what_it_penalizes():
    noisy = NoisyMoments(np.diag([500.0, 4.0, 3.0]), deviation=20.0)
    low, high = LinearFit(noisy, (0.0, 30.0)).intervals()[1]
    assert isfinite(low)
    assert isfinite(high)


def test_a_direction_is_a_sum_of_coefficients():
    chance = np.random.default_rng(3)
    rows = make_rows(chance, 2)
    matrix = rows.T @ rows
    fit = LinearFit(add_noise(chance, matrix, 3.0), penalties(matrix, 3.0))
    assert fit.interval_along([0.0, 1.0, 0.0]) == fit.interval(1)
    low, high = fit.interval_along([0.0, 1.0, -1.0])
    assert low <= fit.coefficients[1] - fit.coefficients[2] <= high


def test_no_noise_gives_the_exact_solution():
    chance = np.random.default_rng(9)
    rows = make_rows(chance, 3)
    matrix = rows.T @ rows
    fit = LinearFit(NoisyMoments(matrix, 0.0), (0.0,) * 4)
    assert np.allclose(fit.coefficients, solve(matrix, (0.0,) * 4))
    assert np.allclose(np.array(fit.intervals()).T, fit.coefficients, atol=1e-4)


def test_penalties_are_checked():
    with pytest.raises(InvalidParameter, match="for each coefficient"):
        LinearFit(NoisyMoments(np.eye(3), 1.0), (0.0,))
