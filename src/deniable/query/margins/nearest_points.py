"""Confidence intervals of formulas of several noisy numbers, such as CORR or SUM(x) * COUNT(*).

A value belongs to the interval if the noisy numbers are not too far from the points at which
the formula has that value. "Too far" is measured along the slopes of the formula at the nearest
such point, against the quantile of that weighted sum of noises. For a ratio this is Fieller's
set. For other formulas it is the signed root of the likelihood ratio, whose two-sided error is
of second order in the noise (Barndorff-Nielsen & Cox, "Inference and asymptotics", 1994).
Slopes at the noisy values themselves would be off in the first order.

The nearest point is found in rounds. Where they do not converge, `interval_arithmetic` is used
instead.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.noise.additive import Noise
from deniable.query.margins.evaluation import Values
from deniable.query.margins.noise_quantiles import LATTICE_STEP, moments, spread_quantile
from deniable.query.margins.slopes import SmoothFormula
from deniable.query.plan.plan import Node

Floats: TypeAlias = NDArray[np.float64]
Interval: TypeAlias = tuple[Floats, Floats]

_ROUNDS = 40
_DAMPED = 8  # after this many rounds only half a step is taken, because the point may swing
_NEAR = 1e-3  # the rounds have converged if one moves the end by less than this part


def interval(
    node: Node,
    noises: Mapping[str, Noise],
    features: Mapping[str, Values],
    confidence: Fraction,
    keys: Sequence[Values],
) -> Interval:
    """Both ends of what the true value may be; NaN where the rounds do not converge."""
    search = _Search(SmoothFormula(node, features, keys), noises, features, confidence)
    return search.end(-1.0), search.end(+1.0)


class _Search:
    """The points nearest to the noisy numbers at which a value just belongs to the interval."""

    def __init__(
        self,
        formula: SmoothFormula,
        noises: Mapping[str, Noise],
        features: Mapping[str, Values],
        confidence: Fraction,
    ) -> None:
        self.formula, self.confidence = formula, confidence
        arrays = (np.asarray(features[name], dtype=np.float64) for name in formula.names)
        self.at = np.stack(np.broadcast_arrays(*map(np.atleast_1d, arrays)))
        both = np.array([moments(noises[name]) for name in formula.names])
        self.variance, self.fourth = both[:, :1], both[:, 1:]
        self.start = formula.value_and_slopes(self.at)

    def end(self, sign: float) -> Floats:
        """The greatest value of the interval, or the least."""
        end = np.full(self.at.shape[1], np.nan)
        active = np.arange(self.at.shape[1])
        start, slopes = self.start
        point, before = self.at, start
        for i in range(_ROUNDS):
            at = self.at[:, active]
            with np.errstate(all="ignore"):
                move = at + sign * self._move(slopes) - point
                point = point + (1.0 if i < _DAMPED else 0.5) * move
                value, slopes = self.formula.value_and_slopes(point, active)
                off = np.abs(value - start[active])
                done = np.abs(value - before) <= _NEAR * off
                beyond = (value - start[active]) * sign >= 0
            end[active[done & beyond]] = value[done & beyond]
            left = ~done & ~np.isnan(value)
            active, point, before = active[left], point[:, left], value[left]
            slopes = slopes[:, left]
            if not active.size:
                break
        return end

    def _move(self, slopes: Floats) -> Floats:
        """Where the noise most likely came from, if the weighted sum is at its quantile; NaN
        where the formula has no slope."""
        variance = (slopes**2 * self.variance).sum(axis=0)
        fourth = (slopes**4 * self.fourth).sum(axis=0)
        half = spread_quantile(variance, fourth, self.confidence)
        half = half + LATTICE_STEP * np.abs(slopes).max(axis=0)
        return np.asarray(half / variance * slopes * self.variance)
