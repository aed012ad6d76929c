"""One part of the distribution of a sum of grid losses, on a window, with its errors."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.privacy.arithmetic.dominating_pairs import Floats
from deniable.privacy.arithmetic.floats import UNIT, exp
from deniable.privacy.compose.tail_bounds import TailBounds

_HUGE = 700.0  # e**700 is a float, and above any mass that matters


@dataclass(frozen=True)
class CurvePart:
    """The tilted masses of a part. It is most accurate near `origin`."""

    step: float
    first: int
    mass: Floats
    tilt: float
    height: float  # K(tilt)
    origin: float
    error: float  # of each tilted mass
    tails: TailBounds | None  # of the losses outside the window; None if it holds all losses
    doubt: float  # how much of the tilted mass may have been moved by a step
    slop: float  # the relative error of the part's height

    @property
    def ends(self) -> tuple[float, float]:
        """Where the window begins and ends."""
        return self.first * self.step, (self.first + self.mass.size) * self.step

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

    def above(self, x: float) -> float:
        """An upper bound on what the part adds to delta(x)."""
        value, gross, chernoff = self._read(x)
        return (value + gross + self._rounding * chernoff) * (1 + self.slop) + self._missing(x)

    def below(self, x: float) -> float:
        """A lower bound, before `DeltaCurve` subtracts what the grid may have added."""
        value, gross, chernoff = self._read(x)
        sure = value - gross - (self._rounding + 2 * self.step * self.doubt) * chernoff
        return max(0.0, sure * (1 - self.slop) - self._wrapped(x) * (1 + 1e-9))

    def rounding_error(self, x: float) -> float:
        """How much rounding may have changed delta(x)."""
        return self._rounding * exp(self.height - self.tilt * x)

    @cached_property
    def beyond(self) -> float:
        """An upper bound on the probability of losses above the window."""
        if self.tails is None or self.tails.height.most < self.first + self.mass.size:
            return 0.0
        return self.tails.above(self.ends[1])

    def _missing(self, x: float) -> float:
        """How much of delta may come from losses between x and the window."""
        start = self.ends[0]
        if self.tails is None or x >= start:
            return 0.0
        return -math.expm1(x - start) * self.tails.below(start)

    def _wrapped(self, x: float) -> float:
        """How much of what is read above x may come from outside the window."""
        if self.tails is None:
            return 0.0
        return self.tails.wrapped(x, self.ends[0], self.mass.size * self.step)

    def _read(self, x: float) -> tuple[float, float, float]:
        """The sum itself, its rounding error, and e**(K - t x)."""
        index = max(math.floor(x / self.step) + 1 - self.first, 0)
        chernoff = exp(self.height - self.tilt * x)
        once, twice = self._sums
        if index >= once.size:
            return 0.0, 0.0, chernoff
        scale = exp(self.height - self.tilt * self.origin)
        plain = float(once[index])
        if x - self.origin > _HUGE:  # e**(x - origin) may be no float
            return 0.0, scale * plain * (1 + 1e-9), chernoff
        discounted = exp(x - self.origin) * float(twice[index])
        gross = scale * (plain + discounted) * (4 * once.size + 256) * UNIT
        return max(scale * (plain - discounted), 0.0), gross, chernoff

    @cached_property
    def _rounding(self) -> float:
        """The error of all masses, weighted by e**(-t z) (1 - e**-z) over the grid."""
        t = self.tilt
        return self.error * (1 / (self.step * t * (1 + t)) + 1 / (1 + t))

    def raised_under_q(self, x: float, reach: float) -> tuple[Floats, Floats]:
        """The losses within `reach` of x, and upper bounds on their masses under Q times e**x,
        which neither overflow nor underflow."""
        near = math.floor((x - reach) / self.step) - self.first
        far = math.ceil((x + reach) / self.step) + 1 - self.first
        cut = slice(max(near, 0), max(far, 0))
        losses = self.losses[cut]
        mass = np.maximum(self.mass[cut], 0.0) + self.error
        logs = np.minimum(self.height - self.tilt * losses + (x - losses), _HUGE)
        return losses, mass * np.exp(logs) * (1 + self.slop)
