"""Confidence intervals of ratios of two linear forms, by Fieller's set on the lattice.

The interval holds all r for which |N - r D| is within the quantile of the noise of N - r D. Let
n and d be N and D as multiples of their standard deviations, after the part of N that
correlates with D is subtracted. Every r has an angle, at which N - r D is proportional to
cos(angle) n - sin(angle) d. That is the distance of the point (d, n) from a line through 0. So
r belongs to the interval if the angle differs from that of the point by at most
asin(quantile / distance from 0). The quantile depends on the angle (`lattice_quantiles`): the
largest one between the point and the end is used, in rounds that only ever shorten the
interval. Where D may be 0, nothing is known about r.
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
from deniable.query.margins.lattice_quantiles import QuantileTable, angle_grid
from deniable.query.margins.linear_forms import LinearForm, RatioForm
from deniable.query.margins.noise_quantiles import fixed_margin, moments

Floats: TypeAlias = NDArray[np.float64]
Interval: TypeAlias = tuple[Floats, Floats]

_ROUNDS = 4


def interval(
    ratio: RatioForm,
    noises: Mapping[str, Noise],
    features: Mapping[str, Values],
    confidence: Fraction,
) -> Interval:
    """Both ends of what the true ratio may be; infinite where the denominator may be 0.

    >>> from deniable.mechanisms import Laplace
    >>> over, under = (LinearForm(Fraction(0), ((name, Fraction(1)),)) for name in "ab")
    >>> noises = dict.fromkeys("ab", Laplace(epsilon=1).noise())
    >>> features = {"a": np.array([50.0]), "b": np.array([100.0])}
    >>> ends = interval(RatioForm(over, under), noises, features, Fraction(19, 20))
    >>> [float(end.round(3)[0]) for end in ends]
    [0.47, 0.531]
    """
    named = {name for name, _ in (*ratio.above.weights, *ratio.below.weights)}
    parts = _separate(ratio, tuple((name, noises[name]) for name in sorted(named)))
    below = np.atleast_1d(np.asarray(ratio.below.at(features), dtype=np.float64))
    above = np.atleast_1d(np.asarray(parts.above.at(features), dtype=np.float64))
    if parts.table_weights is None:
        lower, upper = _constant_above(ratio.below, noises, below, above, confidence)
    else:
        law = tuple(noises[name] for name in sorted(named))
        table = QuantileTable(parts.table_weights, law, confidence)
        lower, upper = _by_angles(table, above / parts.above_error, below / parts.below_error)
        lower, upper = (end * (parts.above_error / parts.below_error) for end in (lower, upper))
    return lower + float(parts.middle), upper + float(parts.middle)


@dataclass(frozen=True, slots=True)
class _Parts:
    """N - middle D is uncorrelated with D. The weights are None if it has no noise at all."""

    middle: Fraction
    above: LinearForm
    above_error: float
    below_error: float
    table_weights: tuple[tuple[float, float], ...] | None


@lru_cache(maxsize=256)  # groups come in slices, and all slices share these
def _separate(ratio: RatioForm, noises: tuple[tuple[str, Noise], ...]) -> _Parts:
    over, under = dict(ratio.above.weights), dict(ratio.below.weights)
    variances = {name: Fraction(moments(noise)[0]) for name, noise in noises}
    squares = sum(under.get(name, 0) ** 2 * v for name, v in variances.items())
    both = sum(over.get(name, 0) * under.get(name, 0) * v for name, v in variances.items())
    middle = Fraction(both) / Fraction(squares)
    above = ratio.above.plus(ratio.below, -middle)
    rest = dict(above.weights)
    below_error = float(squares) ** 0.5
    above_error = float(sum(rest[name] ** 2 * variances[name] for name in rest)) ** 0.5
    if not rest:
        return _Parts(middle, above, 0.0, below_error, None)
    weights = tuple(
        (float(rest.get(name, 0)) / above_error, float(under.get(name, 0)) / below_error)
        for name, _ in noises
    )
    return _Parts(middle, above, above_error, below_error, weights)


def _constant_above(
    below: LinearForm,
    noises: Mapping[str, Noise],
    d: Floats,
    n: Floats,
    confidence: Fraction,
) -> Interval:
    """A constant over a linear form: its reciprocal at both ends."""
    half = fixed_margin(dict(below.weights), noises, confidence)
    with np.errstate(all="ignore"):
        ends = np.stack([n / (d - half), n / (d + half)])
    weak = ~(np.abs(d) > half)
    return (
        np.where(weak, -np.inf, ends.min(axis=0)),
        np.where(weak, np.inf, ends.max(axis=0)),
    )


def _by_angles(table: QuantileTable, n: Floats, d: Floats) -> Interval:
    n, d = np.where(d < 0, -n, n), np.abs(d)
    point, far = np.arctan2(n, d), np.hypot(n, d)
    ends = []
    for sign in (-1.0, 1.0):
        end = point + sign * _spread(np.full(point.shape, table.bound()), far)
        for _ in range(_ROUNDS):
            quantile = table.largest(np.minimum(point, end), np.maximum(point, end))
            end = point + sign * _spread(quantile, far)
        ends.append(end)
    lower, upper = ends
    weak = ~(lower > -np.pi / 2) | ~(upper < np.pi / 2)
    if weak.any():
        lower[weak], upper[weak] = _scan(table, point[weak], far[weak])
    with np.errstate(all="ignore"):
        return (
            np.where(lower > -np.pi / 2, np.tan(lower), -np.inf),
            np.where(upper < np.pi / 2, np.tan(upper), np.inf),
        )


def _spread(quantile: Floats, far: Floats) -> Floats:
    """How far the angle may be off; a right angle and more if nothing is known."""
    with np.errstate(all="ignore"):
        part = quantile / far
    return np.asarray(np.where(part < 1, np.arcsin(np.minimum(part, 1.0)), np.pi))


def _scan(table: QuantileTable, point: Floats, far: Floats) -> Interval:
    """The same for a few points near 0, by trying every angle of the table."""
    angles, quantiles = angle_grid(), table.quantiles()
    step = float(angles[1] - angles[0])
    lower, upper = np.empty(point.size), np.empty(point.size)
    for start in range(0, point.size, 1024):
        part = slice(start, start + 1024)
        distance = far[part, None] * np.abs(np.sin(point[part, None] - angles))
        inside = distance <= quantiles + far[part, None] * (step / 2)
        unknown = inside[:, 0] | inside[:, -1] | ~inside.any(axis=1)
        first = inside.argmax(axis=1) - 1
        last = angles.size - inside[:, ::-1].argmax(axis=1)
        lower[part] = np.where(unknown, -np.pi, angles[np.clip(first, 0, angles.size - 1)])
        upper[part] = np.where(unknown, np.pi, angles[np.clip(last, 0, angles.size - 1)])
    return lower, upper
