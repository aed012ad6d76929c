"""Ridge and linear regression from noisy moments, with intervals that hold.

The target is the ridge solution b of the clipped table, at the same penalty L:
(A + L) b = c, with A the moments of the features and c those of features and target. We see
A + E and c + e. At the right b the vector (A + E + L) b - (c + e) = E b - e is Gaussian, with
covariance s²/2 ((1 + |b|²) I + b b') at most s²/2 (1 + 2 |b|²). So all b with

    |(A + E + L) b - (c + e)|² <= q s²/2 (1 + 2 |b|²)

form a region that contains the target: with q the quantile of chi-squared with p degrees of
freedom, the whole of it, with the promised probability. The region is a quadric, so its shadow
on any direction has a closed form. For one direction at a time the quantile with one degree of
freedom is taken. That is the test in which the other coefficients are minimized over (the
subset Anderson-Rubin test: Guggenberger, Kleibergen, Mavroeidis & Chen 2012). They prove it for
noise without symmetry; for ours it is checked by simulation.

Where noise is as large as the data, the region is unbounded. But the ridge solution also has
l |b|² <= y'y over the penalized coefficients (the objective at 0). Both regions together lie in
every quadric q(b) + t (|b|² - R²) <= 0, t >= 0; the least shadow over several t is taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, norm

from deniable.errors import InvalidParameter
from deniable.learn.fit.noisy_moments import Matrix, NoisyMoments, clip_eigenvalues

Vector = NDArray[np.float64]
_FOR_LENGTH = 0.02  # of the chance to miss, for the bound on the length of b
_TRIES = np.geomspace(1e-3, 1e4, 15)  # values of t, in units of q s²


def default_penalty(moments: NoisyMoments) -> float:
    """About the length of the noise matrix: below it, eigenvalues are noise.

    >>> default_penalty(NoisyMoments(np.eye(5), deviation=3.0))
    6.0
    """
    return moments.deviation * sqrt(max(moments.size - 1, 1))


@dataclass(frozen=True)
class LinearFit:
    """The coefficients of a target (the last row of the moments) on all other rows.

    `penalties` has one number for each coefficient: 0 for an intercept. Eigenvalues of the
    features' moments below `least` are raised to it; the intervals do not depend on that.

    >>> rows = np.array([[1.0, 0.5, 0.7], [1.0, -0.5, 0.1]] * 500)
    >>> fit = LinearFit(NoisyMoments(rows.T @ rows, deviation=5.0), (0.0, 0.0))
    >>> fit.coefficients.round(6).tolist()
    [0.4, 0.6]
    >>> low, high = fit.interval(1)
    >>> low < 0.6 < high
    True
    """

    moments: NoisyMoments
    penalties: tuple[float, ...]
    least: float = 0.0

    def __post_init__(self) -> None:
        if len(self.penalties) != self.moments.size - 1 or min(self.penalties) < 0:
            raise InvalidParameter(
                "`penalties` needs a number of at least 0 for each coefficient. Found "
                f"{len(self.penalties)} for {self.moments.size - 1}."
            )

    @cached_property
    def coefficients(self) -> Vector:
        """The solution after small eigenvalues of the features' moments were raised."""
        raised = clip_eigenvalues(self.moments.matrix[:-1, :-1], self.least)
        clipped = raised + np.diag(self.penalties)
        return np.asarray(np.linalg.lstsq(clipped, self.moments.matrix[:-1, -1])[0])

    def interval(self, place: int, confidence: float = 0.95) -> tuple[float, float]:
        """Where one coefficient of the clipped table's own ridge lies."""
        return self.intervals(confidence)[place]

    def intervals(self, confidence: float = 0.95) -> list[tuple[float, float]]:
        """Where each coefficient lies. Each interval holds by itself; it may be unbounded."""
        return self._shadows(np.eye(len(self.penalties)), confidence, 1)

    def intervals_together(self, confidence: float = 0.95) -> list[tuple[float, float]]:
        """Intervals that hold for all coefficients at once. This is proven, and wider."""
        count = len(self.penalties)
        return self._shadows(np.eye(count), confidence, count)

    def interval_along(
        self, direction: Sequence[float] | Vector, confidence: float = 0.95
    ) -> tuple[float, float]:
        """Where a sum of coefficients lies, each times its entry in `direction`."""
        rows = np.asarray(direction, dtype=np.float64)[None, :]
        return self._shadows(rows, confidence, 1)[0]

    def _shadows(
        self, directions: Matrix, confidence: float, freedom: int
    ) -> list[tuple[float, float]]:
        """The shadow of the region on each direction, wide enough for our own coefficients."""
        miss = (1 - confidence) * _FOR_LENGTH
        quantile = float(chi2.ppf(confidence + miss, freedom))
        length = self._length_squared(miss)
        low = np.full(len(directions), -inf)
        high = -low
        for quadric in self._quadrics(quantile, length):
            middle, half = quadric.shadow(directions)
            low, high = np.maximum(low, middle - half), np.minimum(high, middle + half)
        if length < inf:
            free = np.asarray(self.penalties) == 0
            reach = np.sqrt(length * (directions**2).sum(axis=1))
            reach = np.where(directions[:, free].any(axis=1), inf, reach)
            low, high = np.maximum(low, -reach), np.minimum(high, reach)
        ours = directions @ self.coefficients
        low, high = np.minimum(low, ours), np.maximum(high, ours)
        return list(zip(low.tolist(), high.tolist(), strict=True))

    def _length_squared(self, miss: float) -> float:
        """A bound on the sum of squares of penalized coefficients, right with 1 - `miss`."""
        penalized = [penalty for penalty in self.penalties if penalty > 0]
        if not penalized:
            return inf
        above = float(norm.isf(miss)) * self.moments.deviation
        return max(float(self.moments.matrix[-1, -1]) + above, 0.0) / min(penalized)

    def _quadrics(self, quantile: float, length: float) -> "list[_Quadric]":
        matrix, noise = self.moments.matrix, quantile * self.moments.deviation**2
        system = matrix[:-1, :-1] + np.diag(self.penalties)
        moments = matrix[:-1, -1]
        square = system @ system - noise * np.eye(system.shape[0])
        linear, constant = system @ moments, float(moments @ moments) - noise / 2
        bounded = np.diag(np.asarray(self.penalties) > 0).astype(np.float64)
        tries = [0.0, *(_TRIES * noise)] if length < inf else [0.0]
        quadrics = [
            _Quadric.read(square + t * bounded, linear, constant - (t * length if t else 0.0))
            for t in tries
        ]
        return [quadric for quadric in quadrics if quadric is not None]


@dataclass(frozen=True, slots=True)
class _Quadric:
    """All b with b'Q b - 2 g'b + k <= 0, Q positive definite: an ellipsoid."""

    middle: Vector
    radius_squared: float
    inverse: Matrix

    @classmethod
    def read(cls, square: Matrix, linear: Vector, constant: float) -> "_Quadric | None":
        """None if it is unbounded."""
        values, vectors = np.linalg.eigh(square)
        if values[0] <= 1e-12 * max(1.0, float(values[-1])):
            return None
        inverse = np.asarray((vectors / values) @ vectors.T)
        middle = inverse @ linear
        return cls(middle, max(float(linear @ middle) - constant, 0.0), inverse)

    def shadow(self, directions: Matrix) -> tuple[Vector, Vector]:
        """The middle of its shadow on each direction, and half of its length."""
        spread = ((directions @ self.inverse) * directions).sum(axis=1)
        half = np.sqrt(self.radius_squared * np.maximum(spread, 0.0))
        return np.asarray(directions @ self.middle), np.asarray(half)
