"""How far a weighted sum of independent noises strays: quantiles of |sum of w Z|.

One noise: its own exact margin. A fixed sum of several: the laws are convolved on a lattice,
exactly where the noises are few steps wide, else on cells a small part of the spread wide.
Sums whose weights differ from group to group (an average, whose weights are its own value) use
a table: at equal variance the quantile depends almost only on the fourth cumulant, and the
table follows it from a single Laplace noise through two unequal ones, for which the tail has a
closed form, then more and more equal ones, to the normal law. Margins are post-processing, so
floats serve; the tests hold the table to about one per cent (four at the median).
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
Law: TypeAlias = LaplaceNoise | GaussianNoise | TruncatedNoise

_REACH = 45  # exp(-45) of a Laplace law lies beyond so many scales
_LATTICE = 1 << 15  # the longest exact lattice
_PLACES = 2049  # of the table
_CELLS = 128  # to a standard deviation, where cells stand in for a continuous law


def moments(law: Noise) -> tuple[float, float]:
    """The variance and the fourth cumulant of a noise, in steps.

    >>> variance, fourth = moments(LaplaceNoise(Fraction(1000)))
    >>> round(variance / 2e6, 3), round(fourth / 12e12, 3)
    (1.0, 1.0)
    """
    if isinstance(law, GaussianNoise):
        return float(law.variance) + 1 / 12, 0.0
    assert isinstance(law, LaplaceNoise | TruncatedNoise)
    s = float(law.scale)
    a, rest = math.exp(-1 / s), -math.expm1(-1 / s)
    return 2 * a / rest**2, 2 * a * (rest**2 + 6 * a) / rest**4


def fixed_margin(
    weights: Mapping[str, Fraction], laws: Mapping[str, Noise], confidence: Fraction
) -> float:
    """The least m (to a thousandth) with P(|sum of w Z| <= m) >= confidence.

    >>> laws = {"a": LaplaceNoise(Fraction(10)), "b": LaplaceNoise(Fraction(10))}
    >>> fixed_margin({"a": Fraction(1)}, laws, Fraction(19, 20))
    30.0
    >>> fixed_margin({"a": Fraction(1), "b": Fraction(-1)}, laws, Fraction(19, 20))
    41.0
    """
    parts = tuple((abs(w), laws[name]) for name, w in sorted(weights.items()) if w)
    return _fixed(parts, confidence)


@lru_cache(maxsize=4096)
def _fixed(parts: tuple[tuple[Fraction, Noise], ...], confidence: Fraction) -> float:
    if not parts:
        return 0.0
    if len(parts) == 1:
        weight, law = parts[0]
        return float(weight * least_margin(law, confidence))
    unit = _common_unit([weight for weight, _ in parts])
    reach = sum(weight / unit * _reach(law) for weight, law in parts)
    if reach < _LATTICE:
        laws = [_on_lattice(law, int(weight / unit)) for weight, law in parts]
        return float(unit) * _quantile(laws, float(confidence), exact=True)
    spread = math.sqrt(sum(float(weight) ** 2 * moments(law)[0] for weight, law in parts))
    cell = spread / _CELLS
    laws = [_in_cells(law, float(weight) / cell) for weight, law in parts]
    return cell * _quantile(laws, float(confidence), exact=False)


def _common_unit(weights: list[Fraction]) -> Fraction:
    """The largest rational of which all weights are whole multiples."""
    below = math.lcm(*(one.denominator for one in weights))
    return Fraction(math.gcd(*(int(one * below) for one in weights)), below)


def _scale(law: Noise) -> float:
    return math.sqrt(law.variance) if isinstance(law, GaussianNoise) else float(law.scale)  # type: ignore[attr-defined]


def _reach(law: Noise) -> int:
    most = math.ceil(_scale(law) * (10 if isinstance(law, GaussianNoise) else _REACH)) + 2
    return min(most, law.bound) if isinstance(law, TruncatedNoise) else most


def _on_lattice(law: Noise, stride: int) -> Floats:
    """Probabilities of stride * Z at -n, ..., n."""
    n = _reach(law)
    z = np.arange(-n, n + 1)
    if isinstance(law, GaussianNoise):
        edge = _normal(np.append(z - 0.5, n + 0.5) / _scale(law))
        weights = np.diff(edge)
    else:
        weights = np.exp(-np.abs(z) / _scale(law))
    spaced = np.zeros(2 * n * stride + 1)
    spaced[::stride] = weights / weights.sum()
    return spaced


def _in_cells(law: Noise, weight: float) -> Floats:
    """Probabilities of the cells around -n, ..., n that weight * Z falls into, continuously."""
    scale = weight * math.sqrt(moments(law)[0])
    gaussian = isinstance(law, GaussianNoise)
    n = math.ceil(scale * (10 if gaussian else 34)) + 2
    edges = np.arange(-n - 0.5, n + 1) / scale
    if gaussian:
        return np.diff(_normal(edges))
    tail = 0.5 * np.exp(-math.sqrt(2) * np.abs(edges))
    return np.diff(np.where(edges < 0, tail, 1 - tail))


def _quantile(laws: list[Floats], confidence: float, *, exact: bool) -> float:
    """Of |sum|: a whole number of steps, or interpolated within a cell."""
    return _read(_within(laws), confidence, exact=exact)


def _within(laws: list[Floats]) -> Floats:
    """The chance that |sum| is at most 0, 1, 2, ... steps."""
    length = sum(one.size - 1 for one in laws) + 1
    padded = 1 << (length - 1).bit_length()
    product: Any = 1.0
    for one in laws:
        product = product * np.fft.rfft(one, padded)
    total = np.fft.irfft(product, padded)[:length]
    middle = length // 2
    folded = total[middle:].copy()
    folded[1:] += total[:middle][::-1]
    return np.cumsum(folded)


def _read(within: Floats, confidence: float, *, exact: bool) -> float:
    k = int(np.searchsorted(within, confidence - 1e-12))
    if exact:
        return float(k)
    before = within[k - 1] if k else 0.0
    return k - 0.5 + (confidence - float(before)) / float(within[k] - before)


def _normal(x: Floats) -> Floats:
    from scipy.special import ndtr

    return np.asarray(ndtr(x))


def spread_quantile(variance: Floats, fourth: Floats, confidence: Fraction) -> Floats:
    """The quantile of |S| for sums of Laplace and Gaussian noises with these cumulants.

    >>> alone = spread_quantile(np.array([2.0]), np.array([12.0]), Fraction(19, 20))
    >>> round(float(alone[0]), 3)  # a Laplace noise of scale 1: ln 20
    2.996
    """
    table = _even_table(confidence)
    with np.errstate(all="ignore"):
        share = np.nan_to_num(fourth / (3 * variance * variance))  # 0 / 0: nothing varies
    at = np.clip(share, 0.0, 1.0) * (table.size - 2)
    below = at.astype(np.intp)
    quantile = table[below] + (at - below) * (table[below + 1] - table[below])
    return np.sqrt(variance) * quantile


def standard_quantile_squared(share: Floats, confidence: Fraction) -> Floats:
    """The square of that quantile for variance 1, where `share` is a third of the fourth
    cumulant. One pass over many groups, so it looks squares and slopes up ready-made."""
    squares, slopes = _square_table(confidence)
    at = np.fmax(share, 0.0)  # NaN: nothing varies
    np.fmin(at, 1.0, out=at)
    at *= squares.size - 1
    below = at.astype(np.intp)
    at -= below
    at *= slopes[below]
    at += squares[below]
    return at


def tail_quantiles(kurtosis: Floats, share: Floats, confidence: Fraction) -> Floats:
    """The quantile of S of variance 1 that is exceeded with the chance `share` of what the
    confidence leaves; `kurtosis` is a third of the fourth cumulant. In tenths, interpolated.

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
    """One row for each tenth of the chance that the confidence leaves, from 1 to 9."""
    left = 1 - confidence
    inside = (1 - 2 * left * Fraction(tenth, 10) for tenth in range(1, 10))
    return np.stack([_even_table(max(one, Fraction(1, 100))) for one in inside])


