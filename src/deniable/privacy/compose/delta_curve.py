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
with V = n step**2 / 4, and -V / 2 <= E ln M <= 0 and E (ln M)**2 <= V + V**2 / 4. Since
delta(x) = E_Q (R - e**x)+, it grew by the mean of g(R) = E (R M - e**x)+ - (R - e**x)+. With
a = |ln R - x| and c(r) = r**r / (1 + r)**(1 + r), for every r > 0,
    g(R) <= e**x c(r) e**(r (1 + r) V / 2 - r a),
and r = max(a, sqrt(V)) / V is a good choice. The grid shows where ln(R M) lies, but not R. By
Jensen's inequality, the mean of k(y) = e**(-(y - x)**2 / (2 w V)) at y = ln(R M) is at least
e**(-(a**2 / V + a + 1 + V / 4) / (2 w)). So A k(y), with A as in `_kernel`, has a mean of at
least g(R) e**-x, and e**x A times the mean of k, by the masses on the grid, is at least the
growth of delta.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable.privacy.arithmetic.floats import exp
from deniable.privacy.compose.curve_part import CurvePart

_REACH = 14  # the lower bound considers this many sqrt(V) around x
_WIDER = 1.5  # w above
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

    def gap(self, delta: float) -> float:
        """How far the bounds on the epsilon at delta are apart."""
        high = self.sufficient_epsilon(delta)
        gap = high - self.insufficient_epsilon(delta, high)
        return math.inf if math.isnan(gap) else gap  # no bound: a finer grid may have one

    def _spread(self, x: float) -> float:
        """How much the grid may have raised delta: the mean of g, by the masses on the grid."""
        s = math.sqrt(self.variance)
        if s == 0:
            return 0.0
        if s >= 1:
            return math.inf
        mean = rest = 0.0
        for part in self.parts:
            losses, raised = part.raised_under_q(x, _REACH * s)
            mean += float((raised * np.exp(-((losses - x) ** 2) / self._twice_width)).sum())
            low, high = part.ends
            down, up = max(min(_REACH * s, x - low), 0.0), max(high - x, 0.0)
            # All other losses are far away, unless they are above the window. What lies at
            # y < x - down has at most e**-y under Q for each unit under P, and at these
            # distances k falls faster than e**-y grows.
            rest += exp(down - down**2 / self._twice_width)
            if part.beyond:
                rest += exp(x - high - up**2 / self._twice_width) * part.beyond
        return _kernel(s) * (mean + rest) * (1 + 1e-9)

    @property
    def _twice_width(self) -> float:
        return 2 * _WIDER * self.variance


def _kernel(s: float) -> float:
    """A, for V = s**2.

    For a <= s, r = 1 / s, and the exponent that A must exceed is greatest at a = 0. For a >= s,
    r = a / V, c(r) <= c(1 / s), and what is left of the exponent,
    a (1 + 1 / w) / 2 - a**2 (1 - 1 / w) / (2 V), is at most V / (2 (1 - 1 / w)).
    """
    v, r = s * s, 1 / s
    c = -r * math.log1p(1 / r) - math.log1p(r)
    peak = max((1 + s) / 2, v / (2 * (1 - 1 / _WIDER)))
    return exp(c + peak + (1 + v / 4) / (2 * _WIDER))


def _bisect(enough: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Two numbers close together: the second is enough, the first is not."""
    while high - low > _CLOSE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return low, high
