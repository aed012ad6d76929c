"""Renyi differential privacy at fixed orders: curves, sums and the optimal conversion.

The divergence of order a is at most `divergence(loss, a)`: a rho for zCDP, a mu**2 / 2 for
Gaussian noise, and ln(p**a q**(1-a) + q**a p**(1-a)) / (a - 1) for a pure loss. The worst pure
mechanism is randomized response with p = e**epsilon / (1 + e**epsilon) and q = 1 - p.
Divergences of one order add up (Mironov 2017). Conversion (Canonne, Kamath & Steinke 2020):
epsilon = d + ln((a - 1) / a) - (ln delta + ln a) / (a - 1), at the best of the given orders.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from deniable.errors import InvalidParameter, Unsupported
from deniable.exact.rationals import Number, rational
from deniable.privacy.arithmetic import floats
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
from deniable.privacy.losses.loss import Loss, nonnegative

ORDERS = (1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RenyiLoss(Loss):
    """Divergences at a few orders. Each of them is a guarantee.

    >>> loss = RenyiLoss({2: 1, 16: 8})
    >>> f"{loss.epsilon(1e-6):.6f}"
    '8.671656'
    """

    curve: tuple[tuple[Fraction, Fraction], ...]

    def __init__(self, curve: Mapping[Number, Number]) -> None:
        if not curve:
            raise InvalidParameter("`curve` must hold at least one order. Found none.")
        pairs = sorted((order_of(a), nonnegative(d, "divergence")) for a, d in curve.items())
        object.__setattr__(self, "curve", tuple(pairs))

    @classmethod
    def of(cls, loss: Loss, orders: Iterable[Number] = ORDERS) -> "RenyiLoss":
        """The divergences of a loss at these orders, rounded up.

        >>> from deniable.privacy import GaussianLoss
        >>> RenyiLoss.of(GaussianLoss(1) * 3, orders=[2, 4])
        RenyiLoss({2: 3, 4: 6})
        """
        return cls({order: divergence(loss, order) for order in orders})

    def __repr__(self) -> str:
        inside = ", ".join(f"{floats.show(a)}: {floats.show(d)}" for a, d in self.curve)
        return f"RenyiLoss({{{inside}}})"

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        if all(d == 0 for _, d in self.curve):
            return ZERO
        if delta == 0:
            return INFINITY
        return max(min(_epsilon_at_order(a, d, delta) for a, d in self.curve), ZERO)

    def _delta_above(self, epsilon: ExactEpsilon) -> Decimal:
        if all(d == 0 for _, d in self.curve):
            return ZERO
        return min(ONE, *(_delta_at_order(a, d, epsilon) for a, d in self.curve))

    def group(self, k: int) -> Loss:
        raise Unsupported(
            f"A RenyiLoss has no group({k}): divergences at fixed orders do not determine the "
            "loss of several people. Take the group of the losses that it was made of."
        )


def order_of(order: Number) -> Fraction:
    """`rational(order)`, which must be above 1."""
    exact = rational(order, "order")
    if exact <= 1:
        raise InvalidParameter(f"A Renyi order must be above 1. Found {order}.")
    return exact


def divergence(loss: Loss, order: Number) -> Fraction:
    """The greatest Renyi divergence of this order that a loss allows, rounded up.

    >>> from deniable.privacy import PureLoss
    >>> f"{float(divergence(PureLoss(1), 2)):.7f}"
    '0.7353257'
    """
    a = order_of(order)
    total = Fraction(0)
    for part, count in loss.parts:
        total += _divergence_of_part(part, a) * count
    return total


def divergence_beside_slack(loss: Loss, order: Number) -> Fraction:
    """The divergence of a loss if its `slack` does not happen: of the epsilon, for a part of
    epsilon and delta.

    >>> from deniable.privacy import ApproximateLoss, PureLoss
    >>> risky = ApproximateLoss(1, 1e-6)
    >>> divergence_beside_slack(risky, 2) == divergence(PureLoss(1), 2)
    True
    """
    a = order_of(order)
    total = Fraction(0)
    for part, count in loss.parts:
        exact = part.exact_epsilon
        if part.slack and exact is not None:
            total += _randomized_response(exact, a) * count
        else:
            total += _divergence_of_part(part, a) * count
    return total


def _divergence_of_part(loss: Loss, a: Fraction) -> Fraction:
    if isinstance(loss, RenyiLoss):
        bounds = [d for order, d in loss.curve if order >= a]  # they grow with the order
        if bounds:
            return min(bounds)
    elif loss.slack == 0:
        bounds = [charge * a for charge in (loss.rho,) if charge is not None]
        if loss.mu_squared is not None:
            bounds.append(loss.mu_squared * a / 2)
        if loss.exact_epsilon is not None:
            bounds.append(_randomized_response(loss.exact_epsilon, a))
        own = loss._renyi_divergence(a)
        if own is not None:
            bounds.append(own)
        if bounds:
            return min(bounds)
    raise Unsupported(
        f"{loss!r} has no Renyi divergence of order {a}: it may disclose everything with some "
        "probability, or its orders are all lower. Pure, concentrated and Gaussian losses, "
        "and Gaussian losses under Poisson sampling, have divergences of all orders."
    )


def _randomized_response(exact: ExactEpsilon, a: Fraction) -> Fraction:
    """Randomized response: ln((e**(a x) + e**((1 - a) x)) / (1 + e**x)) / (a - 1)."""
    if exact.sign() == 0:
        return Fraction(0)

    def enclose(p: Precision) -> Interval:
        x = exact.interval(p)
        down = (-x).exp()
        grown = 1 + (-(x * (2 * a - 1))).exp()  # over e**(a x)
        return (x * (a - 1) + grown.log() - (1 + down).log()) / (a - 1)

    return floats.ceiling(max(certify(enclose).hi, ZERO))


def _epsilon_at_order(a: Fraction, d: Fraction, delta: Fraction) -> Decimal:
    def enclose(p: Precision) -> Interval:
        return d + p((a - 1) / a).log() - (p(delta).log() + p(a).log()) / (a - 1)

    return certify(enclose).hi


def _delta_at_order(a: Fraction, d: Fraction, epsilon: ExactEpsilon) -> Decimal:
    p = precision(60)
    ratio = p((a - 1) / a).log() * (a - 1) - p(a).log()
    return ((d - epsilon.interval(p)) * (a - 1) + ratio).exp().hi
