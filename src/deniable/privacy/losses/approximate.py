"""Approximate differential privacy: epsilon, except with probability delta.

The worst mechanism of (epsilon, delta) tells everything with probability delta and runs
randomized response otherwise (Kairouz, Oh & Viswanath 2015), so its curve is the curve.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from deniable.exact.rationals import Number, whole
from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.dominating_pairs import CountedPairs
from deniable.privacy.arithmetic.intervals import (
    INFINITY,
    ONE,
    ZERO,
    Interval,
    Precision,
    certified,
)
from deniable.privacy.arithmetic.nats import Nats
from deniable.privacy.losses.loss import (
    Loss,
    delta_of,
    mixed,
    unmixed,
)
from deniable.privacy.losses.nats_loss import nats_of, show_nats
from deniable.privacy.losses.pure import PureLoss, lines


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ApproximateLoss(Loss):
    """A loss of epsilon (or of `odds`), but for an excess of delta.

    >>> loss = ApproximateLoss(1, 1e-6)
    >>> loss.epsilon(1e-6), loss.delta(1), loss.epsilon(1e-7)
    (1.0, 1e-06, inf)
    """

    nats: Nats
    slack: Fraction

    def __init__(
        self, epsilon: Number | None = None, delta: Number = 0, *, odds: Number | None = None
    ) -> None:
        object.__setattr__(self, "nats", nats_of(epsilon, odds))
        object.__setattr__(self, "slack", delta_of(delta))

    @classmethod
    def of(cls, nats: Nats, slack: Fraction) -> "ApproximateLoss":
        """The loss of an exact number of nats; a slack of 1 promises nothing."""
        self = cls(0)
        object.__setattr__(self, "nats", nats)
        object.__setattr__(self, "slack", slack)
        return self

    def __repr__(self) -> str:
        return f"ApproximateLoss({show_nats(self.nats)}, delta={floats.show(self.slack)})"

    @property
    def rho(self) -> Fraction:
        """The charge of the pure part: this is `slack`-approximate rho-zCDP."""
        return PureLoss.of(self.nats).rho

    def _delta_above(self, epsilon: Nats) -> Decimal:
        return mixed(self.slack, PureLoss.of(self.nats)._delta_above(epsilon))

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        rest = unmixed(self.slack, delta)
        return INFINITY if rest is None else PureLoss.of(self.nats)._epsilon_above(rest)

    @property
    def plan(self) -> CountedPairs:
        """Randomized response, where not everything is told."""
        return PureLoss.of(self.nats).plan

    def _epsilon_below(self, delta: Fraction, precision: float | None = None) -> Decimal:
        rest = unmixed(self.slack, delta)
        return INFINITY if rest is None else PureLoss.of(self.nats)._epsilon_below(rest)

    def _tradeoff_below(self, alpha: Fraction) -> Decimal:
        return certified(lambda p: lines(self.nats, self.slack, alpha, p)).lo

    def group(self, k: int) -> "ApproximateLoss":
        """k epsilon, and delta (e**(k epsilon) - 1) / (e**epsilon - 1), rounded up.

        >>> ApproximateLoss(odds=2, delta=0.01).group(3)
        ApproximateLoss(odds=8, delta=0.07)
        """
        k = whole(k, "k")
        grown = PureLoss.of(self.nats).group(k).nats
        return ApproximateLoss.of(grown, min(Fraction(1), self._group_slack(k)))

    def _group_slack(self, k: int) -> Fraction:
        if k == 1 or self.slack == 0:
            return self.slack
        if self.nats.sign() == 0:
            return self.slack * k
        if self.nats.rational == 0 and len(self.nats.logs) == 1:
            odds = self.nats.logs[0][0] ** self.nats.logs[0][1]
            return self.slack * (odds**k - 1) / (odds - 1)

        def growth(p: Precision) -> Interval:
            # Times e**-(k epsilon) above and below, so that nothing is huge.
            one, many = self.nats.interval(p), (self.nats * k).interval(p)
            return (1 - (-many).exp()) / ((-(many - one)).exp() - (-many).exp())

        def most(p: Precision) -> Interval:
            # The factor is 1 + e**epsilon + ... + e**((k - 1) epsilon): k terms.
            return (self.nats * (k - 1)).interval(p).exp() * k

        factor = min(certified(growth).hi, certified(most).hi)
        if factor > ONE / Decimal(self.slack.numerator) * self.slack.denominator:
            return Fraction(1)
        return self.slack * floats.ceiling(max(factor, ZERO))
