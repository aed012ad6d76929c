"""Bounded range: what choosing with exponential weights costs, less than its epsilon says.

Between two neighbours the logarithm of an output's odds varies by at most epsilon over all
outputs: if one output becomes e**t times likelier, none becomes less than e**(t - epsilon)
times as likely. Durfee & Rogers, "Practical differentially private top-k selection", 2019. It
implies a pure loss of epsilon, and epsilon**2 / 8 of zCDP, a quarter of what a pure loss is
charged while epsilon is small: Cesar & Rogers, "Bounding, concentrating, and truncating", 2020.

The curve is exact. Let y be the inverse odds of the output: E(y) = 1, y lies between e**-t and
e**(epsilon - t), and max(0, 1 - e**x y) is convex in y, so its mean is greatest when y takes
both ends only, with P(y = e**-t) = (1 - e**(t - epsilon)) / (1 - e**-epsilon). The worst t is
(x + epsilon) / 2, which gives delta(x) = (1 - e**((x - epsilon) / 2))**2 / (1 - e**-epsilon).
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from deniable.exact.rationals import whole
from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.dominating_pairs import CountedPairs, Mirrored, Range
from deniable.privacy.arithmetic.intervals import (
    ZERO,
    Interval,
    Precision,
    certified,
)
from deniable.privacy.arithmetic.nats import Nats
from deniable.privacy.losses.nats_loss import NatsLoss
from deniable.privacy.losses.pure import PureLoss


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RangeLoss(NatsLoss):
    """A loss of epsilon whose log-odds also span no more than epsilon.

    >>> RangeLoss(0.1).epsilon(), RangeLoss(0.1).rho
    (0.1, Fraction(1, 800))
    >>> RangeLoss(1).delta(0) < PureLoss(1).delta(0)
    True
    """

    @property
    def rho(self) -> Fraction:
        """epsilon**2 / 8: exact for a rational epsilon, else rounded up."""
        if not self.nats.logs:
            return self.nats.rational**2 / 8
        half = certified(lambda p: self.nats.interval(p) * self.nats.interval(p) / 8)
        return floats.ceiling(half.hi)

    @property
    def plan(self) -> CountedPairs:
        """A pair with this loss's delta curve, which therefore dominates."""
        if self.nats.sign() == 0:
            return ()
        return ((Mirrored(Range(float(self.nats._enclosure(80)[1]))), 1),)

    @property
    def witness(self) -> None:
        """None: each delta has a worst pair of its own."""
        return

    def _delta_above(self, epsilon: Nats) -> Decimal:
        gap = self.nats - epsilon
        if gap.sign() <= 0:
            return ZERO

        def excess(p: Precision) -> Interval:
            side = 1 - (-gap.interval(p) / 2).exp()
            return side * side / (1 - (-self.nats.interval(p)).exp())

        return certified(excess).hi

    def _least(self, delta: Fraction) -> Interval:
        if delta == 0:
            return certified(self.nats.interval)

        def least(p: Precision) -> Interval:
            left = 1 - ((1 - (-self.nats.interval(p)).exp()) * delta).positive_part().sqrt()
            if left.lo <= 0:
                return Interval(ZERO, self.nats.interval(p).hi, p)
            return (self.nats.interval(p) + left.log() * 2).positive_part()

        return certified(least)

    def group(self, k: int) -> "RangeLoss":
        """k times epsilon: ranges add up along a chain of neighbours.

        >>> RangeLoss(0.5).group(2)
        RangeLoss(1)
        """
        return RangeLoss.of(PureLoss.of(self.nats).group(whole(k, "k")).nats)
