"""Moments: units, triangles, and the length of z z' that the noise rests on."""

from itertools import product
from math import isclose, sqrt

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.learn.fit.noisy_moments import NoisyMoments, clip_eigenvalues


def weighted(z):
    """z z' as a vector: the diagonal, and the rest times sqrt 2."""
    outer = np.outer(z, z)
    above = outer[np.triu_indices(len(z), 1)]
    return np.concatenate([np.diag(outer), sqrt(2) * above])


def test_length_of_the_weighted_vector_and_of_differences():
    grid = [np.array(z) for z in product((-2, -1, 0, 1, 2), repeat=3)]
    largest = max(float(z @ z) for z in grid)
    added = max(np.linalg.norm(weighted(z)) for z in grid)
    replaced = max(np.linalg.norm(weighted(x) - weighted(z)) for x in grid for z in grid)
    assert isclose(added, largest)
    # Only orthogonal vectors of full length reach sqrt 2, and here no two of them exist.
    assert largest < replaced <= sqrt(2) * largest
    pair = weighted(np.array([3, 4])) - weighted(np.array([4, -3]))
    assert isclose(np.linalg.norm(pair), sqrt(2) * 25)


def test_triangles_are_read_row_by_row():
    moments = NoisyMoments.from_triangle([1, 2, 3, 4, 5, 6], 3, 1.0)
    assert moments.matrix.tolist() == [[1, 2, 3], [2, 4, 5], [3, 5, 6]]
    assert moments.entry_deviation(0, 0) == 1.0
    assert isclose(moments.entry_deviation(0, 1) ** 2, 0.5)


def test_clipping_changes_only_negative_eigenvalues():
    chance = np.random.default_rng(5)
    half = chance.normal(size=(4, 4))
    matrix = half + half.T
    clipped = clip_eigenvalues(matrix)
    before, after = np.linalg.eigvalsh(matrix), np.linalg.eigvalsh(clipped)
    assert np.allclose(after, np.maximum(before, 0), atol=1e-9)


@pytest.mark.parametrize(
    ("matrix", "deviation"),
    [(np.zeros((2, 3)), 1.0), (np.zeros((0, 0)), 1.0), (np.eye(2), -1.0), (np.eye(2), np.nan)],
)
def test_bad_moments_are_refused(matrix, deviation):
    with pytest.raises(InvalidParameter):
        NoisyMoments(matrix, deviation)
