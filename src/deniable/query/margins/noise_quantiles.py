"""Quantiles of |sum of w Z|: how far a weighted sum of independent noises may be from 0.

One noise: its own exact margin. A fixed sum of several: the distributions are convolved on a
lattice. This is exact where the noises are few steps wide; else cells are used that are much
narrower than the spread. Sums whose weights differ from group to group (an average, whose
weights depend on its own value) use a table. At equal variance the quantile depends almost only
on the fourth cumulant. The table follows it from a single Laplace noise through two unequal
ones, for which the tail has a closed form, then more and more equal ones, to the normal
distribution. Margins are post-processing, so floats are good enough; the tests hold the table
to about one per cent (four at the median).
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.noise.additive import Noise, least_margin
from deniable.mechanisms.noise.gaussian import GaussianNoise
from deniable.mechanisms.noise.laplace import LaplaceNoise
from deniable.mechanisms.noise.thresholding import TruncatedNoise

Floats: TypeAlias = NDArray[np.float64]

_LAPLACE_SCALES = 45  # beyond this many scales lies exp(-45) of a Laplace distribution
_LONGEST_LATTICE = 1 << 15  # the longest exact lattice
_TABLE_SIZE = 2049
_MOST_RATE = Fraction(200)  # of a Laplace noise; its variance is then 1e-86, and must not be 0
_SILENT = Fraction(1, 1 << 43)  # a noise that is not 0 with less than this chance is left out
_BITS = 128  # of enclosures
# How much of a step of the lattice is added to a smooth quantile. The quantile of a sum of
# discrete noises is at most about half a step above that of a smooth one.
LATTICE_STEP = 0.6
_CELLS = 128  # to a standard deviation, where cells approximate a continuous distribution


def moments(noise: Noise) -> tuple[float, float]:
    """The variance and the fourth cumulant of a noise, in steps; both are positive for Laplace
    noise, however small its scale.

    >>> variance, fourth = moments(LaplaceNoise(Fraction(1000)))
    >>> round(variance / 2e6, 3), round(fourth / 12e12, 3)
    (1.0, 1.0)
    """
    if isinstance(noise, GaussianNoise):
        return float(noise.variance) + 1 / 12, 0.0
    assert isinstance(noise, LaplaceNoise | TruncatedNoise)
    rate = float(min(1 / noise.scale, _MOST_RATE))
    a, rest = math.exp(-rate), -math.expm1(-rate)
    return 2 * a / rest**2, 2 * a * (rest**2 + 6 * a) / rest**4


def fixed_margin(
    weights: Mapping[str, Fraction], noises: Mapping[str, Noise], confidence: Fraction
) -> float:
    """The least m (to a thousandth) with P(|sum of w Z| <= m) >= confidence.

    >>> noises = {"a": LaplaceNoise(Fraction(10)), "b": LaplaceNoise(Fraction(10))}
    >>> fixed_margin({"a": Fraction(1)}, noises, Fraction(19, 20))
    30.0
    >>> fixed_margin({"a": Fraction(1), "b": Fraction(-1)}, noises, Fraction(19, 20))
    41.0
    """
    parts = tuple((abs(w), noises[name]) for name, w in sorted(weights.items()) if w)
    return _cached_margin(parts, confidence)


@lru_cache(maxsize=4096)
def is_silent(noises: tuple[Noise, ...], chance: Fraction) -> bool:
    """Whether all these noises are 0, except with at most this probability.

    >>> quiet, loud = LaplaceNoise(Fraction(1, 100)), LaplaceNoise(Fraction(10))
    >>> is_silent((quiet, quiet), Fraction(1, 20)), is_silent((quiet, loud), Fraction(1, 20))
    (True, False)
    """
    most = chance * (1 << _BITS)
    return sum(noise.outside(0, _BITS)[1] for noise in noises) <= most


@lru_cache(maxsize=4096)
def _cached_margin(parts: tuple[tuple[Fraction, Noise], ...], confidence: Fraction) -> float:
    if len(parts) > 1:
        parts = tuple(part for part in parts if not is_silent((part[1],), _SILENT))
    if not parts:
        return 0.0
    if len(parts) == 1:
        weight, noise = parts[0]
        return float(weight * least_margin(noise, confidence))
    unit = _common_unit([weight for weight, _ in parts])
    width = sum(weight / unit * _half_width(noise) for weight, noise in parts)
    level = float(confidence)
    if width < _LONGEST_LATTICE:
        lattices = [_on_lattice(noise, int(weight / unit)) for weight, noise in parts]
        return float(unit) * _read_quantile(_cumulative(lattices), level, exact=True)
    spread = math.sqrt(sum(float(weight) ** 2 * moments(noise)[0] for weight, noise in parts))
    cell = spread / _CELLS
    cells = [_in_cells(noise, float(weight) / cell) for weight, noise in parts]
    return cell * _read_quantile(_cumulative(cells), level, exact=False)


def _common_unit(weights: list[Fraction]) -> Fraction:
    """The largest rational of which all weights are whole multiples."""
    below = math.lcm(*(weight.denominator for weight in weights))
    return Fraction(math.gcd(*(int(weight * below) for weight in weights)), below)


def _scale(noise: Noise) -> float:
    return math.sqrt(noise.variance) if isinstance(noise, GaussianNoise) else float(noise.scale)  # type: ignore[attr-defined]


def _half_width(noise: Noise) -> int:
    """How many steps on either side of 0 hold nearly all of the noise."""
    most = (
        math.ceil(_scale(noise) * (10 if isinstance(noise, GaussianNoise) else _LAPLACE_SCALES))
        + 2
    )
    return min(most, noise.bound) if isinstance(noise, TruncatedNoise) else most


def _on_lattice(noise: Noise, stride: int) -> Floats:
    """Probabilities of stride * Z at -n, ..., n."""
    n = _half_width(noise)
    z = np.arange(-n, n + 1)
    if isinstance(noise, GaussianNoise):
        edge = _normal_cdf(np.append(z - 0.5, n + 0.5) / _scale(noise))
        weights = np.diff(edge)
    else:
        weights = np.exp(-np.abs(z) / _scale(noise))
    spaced = np.zeros(2 * n * stride + 1)
    spaced[::stride] = weights / weights.sum()
    return spaced


def _in_cells(noise: Noise, weight: float) -> Floats:
    """Probabilities of the cells around -n, ..., n, with weight * Z taken as continuous."""
    scale = weight * math.sqrt(moments(noise)[0])
    gaussian = isinstance(noise, GaussianNoise)
    n = math.ceil(scale * (10 if gaussian else 34)) + 2
    edges = np.arange(-n - 0.5, n + 1) / scale
    if gaussian:
        return np.diff(_normal_cdf(edges))
    tail = 0.5 * np.exp(-math.sqrt(2) * np.abs(edges))
    return np.diff(np.where(edges < 0, tail, 1 - tail))


def _cumulative(distributions: list[Floats]) -> Floats:
    """The probability that |sum| is at most 0, 1, 2, ... steps."""
    length = sum(probabilities.size - 1 for probabilities in distributions) + 1
    padded = 1 << (length - 1).bit_length()
    product: Any = 1.0
    for probabilities in distributions:
        product = product * np.fft.rfft(probabilities, padded)
    total = np.fft.irfft(product, padded)[:length]
    middle = length // 2
    folded = total[middle:].copy()
    folded[1:] += total[:middle][::-1]
    return np.cumsum(folded)


def _read_quantile(cumulative: Floats, confidence: float, *, exact: bool) -> float:
    """The quantile of |sum|: a whole number of steps, or interpolated inside a cell."""
    k = int(np.searchsorted(cumulative, confidence - 1e-12))
    if exact:
        return float(k)
    before = cumulative[k - 1] if k else 0.0
    return k - 0.5 + (confidence - float(before)) / float(cumulative[k] - before)


def _normal_cdf(x: Floats) -> Floats:
    from scipy.special import ndtr

    return np.asarray(ndtr(x))


def spread_quantile(variance: Floats, fourth: Floats, confidence: Fraction) -> Floats:
    """The quantile of |S| for sums of Laplace and Gaussian noises with these cumulants.

    >>> single = spread_quantile(np.array([2.0]), np.array([12.0]), Fraction(19, 20))
    >>> round(float(single[0]), 3)  # a Laplace noise of scale 1: ln 20
    2.996
    """
    table = _even_table(confidence)
    with np.errstate(all="ignore"):
        share = np.nan_to_num(fourth / (3 * variance * variance))  # 0 / 0: nothing varies
    at = np.clip(share, 0.0, 1.0) * (table.size - 2)
    below = at.astype(np.intp)
    quantile = table[below] + (at - below) * (table[below + 1] - table[below])
    return np.sqrt(variance) * quantile


def tail_quantiles(kurtosis: Floats, share: Floats, confidence: Fraction) -> Floats:
    """The quantile of S of variance 1 that is exceeded with probability `share` times
    (1 - confidence); `kurtosis` is a third of the fourth cumulant. In tenths, interpolated.

    >>> symmetric = tail_quantiles(np.zeros(1), np.full(1, 0.5), Fraction(19, 20))
    >>> round(float(symmetric[0]), 2)
    1.96
    """
    tables = _tail_tables(confidence)
    at = np.clip(kurtosis, 0.0, 1.0) * (tables.shape[1] - 2)
    place = np.clip(share, 0.1, 0.9) * 10 - 1
    column, row = at.astype(np.intp), np.minimum(place.astype(np.intp), 7)
    at, place = at - column, place - row
    lower = tables[row, column] * (1 - at) + tables[row, column + 1] * at
    upper = tables[row + 1, column] * (1 - at) + tables[row + 1, column + 1] * at
    return np.asarray(lower * (1 - place) + upper * place)


@lru_cache(maxsize=64)
def _tail_tables(confidence: Fraction) -> Floats:
    """One row for each tenth of 1 - confidence, from 1 to 9."""
    left = 1 - confidence
    levels = (1 - 2 * left * Fraction(tenth, 10) for tenth in range(1, 10))
    return np.stack([_even_table(max(level, Fraction(1, 100))) for level in levels])


@lru_cache(maxsize=64)
def _even_table(confidence: Fraction) -> Floats:
    """The table at evenly spaced places, so that no search is needed; the last one twice."""
    places = np.linspace(0, 1, _TABLE_SIZE)
    even = np.interp(places, *_table(confidence))
    return np.append(even, even[-1])


@lru_cache(maxsize=64)
def _table(confidence: Fraction) -> tuple[Floats, Floats]:
    """Quantiles of |S| of variance 1 over sum of b**4 / (sum of b**2)**2, from 0 to 1."""
    level = float(confidence)
    counts, ratios = (24, 12, 8, 6, 5, 4, 3, 2), np.linspace(0, 1, 41)[:-1]
    rows = [(0.0, NormalDist().inv_cdf((1 + level) / 2))]
    rows += [_equal_laplaces_and_one(m, c, level) for m in counts for c in (0.0, 0.6, 0.8)]
    rows += [_two_laplaces(c, level) for c in ratios]
    rows.sort()
    return np.array([x for x, _ in rows]), np.array([y for _, y in rows])


def _equal_laplaces_and_one(m: int, c: float, level: float) -> tuple[float, float]:
    """m Laplace noises of scale 1 and one of scale c."""
    variance = 2 * (m + c * c)
    cell = math.sqrt(variance) / _CELLS
    quantile = cell * _read_quantile(_cumulative_equal(m, c), level, exact=False)
    return (m + c**4) / (m + c * c) ** 2, quantile / math.sqrt(variance)


@lru_cache(maxsize=64)
def _cumulative_equal(m: int, c: float) -> Floats:
    cell = math.sqrt(2 * (m + c * c)) / _CELLS
    noise = LaplaceNoise(Fraction(1 << 20))
    distributions = [_in_cells(noise, 1 / cell / 2**20)] * m
    if c:
        distributions.append(_in_cells(noise, c / cell / 2**20))
    return _cumulative(distributions)


def _two_laplaces(c: float, level: float) -> tuple[float, float]:
    """Scales 1 and c < 1: P(|S| > q) = (exp(-q) - c**2 exp(-q / c)) / (1 - c**2)."""
    u = c * c
    low, high = 0.0, 2 - 2 * math.log(1 - level)
    for _ in range(60):
        q = (low + high) / 2
        small = u * math.exp(-q / c) if c else 0.0
        low, high = (q, high) if (math.exp(-q) - small) / (1 - u) > 1 - level else (low, q)
    return (1 + u * u) / (1 + u) ** 2, high / math.sqrt(2 * (1 + u))
