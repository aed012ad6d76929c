"""Bounded range: the loss of the exponential mechanism, tighter than its epsilon.

For two neighbours, the log-odds of the outputs lie in an interval of length epsilon: if the
probability of one output grows by a factor e**t, that of no output changes by a factor below
e**(t - epsilon). Durfee & Rogers, "Practical differentially private top-k selection", 2019.
This implies a pure loss of epsilon, and epsilon**2 / 8 of zCDP. For small epsilon that is a
quarter of the charge of a pure loss: Cesar & Rogers, "Bounding, concentrating, and
truncating", 2020.

The curve is exact. Let y be the inverse odds of the output. Then E(y) = 1, y lies between
e**-t and e**(epsilon - t), and max(0, 1 - e**x y) is convex in y. So its mean is greatest if y
takes only the two end values, with P(y = e**-t) = (1 - e**(t - epsilon)) / (1 - e**-epsilon).
The worst t is (x + epsilon) / 2. This gives
delta(x) = (1 - e**((x - epsilon) / 2))**2 / (1 - e**-epsilon).
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from deniable.exact.rationals import whole
from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.dominating_pairs import (
    CountedPairs,
    RangePair,
    SymmetrizedPair,
)
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.intervals import (
    ZERO,
    Interval,
    Precision,
    certify,
)
from deniable.privacy.losses.epsilon_loss import EpsilonLoss
from deniable.privacy.losses.pure import PureLoss


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RangeLoss(EpsilonLoss):
    """A loss of epsilon whose log-odds also lie in an interval of length epsilon.

    >>> RangeLoss(0.1).epsilon(), RangeLoss(0.1).rho
    (0.1, Fraction(1, 800))
    >>> RangeLoss(1).delta(0) < PureLoss(1).delta(0)
    True
    """

    @property
    def rho(self) -> Fraction:
        """epsilon**2 / 8, exact for a rational epsilon, else rounded up."""
        if not self.exact_epsilon.logs:
            return self.exact_epsilon.rational**2 / 8
        half = certify(
            lambda p: self.exact_epsilon.interval(p) * self.exact_epsilon.interval(p) / 8
        )
        return floats.ceiling(half.hi)

    @property
    def dominating_pairs(self) -> CountedPairs:
        """A pair with the same delta curve as this loss, so it dominates."""
        if self.exact_epsilon.sign() == 0:
            return ()
        return ((SymmetrizedPair(RangePair(float(self.exact_epsilon.enclose(80)[1]))), 1),)

    @property
    def attained_pairs(self) -> None:
        """None, because each delta has its own worst pair."""
        return

    def _delta_above(self, epsilon: ExactEpsilon) -> Decimal:
        gap = self.exact_epsilon - epsilon
        if gap.sign() <= 0:
            return ZERO

        def excess(p: Precision) -> Interval:
            side = 1 - (-gap.interval(p) / 2).exp()
            return side * side / (1 - (-self.exact_epsilon.interval(p)).exp())

        return certify(excess).hi

    def _least(self, delta: Fraction) -> Interval:
        if delta == 0:
            return certify(self.exact_epsilon.interval)

        def least(p: Precision) -> Interval:
            left = (
                1
                - ((1 - (-self.exact_epsilon.interval(p)).exp()) * delta).positive_part().sqrt()
            )
            if left.lo <= 0:
                return Interval(ZERO, self.exact_epsilon.interval(p).hi, p)
            return (self.exact_epsilon.interval(p) + left.log() * 2).positive_part()

        return certify(least)

    def group(self, k: int) -> "RangeLoss":
        """k times epsilon: ranges add up along a chain of neighbouring tables.

        >>> RangeLoss(0.5).group(2)
        RangeLoss(1)
        """
        return RangeLoss.of(PureLoss.of(self.exact_epsilon).group(whole(k, "k")).exact_epsilon)
