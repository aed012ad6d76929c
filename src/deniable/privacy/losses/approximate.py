"""Approximate differential privacy: epsilon, except with probability delta.

The worst (epsilon, delta) mechanism discloses everything with probability delta and otherwise
runs randomized response (Kairouz, Oh & Viswanath 2015). Its delta curve is the curve used here.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from deniable.exact.rationals import Number, whole
from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.dominating_pairs import CountedPairs
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.intervals import (
    INFINITY,
    ONE,
    ZERO,
    Interval,
    Precision,
    certify,
)
from deniable.privacy.losses.epsilon_loss import epsilon_of, show_epsilon
from deniable.privacy.losses.loss import (
    Loss,
    add_slack,
    delta_of,
    remove_slack,
)
from deniable.privacy.losses.pure import PureLoss, tradeoff_lines


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ApproximateLoss(Loss):
    """A loss of epsilon (or ln `odds`), except with probability delta.

    >>> loss = ApproximateLoss(1, 1e-6)
    >>> loss.epsilon(1e-6), loss.delta(1), loss.epsilon(1e-7)
    (1.0, 1e-06, inf)
    """

    exact_epsilon: ExactEpsilon
    slack: Fraction

    def __init__(
        self, epsilon: Number | None = None, delta: Number = 0, *, odds: Number | None = None
    ) -> None:
        object.__setattr__(self, "exact_epsilon", epsilon_of(epsilon, odds))
        object.__setattr__(self, "slack", delta_of(delta))

    @classmethod
    def of(cls, exact: ExactEpsilon, slack: Fraction) -> "ApproximateLoss":
        """The loss of an exact epsilon and delta. A delta of 1 promises nothing."""
        self = cls(0)
        object.__setattr__(self, "exact_epsilon", exact)
        object.__setattr__(self, "slack", slack)
        return self

    def __repr__(self) -> str:
        epsilon = show_epsilon(self.exact_epsilon)
        return f"ApproximateLoss({epsilon}, delta={floats.show(self.slack)})"

    @property
    def rho(self) -> Fraction:
        """The zCDP charge of the pure part: the loss is `slack`-approximate rho-zCDP."""
        return PureLoss.of(self.exact_epsilon).rho

    def _delta_above(self, epsilon: ExactEpsilon) -> Decimal:
        return add_slack(self.slack, PureLoss.of(self.exact_epsilon)._delta_above(epsilon))

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        rest = remove_slack(self.slack, delta)
        return (
            INFINITY if rest is None else PureLoss.of(self.exact_epsilon)._epsilon_above(rest)
        )

    @property
    def dominating_pairs(self) -> CountedPairs:
        """Randomized response, if not everything is disclosed."""
        return PureLoss.of(self.exact_epsilon).dominating_pairs

    def _epsilon_below(self, delta: Fraction, precision: float | None = None) -> Decimal:
        rest = remove_slack(self.slack, delta)
        return (
            INFINITY if rest is None else PureLoss.of(self.exact_epsilon)._epsilon_below(rest)
        )

    def _tradeoff_below(self, alpha: Fraction, known: Decimal = ZERO) -> Decimal:
        return certify(lambda p: tradeoff_lines(self.exact_epsilon, self.slack, alpha, p)).lo

    def group(self, k: int) -> "ApproximateLoss":
        """k epsilon, and delta (e**(k epsilon) - 1) / (e**epsilon - 1), rounded up.

        >>> ApproximateLoss(odds=2, delta=0.01).group(3)
        ApproximateLoss(odds=8, delta=0.07)
        """
        k = whole(k, "k")
        grown = PureLoss.of(self.exact_epsilon).group(k).exact_epsilon
        return ApproximateLoss.of(grown, min(Fraction(1), self._group_slack(k)))

    def _group_slack(self, k: int) -> Fraction:
        if k == 1 or self.slack == 0:
            return self.slack
        if self.exact_epsilon.sign() == 0:
            return self.slack * k
        if self.exact_epsilon.rational == 0 and len(self.exact_epsilon.logs) == 1:
            odds = self.exact_epsilon.logs[0][0] ** self.exact_epsilon.logs[0][1]
            return self.slack * (odds**k - 1) / (odds - 1)

        def growth(p: Precision) -> Interval:
            # Numerator and denominator are multiplied by e**-(k epsilon) to keep them small.
            single, many = self.exact_epsilon.interval(p), (self.exact_epsilon * k).interval(p)
            return (1 - (-many).exp()) / ((-(many - single)).exp() - (-many).exp())

        def most(p: Precision) -> Interval:
            # The factor is 1 + e**epsilon + ... + e**((k - 1) epsilon): k terms.
            return (self.exact_epsilon * (k - 1)).interval(p).exp() * k

        factor = min(certify(growth).hi, certify(most).hi)
        if factor > ONE / Decimal(self.slack.numerator) * self.slack.denominator:
            return Fraction(1)
        return self.slack * floats.ceiling(max(factor, ZERO))
