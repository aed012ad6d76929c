"""Confidence intervals of variances that are computed from noisy features, by Fieller's set.

A variance is the least mean square around any point c,

    V = A / D - (B / D)**2 = min over c of (A - 2 c B + c**2 D) / D,

with the squares A, the values B and the count D linear in the features; the sample variance
divides by E = D - 1 instead. At the noisy mean c the slope in c is zero, so V is to second
order the ratio of two linear forms N_c / E, and its margin is that of a ratio: all r for which
N_c - r E is as small as its noise may be. That holds however small the noisy count is, unlike
slopes at the noisy values.

A variance is not below 0, and an answer below 0 is cut. For a true value r near 0, answers that
are too low are then off by less than answers that are too high, so the two tails may differ: a
share s(r) of the probability 1 - confidence is given to answers that are too low, the rest to
answers that are too high. Whatever s is, each r is covered with the requested confidence. It
was chosen so that margins are short where the noise is larger than the variance: one choice for
the variance and another for the deviation, because a root stretches what is near 0. Far from 0
it is a half.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.noise.additive import Noise
from deniable.query.margins.evaluation import Values
from deniable.query.margins.linear_forms import LinearForm, RatioForm, form
from deniable.query.margins.noise_quantiles import LATTICE_STEP, moments, tail_quantiles
from deniable.query.plan.plan import Node, Operation

Floats: TypeAlias = NDArray[np.float64]
Interval: TypeAlias = tuple[Floats, Floats]
Shares: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]

# The share of answers that are too low, by the true value in symmetric margins.
_PLAIN: Shares = (0.0, 0.5, 1.2, 2.0, 2.5), (0.3, 0.5, 0.7, 0.7, 0.5)
_ROOT: Shares = (
    (0.0, 0.25, 0.5, 1.0, 1.25, 2.0, 3.0, 3.5),
    (0.1, 0.1, 0.3, 0.6, 0.6, 0.27, 0.27, 0.5),
)
_EVEN: Shares = (0.0,), (0.5,)
_SURE = Fraction(4, 5)  # below this confidence both tails are alike
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class VarianceForm:
    """scale * (squares - values**2 / count) / below."""

    squares: LinearForm
    values: LinearForm
    count: LinearForm
    below: LinearForm
    scale: Fraction


@lru_cache(maxsize=1024)
def variance_form(node: Node) -> VarianceForm | None:
    """The node as a variance; None if it is not one.

    >>> from deniable.query.plan.plan import Feature, Number
    >>> n, s, q = (Feature(name, 0) for name in "nsq")
    >>> mean = Operation("/", (s, n))
    >>> spread = variance_form(
    ...     Operation("-", (Operation("/", (q, n)), Operation("*", (mean, mean))))
    ... )
    >>> spread.squares.weights, spread.values.weights, spread.below == spread.count
    ((('q', Fraction(1, 1)),), (('s', Fraction(1, 1)),), True)
    """
    if not isinstance(node, Operation):
        return None
    if node.name == "-" and len(node.arguments) == 2:
        return _difference(*node.arguments)
    if node.name in ("greatest", "*") and len(node.arguments) == 2:
        for inner, other in (node.arguments, node.arguments[::-1]):
            spread, factor = variance_form(inner), form(other)
            if spread is not None and factor is not None:
                return _times(spread, factor) if node.name == "*" else _cut(spread, factor)
    return None


def _difference(square: Node, product: Node) -> VarianceForm | None:
    """A / D - (B / D) * (B / D)."""
    if not isinstance(product, Operation) or product.name != "*" or len(product.arguments) != 2:
        return None
    first, second = product.arguments
    above, mean = form(square), form(first)
    if first != second or not isinstance(above, RatioForm) or not isinstance(mean, RatioForm):
        return None
    if above.below != mean.below:
        return None
    return VarianceForm(above.above, mean.above, mean.below, mean.below, Fraction(1))


def _times(spread: VarianceForm, factor: LinearForm | RatioForm) -> VarianceForm | None:
    """By a positive number, or by D / (D - 1)."""
    if isinstance(factor, LinearForm):
        if factor.weights or factor.constant <= 0:
            return None
        scale = spread.scale * factor.constant
        return VarianceForm(spread.squares, spread.values, spread.count, spread.below, scale)
    if factor.above == spread.count == spread.below and factor.below.weights:
        return VarianceForm(
            spread.squares, spread.values, spread.count, factor.below, spread.scale
        )
    return None


def _cut(spread: VarianceForm, at: LinearForm | RatioForm) -> VarianceForm | None:
    """A variance cut at 0 is the same variance."""
    return spread if at == LinearForm(Fraction(0), ()) else None


def interval(
    spread: VarianceForm,
    noises: Mapping[str, Noise],
    features: Mapping[str, Values],
    confidence: Fraction,
    *,
    rooted: bool = False,
    lattice: bool = True,
) -> Interval:
    """Both ends of what the true variance may be; `rooted` if its root is shown. Without
    `lattice`, the noise is taken as smooth."""
    tested = _TestStatistic(spread, noises, features, LATTICE_STEP if lattice else 0.0)
    shares = _EVEN if confidence < _SURE else _ROOT if rooted else _PLAIN
    scale = float(spread.scale)
    return (
        scale * tested.end(-1, confidence, shares),
        scale * tested.end(+1, confidence, shares),
    )


class _TestStatistic:
    """N_c - r E and the distribution of its noise, for any r and c."""

    def __init__(
        self,
        spread: VarianceForm,
        noises: Mapping[str, Noise],
        features: Mapping[str, Values],
        lattice_step: float,
    ) -> None:
        forms = spread.squares, spread.values, spread.count, spread.below
        values = (np.asarray(linear.at(features), dtype=np.float64) for linear in forms)
        self.a, self.b, self.d, self.e = np.broadcast_arrays(*map(np.atleast_1d, values))
        parts = [dict(linear.weights) for linear in forms]
        names = sorted({name for part in parts for name in part})
        self.weights = [tuple(float(part.get(name, 0)) for part in parts) for name in names]
        self.moments = [moments(noises[name]) for name in names]
        self.between = _range(spread)
        self.lattice_step = lattice_step

    def end(self, sign: int, confidence: Fraction, shares: Shares) -> Floats:
        """The largest r of the interval, or the least. The quantile depends on r, and the
        likely c if r is true depends on both, so they are computed in rounds."""
        with np.errstate(all="ignore"):
            c = self._mean(self.b, self.d)
            r = self.a - 2 * c * self.b + c * c * self.d
            r = np.maximum(np.nan_to_num(r / self.e, posinf=0.0), 0.0)
            q = self._quantile(r, c, sign, confidence, shares)
            r = self._root(c, q, sign)
            for _ in range(_ROUNDS):
                before = r
                c = self._likely(np.where(np.isfinite(r), r, 0.0), c, -sign * q)
                q = self._quantile(r, c, sign, confidence, shares)
                r = self._root(c, q, sign)
        # Where shares are steep, rounds may not converge: take the wider of the last two.
        wider = np.maximum(r, before) if sign > 0 else np.minimum(r, before)
        return np.asarray(wider, dtype=np.float64)

    def _mean(self, values: Floats, count: Floats) -> Floats:
        """The mean, cut to its certain range."""
        low, high = self.between
        mean = np.minimum(np.maximum(values / count, low), high)
        return np.where(np.isnan(mean), 0.0, mean)

    def _lines(self, r: Floats, c: Floats) -> list[Floats]:
        """The weight of each feature in N_c - r E."""
        return [a - 2 * c * b + c * c * d - r * e for a, b, d, e in self.weights]

    def _spread(self, lines: list[Floats]) -> Floats:
        """The variance of their noise."""
        both = zip(lines, self.moments, strict=True)
        return np.asarray(sum(v * line * line for line, (v, _) in both))

    def _likely(self, r: Floats, c: Floats, off: Floats) -> Floats:
        """The mean, if r is true and the noise of N_c - r E is off by this many deviations.
        The correlated part of the noise of each feature is subtracted."""
        lines = self._lines(r, c)
        by = off / np.sqrt(self._spread(lines))
        b, d = self.b, self.d
        for line, (_, over, under, _), (v, _) in zip(
            lines, self.weights, self.moments, strict=True
        ):
            b = b - by * v * line * over
            d = d - by * v * line * under
        return np.where(d > 0, self._mean(b, d), c)

    def _quantile(
        self, r: Floats, c: Floats, sign: int, confidence: Fraction, shares: Shares
    ) -> Floats:
        """How many standard deviations the noise at r may be off, on one side."""
        r = np.where(np.isfinite(r), r, 0.0)
        lines = self._lines(r, c)
        spread = self._spread(lines)
        pairs = zip(lines, self.moments, strict=True)
        kurtosis = sum(k * line**4 for line, (_, k) in pairs) / (3 * spread * spread)
        kurtosis = np.nan_to_num(kurtosis)
        away = np.nan_to_num(np.abs(r * self.e) / np.sqrt(spread)) / _usual(confidence)
        low = np.interp(away, *shares)
        smooth = tail_quantiles(kurtosis, low if sign > 0 else 1 - low, confidence)
        widest = np.max(np.abs(lines), axis=0)
        return np.asarray(smooth + np.nan_to_num(self.lattice_step * widest / np.sqrt(spread)))

    def _root(self, c: Floats, q: Floats, sign: int) -> Floats:
        """The r at which N_c - r E is q standard deviations, on one side; else infinite."""
        above = self.a - 2 * c * self.b + c * c * self.d
        lines = self._lines(np.zeros_like(c), c)
        square = q * q
        pairs = list(zip(lines, self.weights, self.moments, strict=True))
        both = sum(v * line * e for line, (*_, e), (v, _) in pairs)
        below = sum(v * e * e for _, (*_, e), (v, _) in pairs)
        leading = self.e**2 - square * below
        middle = above * self.e - square * both
        inside = middle**2 - leading * (above**2 - square * self._spread(lines))
        root = (middle + sign * np.sqrt(np.maximum(inside, 0.0))) / leading
        return np.where((leading > 0) & (self.e > 0), root, sign * np.inf)


@lru_cache(maxsize=64)
def _usual(confidence: Fraction) -> float:
    """About how many standard deviations a symmetric margin is."""
    return float(tail_quantiles(np.full(1, 0.3), np.full(1, 0.5), confidence)[0])


def _range(spread: VarianceForm) -> tuple[float, float]:
    """The certain range of the mean: features are sums of non-negative numbers."""
    over, under = dict(spread.values.weights), dict(spread.count.weights)
    free = spread.values.constant or spread.count.constant or not over.keys() <= under.keys()
    if free or any(weight <= 0 for weight in under.values()):
        return -np.inf, np.inf
    ratios = [float(over.get(name, 0) / weight) for name, weight in under.items()]
    return min(ratios), max(ratios)
