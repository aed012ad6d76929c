"""The delta curve of a sum of losses on a grid: upper and lower bounds, all errors included.

The curve is the sum of one or two parts (`CurvePart`), each a share of the distribution on its
own window. Let t be the tilt of a part, K(t) = ln E e**(t L) of the sum L under
P, and m its tilted masses. Then it adds
    delta(x) = e**K(t) * sum over grid losses y > x of m(y) e**(-t y) (1 - e**(x - y)).
The upper bound adds the possible rounding error, P(L beyond the window) by Chernoff's bound
e**(K(s) - s y), and the infinite losses. If x lies below the window, it adds the losses between
x and the window too. Mass from outside the window is wrapped into it; that raises the upper
bound, and the lower bound subtracts it (see `TailBounds.wrapped`).

The lower bound. On the grid the likelihood ratio R of each pair became R M with E_Q[M | R] = 1
and ln M within a step. So for n pairs, by Hoeffding's lemma, E M**s <= e**(s (s - 1) V / 2)
with V = n step**2 / 4. Since delta(x) = E_Q (R - e**x)+, it grew by g(R) = E (R M - e**x)+ -
(R - e**x)+. This is at most e**x c(s) e**(s (s - 1) V / 2 - (s - 1) |ln R - x|) with
c(s) = (s - 1)**(s - 1) / s**s, which is negligible unless ln R is within a few sqrt(V) of x.
The grid itself gives the probability of that: ln M stays within 2.5 sqrt(V) at least 9 times
in 10.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable.privacy.arithmetic.dominating_pairs import Floats
from deniable.privacy.arithmetic.floats import exp
from deniable.privacy.compose.curve_part import CurvePart

_REACH = 14  # the lower bound considers this many sqrt(V) around x
_LEAVE = 2.5
_CLOSE = 2.0**-42


@dataclass(frozen=True)
class DeltaCurve:
    """delta(x) of a sum. It is most accurate near `origin`, for which it was computed."""

    parts: tuple[CurvePart, ...]
    origin: float
    beyond: float  # the probability of losses in no part, infinite ones included
    raised: float  # the probability that some loss was below its pair's grid
    variance: float  # V above
    drift: float  # how far rounding may have moved the sum

    def above(self, epsilon: float) -> float:
        """An upper bound on delta(epsilon)."""
        x = max(epsilon - self.drift, 0.0)
        delta = math.fsum(part.above(x) for part in self.parts)
        return min(1.0, delta * (1 + 1e-12) + self._all_beyond)

    @property
    def _all_beyond(self) -> float:
        outside = math.fsum(part.beyond for part in self.parts) + self.beyond
        return outside * (1 + 1e-12)

    def below(self, epsilon: float) -> float:
        """A lower bound on delta(epsilon)."""
        x = epsilon + self.drift
        delta = math.fsum(part.below(x) for part in self.parts)
        return max(0.0, delta * (1 - 1e-12) - (self.raised + self._spread(x)) * (1 + 1e-9))

    def tolerance(self, epsilon: float, delta: float) -> float:
        """How much the delta of another curve of the same sum may differ here."""
        error = math.fsum(part.rounding_error(epsilon) for part in self.parts)
        slop = max(part.slop for part in self.parts)
        apart = 1e-9 if delta > 1e-10 else 5e-9  # observed: 1.2e-9 in far tails
        return min(delta * (apart + 8 * slop) + 4 * error, delta / 1024)

    def sufficient_epsilon(self, delta: float) -> float:
        """An epsilon at which delta is certainly enough, as small as the curve allows."""
        if self.above(0.0) <= delta:
            return 0.0
        low, high = 0.0, max(self.origin, 1e-9)
        level = delta - self.tolerance(high, delta)
        for _ in range(64):
            if self.above(high) <= level:
                return _bisect(lambda x: self.above(x) <= level, low, high)[1]
            low, high = high, 2 * high
        return math.inf

    def insufficient_epsilon(self, delta: float, high: float) -> float:
        """An epsilon at which delta is certainly not enough. The search goes down from `high`,
        at which it is enough, because the lower bound is good only near there."""
        step = 1e-12 * high
        while math.isfinite(high) and step < high:
            if self.below(high - step) > delta:
                return _bisect(lambda x: self.below(x) <= delta, high - step, high)[0]
            step *= 2
        return 0.0

    def _spread(self, x: float) -> float:
        """How much the grid may have raised delta: the mean of g, by the masses on the grid."""
        s = math.sqrt(self.variance)
        if s == 0:
            return 0.0
        sure = 1 - 2 * math.exp(-((_LEAVE - s / 2) ** 2) / 2)
        if s >= 1 or sure <= 0:
            return math.inf
        mean = rest = 0.0
        for part in self.parts:
            losses, under_q = part.under_q(x, _REACH * s)
            inside = np.maximum(np.abs(losses - x) - _LEAVE * s, 0.0)
            mean += float((under_q * _bump(inside, self.variance)).sum())
            low, high = part.ends
            far = np.array([min(_REACH * s, x - low), high - x]) - _LEAVE * s
            weights = _bump(np.maximum(far, 0.0), self.variance)
            # All other losses are far away, unless they are above the window.
            rest += float(weights[0]) + exp(-high) * part.beyond * float(weights[1])
        return exp(x) * (mean + rest) / sure


def _bump(distance: Floats, variance: float) -> Floats:
    """c(s) e**(s (s - 1) V / 2 - (s - 1) distance), for an s that makes it about least."""
    r = np.maximum(distance / variance, 1 / math.sqrt(variance))  # s - 1
    c = -r * np.log1p(1 / r) - np.log1p(r)
    bound: Floats = np.exp(c + r * (1 + r) * variance / 2 - r * distance)
    return bound


def _bisect(enough: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Two numbers close together: the second is enough, the first is not."""
    while high - low > _CLOSE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return low, high
