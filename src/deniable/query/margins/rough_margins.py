"""Rough margins, by which a budget is split among blocks before anything is known.

They use smooth quantiles, and slopes for formulas. That is fast, and right to a few per cent
where there are many rows. The shares of epsilon follow from them, so a change here changes the
noise of every plan with several blocks. The margins of an answer come from `margins`.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.noise.additive import Noise
from deniable.query.margins import variances
from deniable.query.margins.evaluation import Values, evaluate
from deniable.query.margins.formula_parts import denominators, remove_cuts, spread_inside
from deniable.query.margins.linear_forms import LinearForm, RatioForm, features_of, form
from deniable.query.margins.noise_quantiles import (
    fixed_margin,
    is_silent,
    moments,
    spread_quantile,
)
from deniable.query.plan.plan import Node

Floats: TypeAlias = NDArray[np.float64]
Interval: TypeAlias = tuple[Floats, Floats]


def rough_margin(
    node: Node,
    noises: Mapping[str, Noise],
    features: Mapping[str, Values],
    confidence: Fraction,
) -> float:
    """The margin of an aggregate in one group with these features; may be infinite.

    >>> from deniable.mechanisms import Laplace
    >>> from deniable.query.plan.plan import Feature, Operation
    >>> mean = Operation("/", (Feature("s", 0), Feature("n", 0)))
    >>> noises = dict.fromkeys("sn", Laplace(epsilon=1).noise())
    >>> features = {"s": np.array([500.0]), "n": np.array([1000.0])}
    >>> round(rough_margin(mean, noises, features, Fraction(19, 20)), 4)
    0.0032
    """
    value = float(np.ravel(evaluate(node, features))[0])
    lower, upper = (
        float(np.ravel(end)[0]) for end in _interval(node, noises, features, confidence)
    )
    half = max(upper - value, value - lower, 0.0)
    return float("inf") if np.isnan(half) else half


def _interval(
    node: Node,
    noises: Mapping[str, Noise],
    features: Mapping[str, Values],
    confidence: Fraction,
) -> Interval:
    shape = form(node)
    value = np.asarray(evaluate(node, features), dtype=np.float64)
    if isinstance(shape, LinearForm):
        half = fixed_margin(dict(shape.weights), noises, confidence)
        return value - half, value + half
    if is_silent(tuple(noises[name] for name in sorted(features_of(node))), 1 - confidence):
        return value, value
    if isinstance(shape, RatioForm):
        return _ratio(shape, noises, features, confidence)
    spread, rooted = spread_inside(node)
    if spread is not None:
        ends = variances.interval(
            spread, noises, features, confidence, rooted=rooted, lattice=False
        )
        lower, upper = (np.maximum(end, 0.0) for end in ends)
        return (np.sqrt(lower), np.sqrt(upper)) if rooted else (lower, upper)
    return _by_slopes(remove_cuts(node), noises, features, confidence)


def _ratio(
    ratio: RatioForm,
    noises: Mapping[str, Noise],
    features: Mapping[str, Values],
    confidence: Fraction,
) -> Interval:
    """Fieller's set with a smooth quantile: where the noise of N - r D is that large."""
    over, under = dict(ratio.above.weights), dict(ratio.below.weights)
    names = sorted({*over, *under})
    cumulants = np.array([moments(noises[name]) for name in names])
    above, below = (np.array([float(w.get(name, 0)) for name in names]) for w in (over, under))
    n, d = (float(np.ravel(part.at(features))[0]) for part in (ratio.above, ratio.below))
    if not abs(d) > fixed_margin(under, noises, confidence):
        return np.full(1, -np.inf), np.full(1, np.inf)
    aa, ab, bb = (float((x * cumulants[:, 0]) @ y) for x, y in _pairs(above, below))
    ends = []
    for sign in (-1.0, 1.0):
        r = n / d
        for _ in range(2):
            line = above - r * below
            variance, fourth = line**2 @ cumulants[:, 0], line**4 @ cumulants[:, 1]
            quantile = spread_quantile(np.array([variance]), np.array([fourth]), confidence)
            c = float(quantile[0]) ** 2 / variance
            leading, middle, last = d * d - c * bb, n * d - c * ab, n * n - c * aa
            inside = max(middle * middle - leading * last, 0.0)
            r = (middle + sign * inside**0.5) / leading if leading > 0 else sign * np.inf
        ends.append(np.array([r]))
    return ends[0], ends[1]


def _pairs(a: Floats, b: Floats) -> list[tuple[Floats, Floats]]:
    return [(a, a), (a, b), (b, b)]


def _by_slopes(
    node: Node,
    noises: Mapping[str, Noise],
    features: Mapping[str, Values],
    confidence: Fraction,
) -> Interval:
    """By linear approximation at the given features; infinite if a denominator may be 0."""
    value = np.asarray(evaluate(node, features), dtype=np.float64)
    variance, fourth = np.zeros_like(value), np.zeros_like(value)
    for name in features_of(node):
        own, own_fourth = moments(noises[name])
        step = own**0.5
        at = np.asarray(features[name], dtype=np.float64)
        ahead, behind = (
            np.asarray(evaluate(node, {**features, name: at + by}), dtype=np.float64)
            for by in (step, -step)
        )
        with np.errstate(all="ignore"):
            slope = (ahead - behind) / (2 * step)
            variance = variance + slope**2 * own
            fourth = fourth + slope**4 * own_fourth
    half = spread_quantile(variance, fourth, confidence)
    half = np.where(np.isnan(variance), np.inf, half)
    for below in denominators(node):
        lower, upper = _interval(below, noises, features, confidence)
        half = np.where((lower <= 0) & (upper >= 0), np.inf, half)
    return value - half, value + half
