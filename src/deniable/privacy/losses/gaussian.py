"""Gaussian differential privacy: an attack is no easier than to tell N(0, 1) from N(mu, 1).

delta(epsilon) = P(N > a) - e**epsilon P(N > b), with a, b = epsilon / mu -+ mu / 2
(Balle & Wang 2018; Dong, Roth & Su 2019). In a composition mu**2 adds up, so mu**2 is stored.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, positive, whole
from deniable.privacy.arithmetic import floats, normal
from deniable.privacy.arithmetic.dominating_pairs import CountedPairs, GaussianPair
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.intervals import (
    INFINITY,
    NEGLIGIBLE,
    ONE,
    ZERO,
    Interval,
    Precision,
    certify,
    precision,
)
from deniable.privacy.arithmetic.roots import find_root
from deniable.privacy.losses.loss import Loss, nonnegative

_FAR = Decimal(45)  # P(N > 45) < 1e-400
_WORK = 60
_LARGEST = 10**16  # of epsilon and mu**2; exp(epsilon) can be computed up to about 10**18


@dataclass(frozen=True, slots=True, init=False, repr=False)
class GaussianLoss(Loss):
    """The loss of Gaussian noise with sigma = sensitivity / mu.

    Use `mu_squared=` if mu is irrational: it is stored exactly, and sums stay exact.

    >>> f"{GaussianLoss(mu=1).epsilon(1e-6):.7f}"
    '4.8865541'
    >>> f"{GaussianLoss(mu=1).tradeoff(0.05):.4f}"  # 5% false alarms: 74% go unnoticed
    '0.7405'
    """

    mu_squared: Fraction

    def __init__(self, mu: Number | None = None, *, mu_squared: Number | None = None) -> None:
        if mu is not None and mu_squared is None:
            square = nonnegative(mu, "mu") ** 2
        elif mu_squared is not None and mu is None:
            square = nonnegative(mu_squared, "mu_squared")
        else:
            count = "neither" if mu is None else "both"
            raise InvalidParameter(f"Give exactly one of `mu` and `mu_squared`. Found {count}.")
        _check_size(square, "mu**2")
        object.__setattr__(self, "mu_squared", square)

    @classmethod
    def calibrated(cls, *, epsilon: Number, delta: Number) -> "GaussianLoss":
        """The greatest mu that keeps (epsilon, delta), rounded down, with a rational mu.

        >>> loss = GaussianLoss.calibrated(epsilon=1, delta=1e-6)
        >>> f"{1 / float(loss.mu_squared) ** 0.5:.11f}"
        '4.22467888933'
        """
        target = positive(delta, "delta")
        if target >= 1:
            raise InvalidParameter(f"`delta` must be below 1. Found {delta}.")
        goal = nonnegative(epsilon, "epsilon")
        _check_size(goal, "epsilon")
        return cls(_greatest_mu(goal, target))

    def __repr__(self) -> str:
        top, bottom = self.mu_squared.as_integer_ratio()
        root_top, root_bottom = _exact_root(top), _exact_root(bottom)
        if root_top is None or root_bottom is None:
            return f"GaussianLoss(mu_squared={floats.show(self.mu_squared)})"
        return f"GaussianLoss({floats.show(Fraction(root_top, root_bottom))})"

    @property
    def rho(self) -> Fraction:
        """mu**2 / 2, exactly."""
        return self.mu_squared / 2

    def _delta_above(self, epsilon: ExactEpsilon) -> Decimal:
        if self.mu_squared == 0:
            return ZERO
        return certify(lambda p: _delta(epsilon.interval(p), p(self.mu_squared).sqrt())).hi

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        if self.mu_squared == 0:
            return ZERO
        if delta == 0:
            return INFINITY
        p = precision(_WORK)
        mu = p(self.mu_squared).sqrt()
        if _delta(p(0), mu).hi <= p(delta).lo:
            return ZERO
        epsilon = _least_epsilon(mu, delta)
        nudge = epsilon.scaleb(-25)
        while self._delta_above(ExactEpsilon(Fraction(epsilon))) > p(delta).lo:
            epsilon, nudge = p.up.add(epsilon, nudge), nudge * 8
        return epsilon

    @property
    def dominating_pairs(self) -> CountedPairs:
        """N(mu, 1) against N(0, 1)."""
        if self.mu_squared == 0:
            return ()
        mu = precision(_WORK)(self.mu_squared).sqrt().middle
        return ((GaussianPair(float(mu)), 1),)

    def _epsilon_below(self, delta: Fraction, precision: float | None = None) -> Decimal:
        if self.mu_squared == 0 or delta == 0:
            return self._epsilon_above(delta)
        p = _at_work()
        epsilon = self._epsilon_above(delta)
        nudge = epsilon.scaleb(-25)
        while epsilon > 0 and self._delta_interval(epsilon).lo < p(delta).hi:
            epsilon, nudge = p.down.subtract(epsilon, nudge), nudge * 8
        return max(epsilon, ZERO)

    def _delta_interval(self, epsilon: Decimal) -> Interval:
        return certify(lambda p: _delta(p(epsilon), p(self.mu_squared).sqrt()))

    def _tradeoff_below(self, alpha: Fraction, known: Decimal = ZERO) -> Decimal:
        if alpha in (0, 1):
            return ONE - int(alpha)
        z = normal.quantile_below(alpha)
        mu = precision(_WORK)(self.mu_squared).sqrt()
        return normal.upper_tail(mu - z).lo

    def group(self, k: int) -> "GaussianLoss":
        """k times mu.

        >>> GaussianLoss(0.5).group(2)
        GaussianLoss(1)
        """
        return GaussianLoss(mu_squared=self.mu_squared * whole(k, "k") ** 2)


def _check_size(value: Fraction, name: str) -> None:
    if value > _LARGEST:
        raise InvalidParameter(
            f"{name} must be at most 1e16: such a loss is no protection. Found about "
            f"2**{value.numerator.bit_length() - value.denominator.bit_length()}."
        )


def _at_work() -> Precision:
    return precision(_WORK)


def _delta(epsilon: Interval, mu: Interval) -> Interval:
    a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if a.lo > _FAR:
        return Interval(ZERO, (-(a * a) / 2).exp().hi, a.precision)
    excess = normal.upper_tail(a) - epsilon.exp() * normal.upper_tail(b)
    return excess.positive_part()


def _least_epsilon(mu: Interval, delta: Fraction) -> Decimal:
    """Newton's method on -log delta(epsilon), which is convex: delta is the convolution of a
    normal tail with an exponential, both log-concave. It starts where P(N > a) <= delta."""
    p = mu.precision
    goal = p(delta).log().middle
    far = (p(2 * delta).log() * -2).positive_part().sqrt()

    def shortfall(epsilon: Decimal) -> tuple[Decimal, Decimal]:
        x = p(epsilon)
        value = _delta(x, mu)
        if value.lo == 0:  # too far out: bisect
            return ONE, ZERO
        slope = x.exp() * normal.upper_tail(x / mu + mu / 2) / value
        return p.near.subtract(goal, value.log().middle), slope.middle

    return find_root(shortfall, ZERO, (far * mu + mu * mu / 2).hi, p)


@lru_cache(maxsize=1024)  # plans of one price share it
def _greatest_mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    p = precision(_WORK)
    x, goal = p(epsilon), p(delta).log().middle

    def overrun(mu: Decimal) -> tuple[Decimal, Decimal]:
        m = p(mu)
        value = _delta(x, m)  # its slope in mu is phi(a)
        if value.lo == 0:  # too far out: bisect
            return ONE.copy_negate(), ZERO
        slope = normal.density(x / m - m / 2) / value
        return p.near.subtract(value.log().middle, goal), slope.middle

    hi = ONE
    while _delta(x, p(hi)).hi <= p(delta).hi:
        hi *= 2
    while hi > NEGLIGIBLE and _delta(x, p(hi / 2)).lo > p(delta).lo:
        hi /= 2
    mu = find_root(overrun, hi / 2, hi, p)
    rounded, nudge = floats.floor(mu, 18), mu.scaleb(-17)
    while GaussianLoss(rounded)._delta_above(ExactEpsilon(epsilon)) > p(delta).lo:
        mu, nudge = p.down.subtract(mu, nudge), nudge * 8
        rounded = floats.floor(mu, 18)
    return rounded


def _exact_root(n: int) -> int | None:
    root_of = math.isqrt(n)
    return root_of if root_of * root_of == n else None
