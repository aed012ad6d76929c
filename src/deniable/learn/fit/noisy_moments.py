"""A noisy matrix of second moments: the sum of z z' over all rows.

With z z' written as a vector, and entries off the diagonal weighted by sqrt 2, its length is
exactly |z|². So Gaussian noise of standard deviation s on the diagonal and s / sqrt 2 off it
costs mu = K² / s where |z| <= K: adding or removing one row moves the vector by at most K², and
replacing a row by at most sqrt 2 K², because |x x' - z z'|² = |x|^4 + |z|^4 - 2 (x.z)² for the
Frobenius norm. Noise of one size on the upper triangle would need more for the same price.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NoisyMoments:
    """A symmetric matrix, with the standard deviation of the noise on its diagonal.

    Off the diagonal the noise is smaller by sqrt 2. Both are in the matrix's own units. The
    two sides of the diagonal are averaged.

    >>> moments = NoisyMoments(np.array([[4.0, 1.0], [1.0, 2.0]]), deviation=0.5)
    >>> moments.size, moments.divided_by(2.0).deviation
    (2, 0.25)
    """

    matrix: Matrix
    deviation: float

    def __post_init__(self) -> None:
        side = np.asarray(self.matrix, dtype=np.float64)
        if side.ndim != 2 or side.shape[0] != side.shape[1] or not side.size:
            raise InvalidParameter(f"`matrix` must be square. Found the shape {side.shape}.")
        if not (self.deviation >= 0 and np.isfinite(self.deviation)):
            raise InvalidParameter(
                f"`deviation` must be zero or more, and finite. Found {self.deviation}."
            )
        object.__setattr__(self, "matrix", (side + side.T) / 2)

    @classmethod
    def from_triangle(
        cls, entries: Sequence[float], size: int, deviation: float
    ) -> "NoisyMoments":
        """From the entries (0, 0), (0, 1), ..., (1, 1), ...: each pair once.

        >>> NoisyMoments.from_triangle([4, 1, 2], 2, 0.5).matrix.tolist()
        [[4.0, 1.0], [1.0, 2.0]]
        """
        matrix = np.zeros((size, size))
        matrix[np.triu_indices(size)] = np.asarray(entries, dtype=np.float64)
        return cls(matrix + np.triu(matrix, 1).T, deviation)

    @property
    def size(self) -> int:
        """The number of rows of the matrix."""
        return int(self.matrix.shape[0])

    def divided_by(self, factor: float) -> "NoisyMoments":
        """The same moments in other units."""
        return NoisyMoments(self.matrix / factor, self.deviation / factor)

    def entry_deviation(self, row: int, column: int) -> float:
        """The standard deviation of the noise on one entry."""
        return self.deviation if row == column else self.deviation / sqrt(2)


def clip_eigenvalues(matrix: Matrix, least: float = 0.0) -> Matrix:
    """The nearest symmetric matrix whose eigenvalues are all at least `least`.

    >>> clip_eigenvalues(np.array([[1.0, 2.0], [2.0, 1.0]])).round(6).tolist()
    [[1.5, 1.5], [1.5, 1.5]]
    """
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, least)) @ vectors.T)
