"""Principal components from noisy moments of (1, x).

Eigenvectors of a noisy matrix are post-processing (Dwork, Talwar, Thakurta & Zhang, "Analyze
Gauss", 2014). The first row of the moments holds the number of rows and the sums, so that the
covariance is centred by the private mean. By Weyl's inequality an eigenvalue is off by at most
the length of the noise matrix; `eigenvalue_margin` bounds that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from deniable.learn.fit.linear_fit import Vector
from deniable.learn.fit.noisy_moments import Matrix, NoisyMoments, clip_eigenvalues


@dataclass(frozen=True, slots=True)
class PrincipalAxes:
    """The mean, the axes (rows, the longest first) and the variance along each.

    >>> rows = np.array([[1.0, 3.0, 0.0], [1.0, -1.0, 0.0]] * 50)
    >>> axes = PrincipalAxes.fit(NoisyMoments(rows.T @ rows, deviation=0.0), count=1)
    >>> axes.mean.tolist(), axes.axes.tolist(), axes.variances.tolist()
    ([1.0, 0.0], [[1.0, 0.0]], [4.0])
    """

    mean: Vector
    axes: Matrix
    variances: Vector
    total_variance: float
    rows: float

    @classmethod
    def fit(
        cls, moments: NoisyMoments, count: int, scales: Sequence[float] | None = None
    ) -> "PrincipalAxes":
        """The first `count` axes. Features are multiplied by `scales` before that."""
        rows = max(float(moments.matrix[0, 0]), 1.0)
        mean = moments.matrix[0, 1:] / rows
        spread = moments.matrix[1:, 1:] / rows - np.outer(mean, mean)
        scale = np.ones(mean.size) if scales is None else np.asarray(scales, dtype=np.float64)
        positive = clip_eigenvalues(spread * np.outer(scale, scale))
        values, vectors = np.linalg.eigh(positive)
        order = np.argsort(values)[::-1][:count]
        axes = vectors[:, order].T
        signs = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])
        return cls(
            mean * scale,
            np.asarray(axes * np.where(signs == 0, 1.0, signs)[:, None]),
            np.maximum(values[order], 0.0),
            float(np.maximum(values, 0.0).sum()),
            rows,
        )

    @property
    def shares(self) -> Vector:
        """The share of the variance along each axis."""
        return np.asarray(self.variances / max(self.total_variance, 1e-300))


def eigenvalue_margin(moments: NoisyMoments, confidence: float = 0.95) -> float:
    """How far any eigenvalue of the whole noisy matrix may be from the exact one's.

    The largest eigenvalue of the noise is s sqrt(2 p) at most in expectation (a Gaussian
    orthogonal matrix: Davidson & Szarek 2001), and moves by at most s for each unit by which
    the underlying normal variables move. So it is above that by t s with probability at most
    exp(-t²/2), and the same holds for the least eigenvalue.

    >>> round(eigenvalue_margin(NoisyMoments(np.eye(8), deviation=1.0)), 3)
    6.716
    """
    above = sqrt(2 * log(2 / (1 - confidence)))
    return moments.deviation * (sqrt(2 * moments.size) + above)
