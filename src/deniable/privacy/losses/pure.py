"""Pure differential privacy: no event becomes more than e**epsilon times likelier.

The worst mechanism of a given epsilon is randomized response, so its curve is the curve:
delta(x) = (e**epsilon - e**x) / (1 + e**epsilon) for x below epsilon, and 0 above.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from deniable.exact.rationals import whole
from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.dominating_pairs import Atoms, CountedPairs
from deniable.privacy.arithmetic.intervals import (
    ZERO,
    Interval,
    Precision,
    certified,
)
from deniable.privacy.arithmetic.nats import Nats
from deniable.privacy.losses.nats_loss import NatsLoss


@dataclass(frozen=True, slots=True, init=False, repr=False)
class PureLoss(NatsLoss):
    """A loss of epsilon, held exactly: as a rational, or as the rational odds e**epsilon.

    `PureLoss(0)` is allowed: an output that ignores the data loses nothing.

    >>> PureLoss(0.1).epsilon(), PureLoss(odds=3).epsilon()
    (0.1, 1.0986122886681098)
    >>> PureLoss(odds=3).tradeoff(0.05)  # 5% false alarms: at least 85% go unnoticed
    0.85
    """

    @property
    def rho(self) -> Fraction:
        """epsilon tanh(epsilon / 2), exact for randomized response, rounded up."""

        def charge(p: Precision) -> Interval:
            inverse = (-self.nats.interval(p)).exp()
            return self.nats.interval(p) * (1 - inverse) / (1 + inverse)

        return floats.ceiling(certified(charge).hi)

    @property
    def plan(self) -> CountedPairs:
        """Randomized response."""
        return ((Atoms.response(self.nats), 1),)

    def _delta_above(self, epsilon: Nats) -> Decimal:
        gap = self.nats - epsilon
        if gap.sign() <= 0:
            return ZERO

        def excess(p: Precision) -> Interval:
            bottom = 1 + (-self.nats.interval(p)).exp()
            return (1 - (-gap.interval(p)).exp()) / bottom

        return certified(excess).hi

    def _least(self, delta: Fraction) -> Interval:
        if delta == 0:
            return certified(self.nats.interval)

        def least(p: Precision) -> Interval:
            rest = 1 - (1 + (-self.nats.interval(p)).exp()) * delta
            if rest.hi <= 0:
                return p(0)
            if rest.lo <= 0:
                return Interval(ZERO, self.nats.interval(p).hi, p)
            return (self.nats.interval(p) + rest.log()).positive_part()

        return certified(least)

    def _tradeoff_below(self, alpha: Fraction) -> Decimal:
        return certified(lambda p: lines(self.nats, Fraction(0), alpha, p)).lo

    def group(self, k: int) -> "PureLoss":
        """k times epsilon: the odds are raised to the power k.

        >>> PureLoss(odds=3).group(2)
        PureLoss(odds=9)
        """
        k = whole(k, "k")
        logs = tuple((odds ** (n * k), 1) for odds, n in self.nats.logs)
        return PureLoss.of(Nats(self.nats.rational * k, logs))


def lines(nats: Nats, slack: Fraction, alpha: Fraction, p: Precision) -> Interval:
    """The trade-off of (epsilon, delta): the higher of its two lines, or zero."""
    odds = nats.odds(p)
    steep, flat = 1 - slack - odds * alpha, p(1 - slack - alpha) / odds
    return Interval(max(steep.lo, flat.lo), max(steep.hi, flat.hi), p).positive_part()
