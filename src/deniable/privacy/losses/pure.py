"""Pure differential privacy: no probability grows by more than a factor of e**epsilon.

The worst mechanism of a given epsilon is randomized response. Its delta curve is used here:
delta(x) = (e**epsilon - e**x) / (1 + e**epsilon) for x below epsilon, and 0 above.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from deniable.exact.rationals import whole
from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.dominating_pairs import CountedPairs, DiscretePair
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.intervals import (
    ZERO,
    Interval,
    Precision,
    certify,
)
from deniable.privacy.losses.epsilon_loss import EpsilonLoss


@dataclass(frozen=True, slots=True, init=False, repr=False)
class PureLoss(EpsilonLoss):
    """A loss of epsilon, stored exactly: as a rational, or as the rational odds e**epsilon.

    `PureLoss(0)` is allowed: an output that ignores the data costs nothing.

    >>> PureLoss(0.1).epsilon(), PureLoss(odds=3).epsilon()
    (0.1, 1.0986122886681098)
    >>> PureLoss(odds=3).tradeoff(0.05)  # 5% false alarms: at least 85% go unnoticed
    0.85
    """

    @property
    def rho(self) -> Fraction:
        """epsilon tanh(epsilon / 2), the charge of randomized response, rounded up."""

        def charge(p: Precision) -> Interval:
            inverse = (-self.exact_epsilon.interval(p)).exp()
            return self.exact_epsilon.interval(p) * (1 - inverse) / (1 + inverse)

        return floats.ceiling(certify(charge).hi)

    @property
    def dominating_pairs(self) -> CountedPairs:
        """Randomized response."""
        return ((DiscretePair.randomized_response(self.exact_epsilon), 1),)

    def _delta_above(self, epsilon: ExactEpsilon) -> Decimal:
        gap = self.exact_epsilon - epsilon
        if gap.sign() <= 0:
            return ZERO

        def excess(p: Precision) -> Interval:
            bottom = 1 + (-self.exact_epsilon.interval(p)).exp()
            return (1 - (-gap.interval(p)).exp()) / bottom

        return certify(excess).hi

    def _least(self, delta: Fraction) -> Interval:
        if delta == 0:
            return certify(self.exact_epsilon.interval)

        def least(p: Precision) -> Interval:
            rest = 1 - (1 + (-self.exact_epsilon.interval(p)).exp()) * delta
            if rest.hi <= 0:
                return p(0)
            if rest.lo <= 0:
                return Interval(ZERO, self.exact_epsilon.interval(p).hi, p)
            return (self.exact_epsilon.interval(p) + rest.log()).positive_part()

        return certify(least)

    def _tradeoff_below(self, alpha: Fraction, known: Decimal = ZERO) -> Decimal:
        return certify(lambda p: tradeoff_lines(self.exact_epsilon, Fraction(0), alpha, p)).lo

    def group(self, k: int) -> "PureLoss":
        """k times epsilon: the odds are raised to the power k.

        >>> PureLoss(odds=3).group(2)
        PureLoss(odds=9)
        """
        k = whole(k, "k")
        logs = tuple((odds ** (n * k), 1) for odds, n in self.exact_epsilon.logs)
        return PureLoss.of(ExactEpsilon(self.exact_epsilon.rational * k, logs))


def tradeoff_lines(
    exact: ExactEpsilon, slack: Fraction, alpha: Fraction, p: Precision
) -> Interval:
    """The trade-off of (epsilon, delta): the higher of its two lines, or zero."""
    odds = exact.odds(p)
    steep, flat = 1 - slack - odds * alpha, p(1 - slack - alpha) / odds
    return Interval(max(steep.lo, flat.lo), max(steep.hi, flat.hi), p).positive_part()
