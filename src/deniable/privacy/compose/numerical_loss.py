"""The loss of dominating pairs: its epsilons and deltas, computed on a grid."""

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from deniable.errors import PrecisionNotReached, Unsupported
from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.dominating_pairs import (
    CountedPairs,
    DiscretePair,
    HashedPairs,
)
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.intervals import INFINITY, ONE, ZERO
from deniable.privacy.arithmetic.repeated_pairs import GridPairs, repeat_coins
from deniable.privacy.compose.delta_curve import DeltaCurve
from deniable.privacy.compose.precision_search import (
    choose_grid,
    curve_near_delta,
    curve_near_epsilon,
    usual_precision,
)
from deniable.privacy.losses.loss import Loss

_LEAST = 1e-26  # for a smaller delta a grid gives no bound
_PROMISED = Fraction(1, 10**14)  # the least delta for which the usual precision is checked
_SHORT = Context(prec=11, rounding=ROUND_CEILING)


@dataclass(frozen=True)
class NumericalLoss(Loss):
    """The loss of all pairs together, in the direction in which it is greater."""

    pairs: CountedPairs

    @property
    def dominating_pairs(self) -> CountedPairs:
        return self.pairs

    @property
    def _certain_delta(self) -> Fraction:
        most = 0.0
        for pairs in _both_directions(self.pairs):
            parts = [(pair.infinite, n) for pair, n in pairs if isinstance(pair, DiscretePair)]
            if any(share >= 1 for share, _ in parts):
                return Fraction(1)
            logs = math.fsum(n * math.log1p(-share) for share, n in parts)
            most = max(most, -math.expm1(logs))
        return min(Fraction(1), Fraction(most) * (1 + Fraction(1, 1 << 40)))

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        return self._epsilon_at_precision(delta, None)

    def _epsilon_at_precision(self, delta: Fraction, precision: float | None) -> Decimal:
        if not self.pairs:
            return ZERO
        if delta < _LEAST or self._apart:
            return self._greatest()
        below = math.nextafter(float(delta), 0.0)
        epsilon = max(
            _curve_near_delta(direction, float(delta), precision).sufficient_epsilon(below)
            for direction in directions(self.pairs)
        )
        return min(Decimal(epsilon), self._greatest())

    def _epsilon_below(self, delta: Fraction, precision: float | None = None) -> Decimal:
        if self._apart or (delta == 0 and self.pairs):
            return self._greatest() * (1 - Decimal(2) ** -40)
        if not self.pairs or delta < _LEAST:
            return ZERO
        above = math.nextafter(float(delta), 1.0)
        curves = (
            _curve_near_delta(direction, float(delta), precision)
            for direction in directions(self.pairs)
        )
        return Decimal(
            max(
                curve.insufficient_epsilon(above, curve.sufficient_epsilon(above))
                for curve in curves
            )
        )

    def _check_precision(
        self, delta: Fraction, precision: float | None, above: Decimal
    ) -> None:
        if not above.is_finite() or (precision is None and delta < _PROMISED):
            return
        below = self._epsilon_below(delta, precision)
        goal = precision or usual_precision(float(above))
        if above - below <= Decimal(goal):
            return
        bounds = f"epsilon lies between {floats.down(below)} and {floats.up(above)}"
        if precision is None:
            raise PrecisionNotReached(
                f"The usual precision of {goal:.2g} is not reached: {bounds}. Ask for a "
                "`precision`, for which a finer grid is used, or use `epsilon(delta)`, which "
                "gives the upper bound."
            )
        raise PrecisionNotReached(
            f"A precision of {precision:g} cannot be reached: {bounds}. Ask for a precision of "
            f"{floats.up(above - below):.1g} or more."
        )

    def _delta_above(self, epsilon: ExactEpsilon) -> Decimal:
        if not self.pairs:
            return ZERO
        low = max(math.nextafter(float(epsilon.enclose(80)[0]), -1.0), 0.0)
        if self._greatest(2.0**-50) <= Decimal(low):
            return ZERO
        if self._apart:
            return ONE
        delta = max(
            _curve_near_epsilon(direction, low).above(low)
            for direction in directions(self.pairs)
        )
        # Rounded more coarsely than two curves may differ, so that delta never grows with
        # epsilon.
        return min(_SHORT.create_decimal(delta), ONE)

    def _delta_below(self, epsilon: ExactEpsilon) -> Decimal:
        if not self.pairs:
            return ZERO
        high = math.nextafter(float(epsilon.enclose(80)[1]), math.inf)
        delta = max(
            _curve_near_epsilon(direction, high).below(high)
            for direction in directions(self.pairs)
        )
        return Decimal(delta)

    @property
    def _apart(self) -> bool:
        """Whether every output of some pair reveals which distribution it came from."""
        return any(
            isinstance(pair, DiscretePair) and pair.infinite >= 1 for pair, _ in self.pairs
        )

    def _greatest(self, spare: float = 2.0**-48) -> Decimal:
        """The greatest possible loss, rounded up with a relative margin of `spare`."""
        total = 0.0
        for pair, count in self.pairs:
            if isinstance(pair, DiscretePair):
                top = max(abs(pair.losses[0]), pair.losses[-1])
                top = math.inf if pair.infinite or pair.lost else top
            else:
                top = max(map(abs, pair.span))
            total += max(top, 0.0) * count * (1 + spare)
        return Decimal(total) if math.isfinite(total) else INFINITY

    def group(self, k: int) -> Loss:
        raise Unsupported(
            f"A loss distribution has no group({k}): it does not determine the loss of several "
            "people. Take the group of the losses that it was made of."
        )


@lru_cache(maxsize=64)
def directions(pairs: CountedPairs) -> tuple[GridPairs, ...]:
    """The pairs and, unless all are symmetric, the pairs with P and Q swapped; each as it is
    put on a grid."""
    return tuple(repeat_coins(direction) for direction in _both_directions(pairs))


def _both_directions(pairs: CountedPairs) -> tuple[CountedPairs, ...]:
    if all(pair.symmetric for pair, _ in pairs):
        return (pairs,)
    return pairs, HashedPairs((pair.reverse(), count) for pair, count in pairs)


@lru_cache(maxsize=8)
def _curve_near_delta(pairs: GridPairs, delta: float, precision: float | None) -> DeltaCurve:
    at = None if precision is None else delta
    return curve_near_delta(pairs, choose_grid(pairs, at, precision), delta)


@lru_cache(maxsize=32)
def _curve_near_epsilon(pairs: GridPairs, epsilon: float) -> DeltaCurve:
    return curve_near_epsilon(pairs, choose_grid(pairs, None, None), epsilon)
