"""Quantiles of |N - r D|, where N and D are weighted sums of integer noises, for every ratio r.

The noise of N - r D depends on r, and it is discrete. Where r is a simple fraction and the
noises are few steps wide, a few values carry most of the probability, and a smooth quantile may
lie just below one of them: such margins cover 89 % instead of 95 %. So the distribution is
computed from the integers' own probabilities, for many angles. With A the part of N that does
not correlate with D, and both scaled to variance 1, N - r D is a multiple of
cos(angle) A - sin(angle) D, and every r has one angle.

At each angle the values are put into narrow cells, the noises are convolved, and the quantile
is read. It is rounded up: by half a cell for each noise, and by what the quantile may move
between two angles (a weighted quantile is continuous in its values).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.noise.additive import Noise, least_margin
from deniable.mechanisms.noise.gaussian import GaussianNoise
from deniable.mechanisms.noise.thresholding import TruncatedNoise

Floats: TypeAlias = NDArray[np.float64]
Weights: TypeAlias = tuple[tuple[float, float], ...]  # of A and of D, for each noise

ANGLES = 257  # from -pi / 2 to pi / 2
_CELLS = 4096
_TOGETHER = 16  # neighbouring angles that are computed together
_REST = 1000  # a thousandth of 1 - confidence may lie outside the cells
_ACROSS = 3.0  # standard deviations: how far most values move for each radian


@dataclass(frozen=True, slots=True)
class QuantileTable:
    """The quantiles of cos(angle) A - sin(angle) D by angle. A and D have variance 1; `weights`
    are those of each noise in A and in D. Angles are computed when they are asked for.

    >>> from deniable.mechanisms import Laplace
    >>> from deniable.query.margins.noise_quantiles import moments
    >>> noise = Laplace(epsilon=2).noise()  # 1 step at 95 %
    >>> deviation = moments(noise)[0] ** 0.5
    >>> table = QuantileTable(((0.0, 1 / deviation),), (noise,), Fraction(19, 20))
    >>> round(float(table.quantiles()[0] * deviation), 1)
    1.0
    """

    weights: Weights
    noises: tuple[Noise, ...]
    confidence: Fraction

    def bound(self) -> float:
        """A bound on the quantiles of all angles that takes no time."""
        lines = _lines(self.weights, angle_grid())
        return float(_reach(lines, self.noises, 1 - self.confidence).max())

    def largest(self, low: Floats, high: Floats) -> Floats:
        """The largest quantile between two angles."""
        first = np.clip(np.floor(_place(low)), 0, ANGLES - 1).astype(np.intp)
        last = np.clip(np.ceil(_place(high)), 0, ANGLES - 1).astype(np.intp)
        last = np.maximum(first, last)
        if not first.size:
            return np.zeros(first.shape)
        parts = (ANGLES - 1) // _TOGETHER
        start = min(int(first.min()) // _TOGETHER, parts - 1)
        maxima = _maxima(self, start, max(-(-int(last.max()) // _TOGETHER), start + 1))
        level = np.log2(last - first + 1.0).astype(np.intp)
        second = last + 1 - (1 << level)
        return np.asarray(np.maximum(maxima[level, first], maxima[level, second]))

    def quantiles(self) -> Floats:
        """The quantile at every angle."""
        return np.asarray(_maxima(self, 0, (ANGLES - 1) // _TOGETHER)[0])


def angle_grid() -> Floats:
    """The angles of a table.

    >>> angle_grid().size
    257
    """
    return np.linspace(-np.pi / 2, np.pi / 2, ANGLES)


def _place(angle: Floats) -> Floats:
    return np.asarray((np.nan_to_num(angle) / np.pi + 0.5) * (ANGLES - 1))


@lru_cache(maxsize=256)
def _maxima(table: QuantileTable, first: int, last: int) -> Floats:
    """At [k, i] the largest of 2**k quantiles from the i-th on; only some angles are known."""
    row = np.zeros(ANGLES)
    for part in range(first, last):
        start = part * _TOGETHER
        row[start : start + _TOGETHER + 1] = _quantiles(table, part)
    rows, by = [row], 1
    while 2 * by <= ANGLES:
        row = rows[-1].copy()
        row[:-by] = np.maximum(rows[-1][:-by], rows[-1][by:])
        rows.append(row)
        by *= 2
    return np.stack(rows)


@lru_cache(maxsize=4096)
def _quantiles(table: QuantileTable, part: int) -> Floats:
    """The quantiles at a few neighbouring angles."""
    noises, confidence = table.noises, table.confidence
    angles = angle_grid()[part * _TOGETHER :][: _TOGETHER + 1]
    lines = _lines(table.weights, angles)
    left = (1 - confidence) / _REST
    cell = 2 * _reach(lines, noises, left) / (_CELLS - 2 * len(noises) - 2)
    product: Any = 1.0
    for line, noise in zip(lines, noises, strict=True):
        product = product * np.fft.rfft(_in_cells(line, noise, cell[:, None]), axis=1)
    total = np.fft.irfft(product, _CELLS, axis=1)
    folded = total[:, : _CELLS // 2].copy()
    folded[:, 1:] += total[:, : _CELLS // 2 : -1]
    inside = np.cumsum(folded, axis=1) >= float(confidence + left) - 1e-12
    places = np.where(inside.any(axis=1), inside.argmax(axis=1), _CELLS // 2)
    between = _ACROSS * np.pi / (ANGLES - 1) / 2
    return np.asarray((places + len(noises) / 2) * cell + between)


def _lines(weights: Weights, angles: Floats) -> list[Floats]:
    """The size of each noise's weight at these angles."""
    return [np.abs(np.cos(angles) * a - np.sin(angles) * d) for a, d in weights]


