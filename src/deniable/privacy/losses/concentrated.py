"""Zero-concentrated differential privacy: the Renyi divergence of order a is at most rho a.

Conversion by Canonne, Kamath & Steinke 2020: for every a > 1,
delta <= exp((a - 1)(a rho - epsilon)) / (a - 1) * (1 - 1/a)**a.
Every order is valid. So a search proposes an order, and intervals compute a certified bound.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from deniable.errors import InvalidParameter, Unsupported
from deniable.exact.rationals import Number, positive, whole
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
    precision,
)
from deniable.privacy.arithmetic.roots import find_root
from deniable.privacy.losses.gaussian import GaussianLoss
from deniable.privacy.losses.loss import Loss, nonnegative

_WORK = 60


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ConcentratedLoss(Loss):
    """A loss of rho-zCDP. Sums of rho are exact; the delta curve is the optimal conversion.

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

    def _delta_above(self, epsilon: ExactEpsilon) -> Decimal:
        if self.rho == 0:
            return ZERO
        t = _best_order(self.rho, epsilon)

        def excess(p: Precision) -> Interval:
            order, tail = 1 + p(t), _tail(p(t))
            return (p(t) * (order * self.rho - epsilon.interval(p)) + tail).exp()

        return min(certify(excess).hi, ONE)

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        if self.rho == 0:
            return ZERO
        if delta == 0:
            return INFINITY
        t = _order_at(self.rho, delta)
        least = certify(lambda p: (1 + p(t)) * self.rho + _drop(p(t), p(delta)))
        return max(least.hi, ZERO)

    @property
    def attained_pairs(self) -> CountedPairs | None:
        """Gaussian noise with this rho. The worst mechanism may cost a little more."""
        return GaussianLoss(mu_squared=2 * self.rho).dominating_pairs

    def _epsilon_below(self, delta: Fraction, precision: float | None = None) -> Decimal:
        return GaussianLoss(mu_squared=2 * self.rho)._epsilon_below(delta)

    def group(self, k: int) -> "ConcentratedLoss":
        """k**2 times rho.

        >>> ConcentratedLoss(0.5).group(2)
        ConcentratedLoss(2)
        """
        return ConcentratedLoss(self.rho * whole(k, "k") ** 2)


def concentrated(loss: Loss) -> ConcentratedLoss:
    """The zCDP charge of `loss`, rounded up.

    >>> concentrated(ConcentratedLoss(0.5) * 4)
    ConcentratedLoss(2)
    """
    if loss.rho is None or loss.slack > 0:
        raise Unsupported(
            f"{loss!r} has no finite zCDP charge. Pure, concentrated and Gaussian losses have "
            "one."
        )
    return ConcentratedLoss(loss.rho)


# In the functions below, t = a - 1.


def _tail(t: Interval) -> Interval:
    """ln((1 - 1/a)**a / (a - 1)) = t ln t - (1 + t) ln(1 + t)."""
    return t * t.log() - (1 + t) * (1 + t).log()


def _drop(t: Interval, delta: Interval) -> Interval:
    """epsilon - a rho at this delta."""
    return (t / (1 + t)).log() - (delta.log() + (1 + t).log()) / t


def _best_order(rho: Fraction, epsilon: ExactEpsilon) -> Decimal:
    """Minimizes ln delta, convex in t: (2t + 1) rho = epsilon + ln(1 + 1/t). Uses u = ln t."""
    p = precision(_WORK)
    charge, goal = p(rho), epsilon.interval(p)

    def slope(u: Decimal) -> tuple[Decimal, Decimal]:
        t = p(u).exp()
        value = (t * 2 + 1) * charge - goal - (1 + 1 / t).log()
        return value.middle, (t * charge * 2 + 1 / (1 + t)).middle

    lo = (charge * -3).lo  # there ln(1 + 1/t) exceeds 3 rho
    hi = ((goal + 1) / charge + 1).log().hi  # there t >= 1, and 2 t rho exceeds epsilon + ln 2
    return p(find_root(slope, lo, hi, p)).exp().middle


def _order_at(rho: Fraction, delta: Fraction) -> Decimal:
    """Minimizes epsilon at a delta: rho t**2 + ln(1 + t) = ln(1 / delta)."""
    p = precision(_WORK)
    charge, goal = p(rho), -p(delta).log()

    def excess(t: Decimal) -> tuple[Decimal, Decimal]:
        x = p(t)
        value = charge * x * x + (1 + x).log() - goal
        return value.middle, (charge * x * 2 + 1 / (1 + x)).middle

    hi = min((goal / charge).sqrt().hi, (goal.exp() - 1).hi)
    return find_root(excess, ZERO, hi, p)


def _greatest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """ln delta is concave in rho, with slope t (1 + t) at the best order."""
    p = precision(_WORK)
    x, goal = p(epsilon), p(delta).log().middle

    def overrun(rho: Decimal) -> tuple[Decimal, Decimal]:
        t = p(_best_order(Fraction(rho), ExactEpsilon(epsilon)))
        value = t * ((1 + t) * rho - x) + _tail(t)
        return p.near.subtract(value.middle, goal), (t * (1 + t)).middle

    hi = ONE
    while overrun(hi)[0] <= 0:
        hi *= 2
    while overrun(hi / 2)[0] > 0:
        hi /= 2
    rho = find_root(overrun, hi / 2, hi, p)
    rounded, nudge = floats.floor(rho, 18), rho.scaleb(-17)
    while ConcentratedLoss(rounded)._delta_above(ExactEpsilon(epsilon)) > p(delta).lo:
        rho, nudge = p.down.subtract(rho, nudge), nudge * 8
        rounded = floats.floor(rho, 18)
    return rounded
