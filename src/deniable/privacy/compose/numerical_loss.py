"""A plan of worst pairs as a loss: its epsilons and deltas, found on a grid."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from deniable.errors import Unsupported
from deniable.privacy.arithmetic.dominating_pairs import Atoms, CountedPairs
from deniable.privacy.arithmetic.intervals import INFINITY, ONE, ZERO
from deniable.privacy.arithmetic.nats import Nats
from deniable.privacy.compose.delta_curve import DeltaCurve
from deniable.privacy.compose.numerical import curve, sketch
from deniable.privacy.losses.loss import Loss

_LEAST = 1e-26  # below such a delta a grid has nothing to say
_SHORT = Context(prec=11, rounding=ROUND_CEILING)
_CLOSE = 2.0**-42


@dataclass(frozen=True)
class Numerical(Loss):
    """The loss of all pairs of a plan, in whichever direction it is greater."""

    worst: CountedPairs

    @property
    def plan(self) -> CountedPairs:
        return self.worst

    @property
    def _told(self) -> Fraction:
        most = 0.0
        for plan in directions(self.worst):
            parts = [(pair.infinite, n) for pair, n in plan if isinstance(pair, Atoms)]
            if any(share >= 1 for share, _ in parts):
                return Fraction(1)
            logs = math.fsum(n * math.log1p(-share) for share, n in parts)
            most = max(most, -math.expm1(logs))
        return min(Fraction(1), Fraction(most) * (1 + Fraction(1, 1 << 40)))

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        return self._epsilon_near(delta, None)

    def _epsilon_near(self, delta: Fraction, precision: float | None) -> Decimal:
        if not self.worst:
            return ZERO
        if delta < _LEAST or self._apart:
            return self._greatest()
        target = math.nextafter(float(delta), 0.0)
        found = max(_least_epsilon(one, target, precision) for one in directions(self.worst))
        return min(Decimal(found), self._greatest())

    def _epsilon_below(self, delta: Fraction, precision: float | None = None) -> Decimal:
        if self._apart or (delta == 0 and self.worst):
            return self._greatest() * (1 - Decimal(2) ** -40)
        if not self.worst or delta < _LEAST:
            return ZERO
        target = math.nextafter(float(delta), 1.0)
        return Decimal(
            max(_sure_epsilon(one, target, precision) for one in directions(self.worst))
        )

    def _delta_above(self, epsilon: Nats) -> Decimal:
        if not self.worst:
            return ZERO
        low = max(math.nextafter(float(epsilon._enclosure(80)[0]), -1.0), 0.0)
        if self._greatest(2.0**-50) <= Decimal(low):
            return ZERO
        if self._apart:
            return ONE
        found = max(_near_epsilon(one, low).above(low) for one in directions(self.worst))
        # Coarser than what two curves may differ by, so that a larger epsilon never has the
        # larger delta.
        return min(_SHORT.create_decimal(found), ONE)

    def _delta_below(self, epsilon: Nats) -> Decimal:
        if not self.worst:
            return ZERO
        high = math.nextafter(float(epsilon._enclosure(80)[1]), math.inf)
        found = max(_near_epsilon(one, high).below(high) for one in directions(self.worst))
        return Decimal(found)

    @property
    def _apart(self) -> bool:
        """Whether some pair is told apart by every output."""
        return any(isinstance(pair, Atoms) and pair.infinite >= 1 for pair, _ in self.worst)

    def _greatest(self, spare: float = 2.0**-48) -> Decimal:
        """The greatest possible loss, rounded up by a little to spare."""
        total = 0.0
        for pair, count in self.worst:
            if isinstance(pair, Atoms):
                top = max(abs(pair.losses[0]), pair.losses[-1])
                top = math.inf if pair.infinite or pair.lost else top
            else:
                top = max(map(abs, pair.span))
            total += max(top, 0.0) * count * (1 + spare)
        return Decimal(total) if math.isfinite(total) else INFINITY

    def group(self, k: int) -> Loss:
        raise Unsupported(
            f"A loss distribution does not tell what {k} people together would lose. Take the "
            "group of the losses it was made of."
        )


@lru_cache(maxsize=64)
def directions(plan: CountedPairs) -> tuple[CountedPairs, ...]:
    """The plan and, unless it is the same, the plan with every P and Q swapped."""
    if all(pair.symmetric for pair, _ in plan):
        return (plan,)
    return plan, tuple((pair.reverse(), count) for pair, count in plan)


@lru_cache(maxsize=32)
def _near_delta(plan: CountedPairs, delta: float, precision: float | None) -> DeltaCurve:
    seen = sketch(plan)
    tilt = seen.tilt_for_delta(delta)
    return curve(plan, tilt, max(seen.epsilon(tilt, delta), 0.0), delta, precision)


@lru_cache(maxsize=128)
def _near_epsilon(plan: CountedPairs, epsilon: float) -> DeltaCurve:
    seen = sketch(plan)
    tilt = seen.tilt_for_epsilon(epsilon)
    log = seen.bound(tilt, epsilon)
    return curve(plan, tilt, epsilon, math.exp(min(max(log, -57.0), 0.0)))


def _least_epsilon(plan: CountedPairs, delta: float, precision: float | None) -> float:
    """An epsilon at which delta is surely enough, as small as the curve allows."""
    found = _near_delta(plan, delta, precision)
    if found.above(0.0) <= delta:
        return 0.0
    low, high = 0.0, max(found.origin, 1e-9)
    level = delta - found.play(high, delta)
    for _ in range(64):
        if found.above(high) <= level:
            return _halved(lambda x: found.above(x) <= level, low, high)[1]
        low, high = high, 2 * high
    return math.inf


def _sure_epsilon(plan: CountedPairs, delta: float, precision: float | None) -> float:
    """An epsilon at which delta is surely not enough; sought downwards from where it may be,
    as the lower bound is only good near there."""
    found = _near_delta(plan, delta, precision)
    high = _least_epsilon(plan, delta, precision)
    step = 1e-12 * high
    while math.isfinite(high) and step < high:
        if found.below(high - step) > delta:
            return _halved(lambda x: found.below(x) <= delta, high - step, high)[0]
        step *= 2
    return 0.0


def _halved(enough: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Numbers close together, of which the second is enough and the first is not."""
    while high - low > _CLOSE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return low, high
