"""Variances of noisy features, and Fieller's set for them.

A variance is the least mean square around any point c,

    V = A / D - (B / D)**2 = min over c of (A - 2 c B + c**2 D) / D,

with the squares A, the values B and the count D linear in the features; the sample variance
divides by E = D - 1 instead. At the noisy mean c the slope in c is zero, so V is to second
order the ratio of two linear forms N_c / E, and its margin is that of a ratio: all r for which
N_c - r E is as small as its noise may be. That holds however small the noisy count is, where
slopes at the noisy values do not.

A variance is not below 0, and an answer below is cut. For a true value r within reach of 0,
answers too low are then off by less than as many too high, so the two tails need not be alike:
of the chance 1 - confidence a share s(r) is given to answers too low, the rest to answers too
high. Whatever s is, each r is kept with the confidence asked for. It was chosen so that margins
are short where the noise drowns the variance, for the variance itself and, since a root
stretches what is near 0, otherwise for the deviation; far from 0 it is a half.
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
from deniable.query.margins.noise_quantiles import moments, tail_quantiles
from deniable.query.plan.plan import Node, Operation

Floats: TypeAlias = NDArray[np.float64]
Interval: TypeAlias = tuple[Floats, Floats]
Shares: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]

# The share of answers too low, at true values of so many symmetric margins.
_PLAIN: Shares = (0.0, 0.5, 1.2, 2.0, 2.5), (0.3, 0.5, 0.7, 0.7, 0.5)
_ROOT: Shares = (
    (0.0, 0.25, 0.5, 1.0, 1.25, 2.0, 3.0, 3.5),
    (0.1, 0.1, 0.3, 0.6, 0.6, 0.27, 0.27, 0.5),
)
_EVEN: Shares = (0.0,), (0.5,)
_SURE = Fraction(4, 5)  # below this confidence both tails are alike
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Variance:
    """scale * (squares - values**2 / count) / below."""

    squares: LinearForm
    values: LinearForm
    count: LinearForm
    below: LinearForm
    scale: Fraction


@lru_cache(maxsize=1024)
def variance(node: Node) -> Variance | None:
    """The node as a variance; None where it is none.

    >>> from deniable.query.plan.plan import Feature, Number
    >>> n, s, q = (Feature(one, 0) for one in "nsq")
    >>> mean = Operation("/", (s, n))
    >>> found = variance(Operation("-", (Operation("/", (q, n)), Operation("*", (mean, mean)))))
    >>> found.squares.weights, found.values.weights, found.below == found.count
    ((('q', Fraction(1, 1)),), (('s', Fraction(1, 1)),), True)
    """
    if not isinstance(node, Operation):
        return None
    if node.name == "-" and len(node.arguments) == 2:
        return _difference(*node.arguments)
    if node.name in ("greatest", "*") and len(node.arguments) == 2:
        for inner, other in (node.arguments, node.arguments[::-1]):
            found, factor = variance(inner), form(other)
            if found is not None and factor is not None:
                return _times(found, factor) if node.name == "*" else _cut(found, factor)
    return None


def _difference(square: Node, product: Node) -> Variance | None:
    """A / D - (B / D) * (B / D)."""
    if not isinstance(product, Operation) or product.name != "*" or len(product.arguments) != 2:
        return None
    one, two = product.arguments
    above, mean = form(square), form(one)
    if one != two or not isinstance(above, RatioForm) or not isinstance(mean, RatioForm):
        return None
    if above.below != mean.below:
        return None
    return Variance(above.above, mean.above, mean.below, mean.below, Fraction(1))


def _times(found: Variance, factor: LinearForm | RatioForm) -> Variance | None:
    """By a positive number, or by D / (D - 1)."""
    if isinstance(factor, LinearForm):
        if factor.weights or factor.constant <= 0:
            return None
        scale = found.scale * factor.constant
        return Variance(found.squares, found.values, found.count, found.below, scale)
    if factor.above == found.count == found.below and factor.below.weights:
        return Variance(found.squares, found.values, found.count, factor.below, found.scale)
    return None


def _cut(found: Variance, at: LinearForm | RatioForm) -> Variance | None:
    """Cut at 0, which it is not below."""
    return found if at == LinearForm(Fraction(0), ()) else None


def interval(
    found: Variance,
    laws: Mapping[str, Noise],
    features: Mapping[str, Values],
    confidence: Fraction,
    *,
    rooted: bool = False,
) -> Interval:
    """Both ends of what the true variance may be; `rooted` where its root is shown."""
    tested = _Tested(found, laws, features)
    shares = _EVEN if confidence < _SURE else _ROOT if rooted else _PLAIN
    scale = float(found.scale)
    return (
        scale * tested.end(-1, confidence, shares),
        scale * tested.end(+1, confidence, shares),
    )


class _Tested:
    """N_c - r E and the law of its noise, for any r and c."""

    def __init__(
        self, found: Variance, laws: Mapping[str, Noise], features: Mapping[str, Values]
    ) -> None:
        forms = found.squares, found.values, found.count, found.below
        values = (np.asarray(one.at(features), dtype=np.float64) for one in forms)
        self.a, self.b, self.d, self.e = np.broadcast_arrays(*map(np.atleast_1d, values))
        parts = [dict(one.weights) for one in forms]
        names = sorted({name for part in parts for name in part})
        self.weights = [tuple(float(part.get(name, 0)) for part in parts) for name in names]
        self.moments = [moments(laws[name]) for name in names]
        self.between = _range(found)

    def end(self, sign: int, confidence: Fraction, shares: Shares) -> Floats:
        """The largest r that is kept, or the least. The quantile hangs on r, and which c is
        likely if r is true on both, so they are found in rounds."""
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
        # Where shares are steep there may be no rest: then the wider of the last two.
        wider = np.maximum(r, before) if sign > 0 else np.minimum(r, before)
        return np.asarray(wider, dtype=np.float64)

    def _mean(self, values: Floats, count: Floats) -> Floats:
        """The mean, within what it is surely between."""
        low, high = self.between
        found = np.minimum(np.maximum(values / count, low), high)
        return np.where(np.isnan(found), 0.0, found)

    def _lines(self, r: Floats, c: Floats) -> list[Floats]:
        """The weight of each feature in N_c - r E."""
        return [a - 2 * c * b + c * c * d - r * e for a, b, d, e in self.weights]

    def _spread(self, lines: list[Floats]) -> Floats:
        """The variance of their noise."""
        both = zip(lines, self.moments, strict=True)
        return np.asarray(sum(v * one * one for one, (v, _) in both))

    def _likely(self, r: Floats, c: Floats, off: Floats) -> Floats:
        """The mean, if r is true and the noise of N_c - r E is off by so many deviations: the
        part of the noise of each feature that goes with it is taken off."""
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
        """How many standard deviations the noise at r may be off, towards one side."""
        r = np.where(np.isfinite(r), r, 0.0)
        lines = self._lines(r, c)
        spread = self._spread(lines)
        pairs = zip(lines, self.moments, strict=True)
        kurtosis = sum(k * one**4 for one, (_, k) in pairs) / (3 * spread * spread)
        kurtosis = np.nan_to_num(kurtosis)
        away = np.nan_to_num(np.abs(r * self.e) / np.sqrt(spread)) / _usual(confidence)
        low = np.interp(away, *shares)
        return tail_quantiles(kurtosis, low if sign > 0 else 1 - low, confidence)

    def _root(self, c: Floats, q: Floats, sign: int) -> Floats:
        """Where N_c - r E is q standard deviations, on one side; infinite where nowhere."""
        above = self.a - 2 * c * self.b + c * c * self.d
        lines = self._lines(np.zeros_like(c), c)
        square = q * q
        pairs = list(zip(lines, self.weights, self.moments, strict=True))
        both = sum(v * one * e for one, (*_, e), (v, _) in pairs)
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


def _range(found: Variance) -> tuple[float, float]:
    """What the mean is surely between: features are sums of what is never negative."""
    over, under = dict(found.values.weights), dict(found.count.weights)
    free = found.values.constant or found.count.constant or not over.keys() <= under.keys()
    if free or any(one <= 0 for one in under.values()):
        return -np.inf, np.inf
    ratios = [float(over.get(name, 0) / one) for name, one in under.items()]
    return min(ratios), max(ratios)
