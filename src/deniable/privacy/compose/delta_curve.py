"""The delta curve of a sum of losses on a grid: from above and from below, errors included.

The masses come tilted, from `convolution`. Then, with t the
tilt, K(t) = ln E e**(t L) of the sum L under P, and masses m of the tilted sum,
    delta(x) = e**K(t) * sum over grid losses y > x of m(y) e**(-t y) (1 - e**(x - y)),
to which is added, for the upper bound, what rounding may have taken away, P(L beyond the
window) by Chernoff's bound e**(K(s) - s y), and the infinite losses. Mass below the window
wraps to its top, where untilting makes it harmless: at most e**(-t width) in all.

The lower bound. On the grid each pair's likelihood ratio R became R M with E_Q[M | R] = 1 and
ln M within a step, so for n pairs, by Hoeffding's lemma, E M**s <= e**(s (s - 1) V / 2) with
V = n step**2 / 4. Since delta(x) = E_Q (R - e**x)+, it grew by g(R) = E (R M - e**x)+ -
(R - e**x)+, which is at most e**x c(s) e**(s (s - 1) V / 2 - (s - 1) |ln R - x|) with
c(s) = (s - 1)**(s - 1) / s**s: nothing unless R is within a few sqrt(V) of e**x. How often it
is there, the grid itself tells: ln M stays within 2.5 sqrt(V) at least 9 times in 10.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.privacy.arithmetic.dominating_pairs import Floats
from deniable.privacy.arithmetic.floats import UNIT

_REACH = 14  # so many sqrt(V) around x are looked at for the lower bound
_LEAVE = 2.5


@dataclass(frozen=True)
class DeltaCurve:
    """delta(x) of a sum, most accurate near `origin`, for which it was tilted."""

    step: float
    first: int
    mass: Floats  # of the tilted sum
    tilt: float
    height: float  # K(tilt)
    origin: float
    error: float  # of each tilted mass
    beyond: float  # P(L beyond the window), infinite losses
    wrapped: float  # what may have been wrapped into delta
    doubt: float  # of the tilted law, moved by a step
    variance: float  # V above
    drift: float  # by how much rounding may have misplaced the sum
    slop: float  # the relative error of the sum's height

    @cached_property
    def losses(self) -> Floats:
        return self.step * np.arange(self.first, self.first + self.mass.size)

    @cached_property
    def _sums(self) -> tuple[Floats, Floats]:
        """Sums from each loss y to the top of m e**(-t (y - origin)), and with t + 1."""
        kept = np.maximum(self.mass, 0.0)
        away = np.clip(self.losses - self.origin, -650 / (1 + self.tilt), None)
        once = kept * np.exp(-self.tilt * away)
        twice = once * np.exp(-away)
        return np.cumsum(once[::-1])[::-1], np.cumsum(twice[::-1])[::-1]

    def above(self, epsilon: float) -> float:
        """At least delta(epsilon)."""
        value, gross, chernoff = self._read(max(epsilon - self.drift, 0.0))
        found = value + gross + self._rounding * chernoff
        return min(1.0, found * (1 + self.slop) + self.beyond)

    def below(self, epsilon: float) -> float:
        """At most delta(epsilon)."""
        x = epsilon + self.drift
        value, gross, chernoff = self._read(x)
        found = value - gross - (self._rounding + 2 * self.step * self.doubt) * chernoff
        return max(0.0, found * (1 - self.slop) - self.wrapped - self._spread(x))

    def play(self, epsilon: float, delta: float) -> float:
        """By how much another curve of the same sum may read another delta here."""
        error = self._rounding * _exp(self.height - self.tilt * epsilon)
        apart = 1e-9 if delta > 1e-10 else 5e-9  # seen: 1.2e-9 in far tails
        return min(delta * (apart + 8 * self.slop) + 4 * error, delta / 1024)

    def _read(self, x: float) -> tuple[float, float, float]:
        """The sum itself, its rounding error, and e**(K - t x)."""
        index = max(math.floor(x / self.step) + 1 - self.first, 0)
        chernoff = _exp(self.height - self.tilt * x)
        once, twice = self._sums
        if index >= once.size:
            return 0.0, 0.0, chernoff
        scale = _exp(self.height - self.tilt * self.origin)
        kept, discounted = float(once[index]), _exp(x - self.origin) * float(twice[index])
        gross = scale * (kept + discounted) * (4 * once.size + 256) * UNIT
        return max(scale * (kept - discounted), 0.0), gross, chernoff

    @cached_property
    def _rounding(self) -> float:
        """An error in every mass, weighed by e**(-t z) (1 - e**-z) over the grid."""
        t = self.tilt
        return self.error * (1 / (self.step * t * (1 + t)) + 1 / (1 + t))

    def _spread(self, x: float) -> float:
        """By how much the grid may have raised delta: the mean of g, by the grid's own law."""
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
        under_q = _exp(self.height - (self.tilt + 1) * x) * (
            (np.maximum(self.mass[cut], 0.0) + self.error)
            * np.exp(-(self.tilt + 1) * (losses - x))
        )
        inside = np.maximum(np.abs(losses - x) - _LEAVE * s, 0.0)
        outside = min(_REACH * s, x - self.first * self.step) - _LEAVE * s
        mean = float((under_q * _bump(inside, self.variance)).sum())
        rest = float(_bump(np.array([max(outside, 0.0)]), self.variance)[0])
        return _exp(x) * (mean + rest) / sure


def _bump(distance: Floats, variance: float) -> Floats:
    """The least of c(s) e**(s (s - 1) V / 2 - (s - 1) distance) over the s that are tried."""
    r = np.maximum(distance / variance, 1 / math.sqrt(variance))  # s - 1
    c = -r * np.log1p(1 / r) - np.log1p(r)
    found: Floats = np.exp(c + r * (1 + r) * variance / 2 - r * distance)
    return found


def _exp(x: float) -> float:
    return math.exp(x) if x < 709 else math.inf
