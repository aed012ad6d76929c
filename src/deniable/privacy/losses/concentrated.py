"""Zero-concentrated differential privacy: Renyi divergences of order a within rho a.

Conversion by Canonne, Kamath & Steinke 2020: for every a > 1,
delta <= exp((a - 1)(a rho - epsilon)) / (a - 1) * (1 - 1/a)**a.
Every order is valid, so a search may propose one and intervals then decide what it gives.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from deniable.errors import InvalidParameter, Unsupported
from deniable.exact.rationals import Number, positive, whole
from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.dominating_pairs import CountedPairs
from deniable.privacy.arithmetic.intervals import (
    INFINITY,
    ONE,
    ZERO,
    Interval,
    Precision,
    certified,
    precision,
)
from deniable.privacy.arithmetic.nats import Nats
from deniable.privacy.arithmetic.roots import root
from deniable.privacy.losses.gaussian import GaussianLoss
from deniable.privacy.losses.loss import Loss, nonnegative

_WORK = 60


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ConcentratedLoss(Loss):
    """A loss of rho-zCDP. Sums of rho are exact; the curve is the optimal conversion's.

    >>> f"{ConcentratedLoss(0.5).epsilon(1e-6):.7f}"
    '5.2215344'
    """

    rho: Fraction

    def __init__(self, rho: Number) -> None:
        object.__setattr__(self, "rho", nonnegative(rho, "rho"))

    @classmethod
    def calibrated(cls, *, epsilon: Number, delta: Number) -> "ConcentratedLoss":
        """The greatest rho that keeps (epsilon, delta), rounded down.

        >>> f"{float(ConcentratedLoss.calibrated(epsilon=1, delta=1e-6).rho):.8f}"
        '0.02435597'
        """
        target = positive(delta, "delta")
        if target >= 1:
            raise InvalidParameter(f"`delta` must be below 1. Found {delta}.")
        exact = nonnegative(epsilon, "epsilon")
        return cls(_greatest_rho(exact, target))

    def __repr__(self) -> str:
        return f"ConcentratedLoss({floats.show(self.rho)})"

    def _delta_above(self, epsilon: Nats) -> Decimal:
        if self.rho == 0:
            return ZERO
        t = _best_order(self.rho, epsilon)

        def excess(p: Precision) -> Interval:
            order, tail = 1 + p(t), _tail(p(t))
            return (p(t) * (order * self.rho - epsilon.interval(p)) + tail).exp()

        return min(certified(excess).hi, ONE)

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        if self.rho == 0:
            return ZERO
        if delta == 0:
            return INFINITY
        t = _order_at(self.rho, delta)
        least = certified(lambda p: (1 + p(t)) * self.rho + _drop(p(t), p(delta)))
        return max(least.hi, ZERO)

    @property
    def witness(self) -> CountedPairs | None:
        """Gaussian noise with this rho, which is a little cheaper than the worst may be."""
        return GaussianLoss(mu_squared=2 * self.rho).plan

    def _epsilon_below(self, delta: Fraction, precision: float | None = None) -> Decimal:
        return GaussianLoss(mu_squared=2 * self.rho)._epsilon_below(delta)

    def group(self, k: int) -> "ConcentratedLoss":
        """k**2 times rho.

        >>> ConcentratedLoss(0.5).group(2)
        ConcentratedLoss(2)
        """
        return ConcentratedLoss(self.rho * whole(k, "k") ** 2)


def concentrated(loss: Loss) -> ConcentratedLoss:
    """What `loss` costs a zCDP ledger, rounded up.

    >>> concentrated(ConcentratedLoss(0.5) * 4)
    ConcentratedLoss(2)
    """
    if loss.rho is None or loss.slack > 0:
        raise Unsupported(
            f"{loss!r} has no finite zCDP charge. Pure, concentrated and Gaussian losses have."
        )
    return ConcentratedLoss(loss.rho)


# With t = a - 1:


def _tail(t: Interval) -> Interval:
    """ln((1 - 1/a)**a / (a - 1)) = t ln t - (1 + t) ln(1 + t)."""
    return t * t.log() - (1 + t) * (1 + t).log()


def _drop(t: Interval, delta: Interval) -> Interval:
    """How much less than a rho epsilon is, at this delta."""
    return (t / (1 + t)).log() - (delta.log() + (1 + t).log()) / t


def _best_order(rho: Fraction, epsilon: Nats) -> Decimal:
    """Minimises ln delta, convex in t: (2t + 1) rho = epsilon + ln(1 + 1/t). In u = ln t."""
    p = precision(_WORK)
    charge, goal = p(rho), epsilon.interval(p)

    def slope(u: Decimal) -> tuple[Decimal, Decimal]:
        t = p(u).exp()
        value = (t * 2 + 1) * charge - goal - (1 + 1 / t).log()
        return value.middle, (t * charge * 2 + 1 / (1 + t)).middle

    lo = (charge * -3).lo  # there ln(1 + 1/t) exceeds 3 rho
    hi = ((goal + 1) / charge + 1).log().hi  # there t >= 1, and 2 t rho exceeds epsilon + ln 2
    return p(root(slope, lo, hi, p)).exp().middle


def _order_at(rho: Fraction, delta: Fraction) -> Decimal:
    """Minimises epsilon at a delta: rho t**2 + ln(1 + t) = ln(1 / delta)."""
    p = precision(_WORK)
    charge, goal = p(rho), -p(delta).log()

    def excess(t: Decimal) -> tuple[Decimal, Decimal]:
        x = p(t)
        value = charge * x * x + (1 + x).log() - goal
        return value.middle, (charge * x * 2 + 1 / (1 + x)).middle

    hi = min((goal / charge).sqrt().hi, (goal.exp() - 1).hi)
    return root(excess, ZERO, hi, p)


def _greatest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """ln delta is concave in rho, with slope t (1 + t) at the best order."""
    p = precision(_WORK)
    x, goal = p(epsilon), p(delta).log().middle

    def overrun(rho: Decimal) -> tuple[Decimal, Decimal]:
        t = p(_best_order(Fraction(rho), Nats(epsilon)))
        value = t * ((1 + t) * rho - x) + _tail(t)
        return p.near.subtract(value.middle, goal), (t * (1 + t)).middle

    hi = ONE
    while overrun(hi)[0] <= 0:
        hi *= 2
    while overrun(hi / 2)[0] > 0:
        hi /= 2
    rho = root(overrun, hi / 2, hi, p)
    found, nudge = floats.floor(rho, 18), rho.scaleb(-17)
    while ConcentratedLoss(found)._delta_above(Nats(epsilon)) > p(delta).lo:
        rho, nudge = p.down.subtract(rho, nudge), nudge * 8
        found = floats.floor(rho, 18)
    return found
