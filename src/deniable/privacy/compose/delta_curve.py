"""The delta curve of a sum of losses on a grid: upper and lower bounds, all errors included.

The tilted masses come from `convolution`. Let t be the tilt, K(t) = ln E e**(t L) of the sum L
under P, and m the masses of the tilted sum. Then
    delta(x) = e**K(t) * sum over grid losses y > x of m(y) e**(-t y) (1 - e**(x - y)).
The upper bound adds the possible rounding error, P(L beyond the window) by Chernoff's bound
e**(K(s) - s y), and the infinite losses. Mass below the window is wrapped to its top, where
untilting makes it negligible: at most e**(-t width) in total.

The lower bound. On the grid the likelihood ratio R of each pair became R M with E_Q[M | R] = 1
and ln M within a step. So for n pairs, by Hoeffding's lemma, E M**s <= e**(s (s - 1) V / 2)
with V = n step**2 / 4. Since delta(x) = E_Q (R - e**x)+, it grew by g(R) = E (R M - e**x)+ -
(R - e**x)+. This is at most e**x c(s) e**(s (s - 1) V / 2 - (s - 1) |ln R - x|) with
c(s) = (s - 1)**(s - 1) / s**s, which is negligible unless ln R is within a few sqrt(V) of x.
The grid itself gives the probability of that: ln M stays within 2.5 sqrt(V) at least 9 times
in 10.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.privacy.arithmetic.dominating_pairs import Floats
from deniable.privacy.arithmetic.floats import UNIT, exp

_REACH = 14  # the lower bound considers this many sqrt(V) around x
_LEAVE = 2.5


@dataclass(frozen=True)
class DeltaCurve:
    """delta(x) of a sum. It is most accurate near `origin`, for which it was tilted."""

    step: float
    first: int
    mass: Floats  # of the tilted sum
    tilt: float
    height: float  # K(tilt)
    origin: float
    error: float  # of each tilted mass
    beyond: float  # P(L beyond the window), infinite losses
    wrapped: float  # how much mass may have been wrapped into delta
    doubt: float  # how much of the tilted mass may have been moved by a step
    variance: float  # V above
    drift: float  # how far rounding may have moved the sum
    slop: float  # the relative error of the sum's height

    @cached_property
    def losses(self) -> Floats:
        return self.step * np.arange(self.first, self.first + self.mass.size)

    @cached_property
    def _sums(self) -> tuple[Floats, Floats]:
        """Sums from each loss y to the top of m e**(-t (y - origin)), and with t + 1."""
        mass = np.maximum(self.mass, 0.0)
        away = np.clip(self.losses - self.origin, -650 / (1 + self.tilt), None)
        once = mass * np.exp(-self.tilt * away)
        twice = once * np.exp(-away)
        return np.cumsum(once[::-1])[::-1], np.cumsum(twice[::-1])[::-1]

    def above(self, epsilon: float) -> float:
        """An upper bound on delta(epsilon)."""
        value, gross, chernoff = self._read(max(epsilon - self.drift, 0.0))
        delta = value + gross + self._rounding * chernoff
        return min(1.0, delta * (1 + self.slop) + self.beyond)

    def below(self, epsilon: float) -> float:
        """A lower bound on delta(epsilon)."""
        x = epsilon + self.drift
        value, gross, chernoff = self._read(x)
        delta = value - gross - (self._rounding + 2 * self.step * self.doubt) * chernoff
        return max(0.0, delta * (1 - self.slop) - self.wrapped - self._spread(x))

    def tolerance(self, epsilon: float, delta: float) -> float:
        """How much the delta of another curve of the same sum may differ here."""
        error = self._rounding * exp(self.height - self.tilt * epsilon)
        apart = 1e-9 if delta > 1e-10 else 5e-9  # observed: 1.2e-9 in far tails
        return min(delta * (apart + 8 * self.slop) + 4 * error, delta / 1024)

    def _read(self, x: float) -> tuple[float, float, float]:
        """The sum itself, its rounding error, and e**(K - t x)."""
        index = max(math.floor(x / self.step) + 1 - self.first, 0)
        chernoff = exp(self.height - self.tilt * x)
        once, twice = self._sums
        if index >= once.size:
            return 0.0, 0.0, chernoff
        scale = exp(self.height - self.tilt * self.origin)
        plain, discounted = float(once[index]), exp(x - self.origin) * float(twice[index])
        gross = scale * (plain + discounted) * (4 * once.size + 256) * UNIT
        return max(scale * (plain - discounted), 0.0), gross, chernoff

    @cached_property
    def _rounding(self) -> float:
        """The error of all masses, weighted by e**(-t z) (1 - e**-z) over the grid."""
        t = self.tilt
        return self.error * (1 / (self.step * t * (1 + t)) + 1 / (1 + t))

    def _spread(self, x: float) -> float:
        """How much the grid may have raised delta: the mean of g, by the masses on the grid."""
        s = math.sqrt(self.variance)
        if s == 0:
            return 0.0
        sure = 1 - 2 * math.exp(-((_LEAVE - s / 2) ** 2) / 2)
        if s >= 1 or sure <= 0:
            return math.inf
        near = math.floor((x - _REACH * s) / self.step) - self.first
        far = math.ceil((x + _REACH * s) / self.step) + 1 - self.first
        cut = slice(max(near, 0), max(far, 0))
        losses = self.losses[cut]
        under_q = exp(self.height - (self.tilt + 1) * x) * (
            (np.maximum(self.mass[cut], 0.0) + self.error)
            * np.exp(-(self.tilt + 1) * (losses - x))
        )
        inside = np.maximum(np.abs(losses - x) - _LEAVE * s, 0.0)
        outside = min(_REACH * s, x - self.first * self.step) - _LEAVE * s
        mean = float((under_q * _bump(inside, self.variance)).sum())
        rest = float(_bump(np.array([max(outside, 0.0)]), self.variance)[0])
        return exp(x) * (mean + rest) / sure


def _bump(distance: Floats, variance: float) -> Floats:
    """c(s) e**(s (s - 1) V / 2 - (s - 1) distance), for an s that makes it about least."""
    r = np.maximum(distance / variance, 1 / math.sqrt(variance))  # s - 1
    c = -r * np.log1p(1 / r) - np.log1p(r)
    bound: Floats = np.exp(c + r * (1 + r) * variance / 2 - r * distance)
    return bound
