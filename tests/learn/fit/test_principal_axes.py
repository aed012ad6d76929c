"""Principal axes: those of the rows without noise, and near them with it."""

from math import sqrt

import numpy as np
import pytest

from deniable.learn.fit.noisy_moments import NoisyMoments
from deniable.learn.fit.principal_axes import PrincipalAxes, eigenvalue_margin


def moments_of(rows):
    full = np.column_stack([np.ones(len(rows)), rows])
    return full.T @ full


def test_without_noise_they_are_the_eigenvectors_of_the_covariance():
    chance = np.random.default_rng(1)
    rows = chance.normal(size=(400, 3)) @ np.array([[2, 0, 0], [1, 1, 0], [0, 0, 0.1]])
    principal = PrincipalAxes.fit(NoisyMoments(moments_of(rows), 0.0), 2)
    values, vectors = np.linalg.eigh(np.cov(rows.T, bias=True))
    assert np.allclose(principal.variances, values[::-1][:2])
    assert np.allclose(np.abs(principal.axes @ vectors[:, ::-1][:, :2]), np.eye(2), atol=1e-8)
    assert principal.shares.sum() == pytest.approx(values[1:].sum() / values.sum())
    assert np.allclose(principal.mean, rows.mean(axis=0))


def test_scales_change_the_units():
    rows = np.random.default_rng(2).normal(size=(200, 2))
    wide = PrincipalAxes.fit(NoisyMoments(moments_of(rows), 0.0), 2, scales=(10.0, 1.0))
    direct = PrincipalAxes.fit(NoisyMoments(moments_of(rows * [10, 1]), 0.0), 2)
    assert np.allclose(wide.variances, direct.variances)
    assert np.allclose(wide.axes, direct.axes)


def test_the_margin_of_eigenvalues_holds(size):
    draws = size(small=200, full=5_000, what="noise matrices")
    chance, misses = np.random.default_rng(3), 0
    limit = eigenvalue_margin(NoisyMoments(np.eye(6), 2.0))
    for _ in range(draws):
        noise = np.triu(chance.normal(size=(6, 6)), 1) * sqrt(2)
        noise += noise.T + np.diag(chance.normal(size=6)) * 2
        misses += np.abs(np.linalg.eigvalsh(noise)).max() > limit
    assert misses / draws <= 0.05
    assert limit < 4 * np.abs(np.linalg.eigvalsh(noise)).max()


def test_an_empty_table_has_axes_too():
    principal = PrincipalAxes.fit(NoisyMoments(-np.eye(3), 5.0), 2)
    assert np.isfinite(principal.axes).all()
    assert principal.variances.tolist() == [0.0, 0.0]
    assert np.isfinite(principal.shares).all()
