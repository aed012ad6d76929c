"""Amplification by shuffling: reports without names, order or times hide each other.

This holds only if an independent party removes all that *before* the analyst sees any report.
Otherwise a report costs what its randomizer costs.

Yes/no randomized response: `yes_counts` computes it from the count of "yes".

Privacy blanket (Balle, Bell, Gascon & Nissim 2019), for k answers: each report of the others
is, with probability k / (odds + k - 1), uniform whatever the true answer is. Suppose that all
other reports are revealed. The number m of uniform reports is then known. C ~ Bin(m, 2 / k) of
them are one of the person's two possible answers, each with equal probability. The person adds
one to the first with probability p, to the second with probability q, else nothing. More
uniform reports never reveal more, so m may be rounded down. It would be wrong to average C over
m first: that treats m as hidden, and the result would be too small.

Any randomizer of epsilon0 (Feldman, McMillan & Talwar 2021, "clones"): the same with C ~
Bin(n - 1, e**-epsilon0), p = e**epsilon0 / (1 + e**epsilon0), q = 1 - p. Their closed form
(theorem 3.1) is the fallback.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from deniable.errors import InvalidParameter, Unsupported
from deniable.exact.rationals import whole
from deniable.privacy.amplify.yes_counts import least_epsilon, yes_counts
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.intervals import ONE, ZERO, certify
from deniable.privacy.losses.loss import Loss

_ROUNDING = 1e-10  # relative, of sums of probabilities with errors below 1e-12
_FEW = 32  # up to this many other reports, each number of uniform ones is considered
_STEPS = (
    -9,
    -7,
    -6,
    -5,
    *(z / 2 for z in range(-8, 5)),
)  # else these, in standard deviations from the mean


class ShuffledAnswers(Protocol):
    """A randomized response: the probabilities of the true answer and of each other one."""

    @property
    def p(self) -> Fraction: ...
    @property
    def q(self) -> Fraction: ...
    @property
    def categories(self) -> int: ...
    @property
    def loss(self) -> Loss: ...


@dataclass(frozen=True)
class Shuffled(Loss):
    """The loss of one report among `reports` shuffled ones."""

    local: ExactEpsilon
    reports: int
    answers: int = 0  # of a symmetric randomized response; 0 for any other randomizer

    @property
    def exact_epsilon(self) -> ExactEpsilon:
        """At delta 0 shuffling does not amplify."""
        return self.local

    @property
    def odds(self) -> float:
        """e**epsilon0, rounded up."""
        return _float_up(math.exp(float(self.local.enclose(80)[1])))

    def _delta_above(self, epsilon: ExactEpsilon) -> Decimal:
        if self.local <= epsilon:
            return ZERO
        low = max(math.nextafter(float(epsilon.enclose(80)[0]), -1.0), 0.0)
        return min(Decimal(self._delta(low)), ONE)

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        most = certify(self.local.interval).hi
        if delta == 0:
            return most
        target = float(delta) * (1 - 1e-12)
        if self.answers == 2:
            exact = yes_counts(self.reports, self.odds).epsilon(target, float(most))
            return min(most, Decimal(exact))
        closed = Decimal(self._closed_form(target))
        return min(most, closed, Decimal(least_epsilon(self._delta, target, float(most))))

    def _epsilon_below(self, delta: Fraction, precision: float | None = None) -> Decimal:
        if self.answers != 2 or delta == 0:
            return ZERO
        most = float(self._epsilon_above(delta))
        counts = yes_counts(self.reports, self.odds)
        return Decimal(counts.epsilon_below(float(delta) * (1 + 1e-9), most) * (1 - 1e-9))

    def _delta(self, epsilon: float) -> float:
        if self.answers == 2:
            return yes_counts(self.reports, self.odds).delta(epsilon)
        if self.answers:
            return _blanket_of_many_answers(self.reports, self.answers, self.odds, epsilon)
        lie = 1 / (1 + self.odds)
        return _blanket(self.reports, 1 / self.odds, 1 - lie, lie, epsilon)

    def _closed_form(self, delta: float) -> float:
        """Looser, but valid for any number of reports."""
        n, odds, log = self.reports, self.odds, math.log(4 / delta)
        if math.log(odds) > math.log(n / (16 * math.log(2 / delta))):
            return math.inf
        spread = 8 * math.sqrt(odds * log / n) + 8 * odds / n
        return math.log1p((odds - 1) / (odds + 1) * spread) * (1 + 1e-12)

    def group(self, k: int) -> Loss:
        if k == 1:
            return self
        raise Unsupported(
            f"A shuffled loss has no group({k}): the loss of one report does not determine "
            f"that of several. Shuffle the group({k}) of the randomizer's loss instead."
        )


def shuffled(source: "ShuffledAnswers | Loss", *, reports: int) -> Shuffled:
    """The loss of one person's report among `reports` that an independent party shuffles.

    From a `RandomizedResponse`: exact for yes/no answers (above a thousand reports within half
    a percent), the privacy blanket for more answers. From a pure loss: a bound for any
    randomizer. It holds only if the shuffler removes identity, order and time before the
    analyst sees a report.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> f"{shuffled(RandomizedResponse(odds=3), reports=1000).epsilon(1e-6):.6f}"
    '0.142058'
    """
    n = whole(reports, "reports", least=2)
    loss = source if isinstance(source, Loss) else getattr(source, "loss", None)
    if not isinstance(loss, Loss) or loss.exact_epsilon is None or loss.slack:
        raise InvalidParameter(
            f"shuffled() takes a randomizer with a pure loss, or a pure loss. Found {source!r}."
        )
    return Shuffled(
        loss.exact_epsilon, n, 0 if isinstance(source, Loss) else _count_answers(source)
    )


def _count_answers(source: Any) -> int:
    """The number of answers of a symmetric randomized response; 0 if it is not one."""
    p, q = getattr(source, "p", None), getattr(source, "q", None)
    k = getattr(source, "categories", 0)
    if not isinstance(p, Fraction) or not isinstance(q, Fraction) or p <= q:
        return 0
    return k if p + (k - 1) * q == 1 else 0


def _blanket_of_many_answers(reports: int, answers: int, odds: float, epsilon: float) -> float:
    """The divergence of the blanket, averaged over how many of the others are uniform."""
    from scipy.stats import binom

    n, share, p = reports - 1, answers / (odds + answers - 1), odds / (odds + answers - 1)
    mean, sd = n * share, math.sqrt(n * share * (1 - share))
    least = range(n + 1) if n <= _FEW else {0, *(math.floor(mean + z * sd) for z in _STEPS)}
    edges = np.array(sorted(m for m in least if 0 <= m <= n))
    below = np.append(binom.cdf(edges - 1, n, share), 1.0)
    total = 0.0
    for m, chance in zip(edges.tolist(), np.diff(below).tolist(), strict=True):
        total += chance * _blanket(m + 1, 2 / answers, p, p / odds, epsilon)
    return min(total * (1 + _ROUNDING), 1.0)


def _blanket(reports: int, share: float, p: float, q: float, epsilon: float) -> float:
    """The hockey-stick divergence of the blanket, rounded up."""
    from scipy.stats import binom

    n, x = reports - 1, math.exp(epsilon)
    spread = 12 * math.sqrt(n * share * (1 - share)) + 60
    low, high = max(0, math.floor(n * share - spread)), min(n, math.ceil(n * share + spread))
    totals = np.arange(low, high + 2)
    added, left = binom.pmf(totals - 1, n, share), binom.pmf(totals, n, share)
    rest = max(1 - p - q, 0.0)
    some = added > 0  # else the person added nothing, and nothing is revealed
    pull = math.expm1(epsilon) * rest * left / (2 * np.where(some, added, 1.0))
    edge = np.where(some, totals * (pull + x * p - q) / ((p - q) * (1 + x)), totals)
    first = np.floor(np.minimum(edge, totals)) + 1
    up = binom.sf(first - 2, np.maximum(totals - 1, 0), 0.5)
    stay = binom.sf(first - 1, np.maximum(totals - 1, 0), 0.5)
    none = binom.sf(first - 1, totals, 0.5)
    value = added * ((p - x * q) * up + (q - x * p) * stay) - (x - 1) * rest * left * none
    gross = added * ((p + x * q) * up + (q + x * p) * stay) + (x - 1) * rest * left * none
    outside = float(binom.cdf(low - 1, n, share) + binom.sf(high, n, share))
    return float(np.maximum(value, 0.0).sum() + _ROUNDING * gross.sum()) + 2 * outside


def _float_up(x: float) -> float:
    return math.nextafter(math.nextafter(x, math.inf), math.inf)