def _reach(lines: Sequence[Floats], noises: tuple[Noise, ...], left: Fraction) -> Floats:
    """What is exceeded with probability `left` at most: by Chebyshev's inequality, or by the
    margins of all noises added up."""
    box = sum(
        line * max(1, least_margin(noise, 1 - left / len(noises)))
        for line, noise in zip(lines, noises, strict=True)
    )
    return np.asarray(np.minimum(np.asarray(box), float(left) ** -0.5))


def _in_cells(line: Floats, noise: Noise, cell: Floats) -> Floats:
    """The probabilities of the cells around 0, 1, 2, ... and then ..., -2, -1."""
    half = _CELLS // 2
    edges = (np.arange(-half, half + 1) - 0.5) * cell
    with np.errstate(all="ignore"):
        below = cumulative(noise, np.floor(edges / line[:, None] + 1e-9))
    below[:, 0], below[:, -1] = 0.0, 1.0
    silent = line == 0
    below[silent] = edges[silent] > 0
    return np.asarray(np.roll(np.diff(below, axis=1), -half, axis=1))


def cumulative(noise: Noise, z: Floats) -> Floats:
    """P(Z <= z) for whole numbers z.

    >>> from deniable.mechanisms import Laplace
    >>> cumulative(Laplace(odds=3).noise(), np.array([-1.0, 0.0])).round(6).tolist()
    [0.25, 0.75]
    """
    if isinstance(noise, GaussianNoise):
        from scipy.special import ndtr

        return np.asarray(ndtr((z + 0.5) / float(noise.variance) ** 0.5))
    rate = float(1 / noise.scale)  # type: ignore[attr-defined]
    a = np.exp(-rate)
    cut = 0.0
    if isinstance(noise, TruncatedNoise):
        cut = float(np.exp(-rate * (noise.bound + 1)))
    norm = 1 + a - 2 * cut
    far = np.where(z < 0, -z, z + 1)
    tail = np.maximum(np.exp(-rate * far) - cut, 0.0) / norm
    return np.asarray(np.where(z < 0, tail, 1 - tail))
