"""The same pure loss many times: the optimal composition, in closed form.

The worst mechanism of epsilon is randomized response, and the worst of k releases is k
randomized responses (Kairouz, Oh & Viswanath, "The composition theorem for differential
privacy", 2015). With j lies among them the loss is (k - 2j) epsilon, and j is binomial, so
delta(x) = sum over j of C(k, j) e**((k - j) epsilon) / (1 + e**epsilon)**k
           * (1 - e**(x - (k - 2j) epsilon)), where that is positive.
No term is negative, and the ratio of neighbouring terms is simple, so a geometric series
bounds the terms that are left out.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from deniable.errors import Unsupported
from deniable.privacy.arithmetic.binomial import log_choose
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.intervals import (
    NEGLIGIBLE,
    ONE,
    ZERO,
    Interval,
    Precision,
    certify,
    precision,
)
from deniable.privacy.losses.loss import Loss

_WORK = 40
_SPREADS = 20  # a sum starts at most this many standard deviations above the mode


@dataclass(frozen=True, slots=True)
class RepeatedLoss(Loss):
    """The optimal composition of `count` pure losses of `each`."""

    each: ExactEpsilon
    count: int

    @property
    def exact_epsilon(self) -> ExactEpsilon:
        """The sum of the epsilons."""
        return self.each * self.count

    def _delta_above(self, epsilon: ExactEpsilon) -> Decimal:
        return certify(lambda p: self._excess(epsilon, p)).hi

    def _delta_below(self, epsilon: ExactEpsilon) -> Decimal:
        return max(certify(lambda p: self._excess(epsilon, p)).lo, ZERO)

    def _excess(self, epsilon: ExactEpsilon, p: Precision) -> Interval:
        most = self._most_lies(epsilon)
        if most < 0 or self.each.sign() == 0:
            return p(0)
        truths, lies = self._sums(most, p)
        x = (epsilon - self.each * (self.count - 2 * most)).interval(p)
        return (truths - x.exp() * lies).positive_part()

    def _most_lies(self, epsilon: ExactEpsilon) -> int:
        """The most lies with which the loss still exceeds epsilon; -1 if it never does."""
        p = precision(_WORK)
        if self.each.sign() == 0:
            return -1
        near = (self.count - (epsilon.interval(p) / self.each.interval(p)).middle) / 2
        most = max(-1, min(math.ceil(near), self.count))
        while most >= 0 and (self.each * (self.count - 2 * most) - epsilon).sign() <= 0:
            most -= 1
        return most

    def _sums(self, most: int, p: Precision) -> tuple[Interval, Interval]:
        """P(at most `most` lies), and the same for the neighbouring table, multiplied by
        e**((count - 2 most) epsilon). The sums go from `most` downwards."""
        k, epsilon = self.count, self.each.interval(p)
        odds, inverse = self.each.odds(p), (-epsilon).exp()
        mode = k / (1 + math.exp(min(float(epsilon.middle), 700.0)))
        spread = math.sqrt(mode * (1 - mode / k)) + 1
        start = min(most, math.ceil(mode + _SPREADS * spread))
        first = (log_choose(k, start, p) + epsilon * (k - start) - (1 + odds).log() * k).exp()
        truths = _sum_descending(first, start, k, odds, p)
        shift = self.each * (
            2 * (start - most)
        )  # the terms of the neighbouring table, in the same unit
        lies = _sum_descending(first * shift.interval(p).exp(), start, k, inverse, p)
        if start < most:  # a geometric series bounds the terms above
            rest = first * _geometric_series(Fraction(k - start, start + 1), inverse)
            truths = Interval(truths.lo, (truths + rest).hi, p)
        return truths, lies

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        p = precision(_WORK)
        if self.each.sign() == 0:
            return ZERO
        if delta == 0:
            return certify(self.exact_epsilon.interval).hi
        epsilon = self._least_epsilon(delta)
        nudge = max(epsilon, ONE).scaleb(-25)
        while self._delta_above(ExactEpsilon(Fraction(epsilon))) > p(delta).lo:
            epsilon, nudge = p.up.add(epsilon, nudge), nudge * 8
        return min(epsilon, certify(self.exact_epsilon.interval).hi)

    def _epsilon_below(self, delta: Fraction, precision: float | None = None) -> Decimal:
        p = _at_work()
        if self.each.sign() == 0:
            return ZERO
        if delta == 0:
            return certify(self.exact_epsilon.interval).lo
        epsilon = self._least_epsilon(delta)
        nudge = max(epsilon, ONE).scaleb(-25)
        while epsilon > 0 and self._delta_below(ExactEpsilon(Fraction(epsilon))) < p(delta).hi:
            epsilon, nudge = p.down.subtract(epsilon, nudge), nudge * 8
        return max(epsilon, ZERO)

    def _least_epsilon(self, delta: Fraction) -> Decimal:
        """Between two possible losses delta(x) is a - e**x b, which is solved for x."""
        p = precision(_WORK)
        if self._delta_above(ExactEpsilon()) <= p(delta).lo:
            return ZERO
        lo, hi = (
            0,
            self._most_lies(ExactEpsilon()) + 1,
        )  # with lo lies delta is enough
        while hi - lo > 1:
            middle = (lo + hi) // 2
            at = self._excess(self.each * (self.count - 2 * middle), p).middle
            lo, hi = (middle, hi) if at <= p(delta).middle else (lo, middle)
        truths, lies = self._sums(lo, p)
        rest = (truths - delta) / lies
        solved = (self.each * (self.count - 2 * lo)).interval(p) + rest.log()
        return max(solved.middle, ZERO)

    def group(self, k: int) -> Loss:
        raise Unsupported(
            f"A composed loss has no group({k}). Take the group({k}) of its parts."
        )


def _at_work() -> Precision:
    return precision(_WORK)


def _sum_descending(
    first: Interval, start: int, count: int, factor: Interval, p: Precision
) -> Interval:
    """The sum of terms whose ratio downwards is factor j / (count - j + 1), from j = start."""
    down, up = p.down, p.up
    lo, hi = first.lo, first.hi
    total_lo, total_hi = lo, hi
    enough = Decimal(10) ** -p.digits
    for j in range(start, 0, -1):
        top, bottom = Decimal(j), Decimal(count - j + 1)
        lo = down.divide(down.multiply(down.multiply(lo, factor.lo), top), bottom)
        hi = up.divide(up.multiply(up.multiply(hi, factor.hi), top), bottom)
        total_lo, total_hi = down.add(total_lo, lo), up.add(total_hi, hi)
        if hi <= total_hi * enough or total_hi < NEGLIGIBLE:
            ratio = factor * Fraction(j, count - j + 1)
            if ratio.hi < 1:  # and it only gets smaller
                total_hi = (Interval(hi, hi, p) * (ratio / (1 - ratio)) + total_hi).hi
                break
    return Interval(total_lo, total_hi, p)


def _geometric_series(ratio: Fraction, factor: Interval) -> Interval:
    """r + r**2 + ... for r = ratio * factor, which must be below 1."""
    r = factor * ratio
    return r / (1 - r)