@lru_cache(maxsize=64)
def _square_table(confidence: Fraction) -> tuple[Floats, Floats]:
    squares = _even_table(confidence) ** 2
    return squares[:-1], np.diff(squares)


@lru_cache(maxsize=64)
def _even_table(confidence: Fraction) -> Floats:
    """The table at evenly spaced places, found without a search, and one more at the end."""
    places = np.linspace(0, 1, _PLACES)
    even = np.interp(places, *_table(confidence))
    return np.append(even, even[-1])


@lru_cache(maxsize=64)
def _table(confidence: Fraction) -> tuple[Floats, Floats]:
    """Quantiles of |S| of variance 1 over sum of b**4 / (sum of b**2)**2, from 0 to 1."""
    level = float(confidence)
    many = [(m, c) for m in (24, 12, 8, 6, 5, 4, 3, 2) for c in (0.0, 0.6, 0.8)]
    rows = [(0.0, NormalDist().inv_cdf((1 + level) / 2))]
    rows += [_equal_and_one(m, c, level) for m, c in many]
    ratios = np.linspace(0, 1, 41)[:-1]
    rows += [_two(c, level) for c in ratios]
    rows.sort()
    return np.array([x for x, _ in rows]), np.array([y for _, y in rows])


def _equal_and_one(m: int, c: float, level: float) -> tuple[float, float]:
    """m Laplace noises of scale 1 and one of scale c."""
    variance = 2 * (m + c * c)
    cell = math.sqrt(variance) / _CELLS
    quantile = cell * _read(_within_equal(m, c), level, exact=False)
    return (m + c**4) / (m + c * c) ** 2, quantile / math.sqrt(variance)


@lru_cache(maxsize=64)
def _within_equal(m: int, c: float) -> Floats:
    cell = math.sqrt(2 * (m + c * c)) / _CELLS
    law = LaplaceNoise(Fraction(1 << 20))
    laws = [_in_cells(law, 1 / cell / 2**20)] * m
    if c:
        laws.append(_in_cells(law, c / cell / 2**20))
    return _within(laws)


def _two(c: float, level: float) -> tuple[float, float]:
    """Scales 1 and c < 1: P(|S| > q) = (exp(-q) - c**2 exp(-q / c)) / (1 - c**2)."""
    u = c * c
    low, high = 0.0, 2 - 2 * math.log(1 - level)
    for _ in range(60):
        q = (low + high) / 2
        small = u * math.exp(-q / c) if c else 0.0
        low, high = (q, high) if (math.exp(-q) - small) / (1 - u) > 1 - level else (low, q)
    return (1 + u * u) / (1 + u) ** 2, high / math.sqrt(2 * (1 + u))
