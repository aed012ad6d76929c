"""Amplification by sampling: who is not in the sample loses nothing.

Poisson sampling keeps each record with probability q, and goes with add-remove neighbours: if
P, Q are the worst outputs with and without a record, then those of the sampled mechanism are
(1 - q) Q + q P and Q, in both directions (Zhu, Dong & Wang, "Optimal accounting of
differential privacy via characteristic function", 2022). Sampling m of n records without
replacement goes with replace-one neighbours and q = m / n; its delta curve is q times the
original's at ln(1 + (e**epsilon - 1) / q), for the same reason and both ways alike (Balle,
Barthe & Gaboardi 2018). The two are not interchangeable: under the other relation the
neighbouring samples differ in other ways. Both hold only while the sample is secret, and
exactly drawn.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from deniable.errors import InvalidParameter, Unsupported
from deniable.exact.rationals import Number, positive, whole
from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.dominating_pairs import CountedPairs, mirrored, thinned
from deniable.privacy.arithmetic.intervals import ZERO, precision
from deniable.privacy.arithmetic.nats import Nats
from deniable.privacy.losses.loss import Loss
from deniable.privacy.losses.pure import PureLoss
from deniable.privacy.neighbors import Neighbors, neighboring

_WORK = 60


@dataclass(frozen=True, slots=True)
class Sampled(Loss):
    """The loss of a mechanism that sees a secret sample only."""

    whole: Loss
    rate: Fraction
    kind: Literal["poisson", "without replacement"]

    def __repr__(self) -> str:
        if self.kind == "poisson":
            return f"poisson({self.whole!r}, rate={floats.show(self.rate)})"
        return f"without_replacement({self.whole!r}, rate={floats.show(self.rate)})"

    @property
    def slack(self) -> Fraction:
        """A sampled record's risk that everything is told."""
        return self.whole.slack * self.rate

    @property
    def _told(self) -> Fraction:
        return self.whole._told * self.rate

    @property
    def nats(self) -> Nats | None:
        """ln(1 + q (e**epsilon - 1)): exact where e**epsilon is rational, else rounded up."""
        inner = self.whole.nats
        if inner is None:
            return None
        odds = Fraction(inner.odds(precision(_WORK)).hi)
        return Nats.of_odds(1 + self.rate * (odds - 1))

    @property
    def rho(self) -> Fraction | None:
        """The charge of that pure loss."""
        return None if self.nats is None else PureLoss.of(self.nats).rho

    @property
    def plan(self) -> CountedPairs | None:
        """The worst pairs, thinned; known where the mechanism is a single one."""
        inner = self.whole.plan
        if inner is not None and (self.rate == 1 or not (inner or self.whole.slack)):
            return inner  # everybody is in the sample, or there is nothing to lose
        if inner is None or len(inner) != 1 or inner[0][1] != 1 or self.whole.slack:
            return None
        if not inner[0][0].symmetric:  # which of the two is the one without the record?
            return None
        pair = thinned(inner[0][0], self.rate)
        return ((mirrored(pair) if self.kind == "without replacement" else pair, 1),)

    @property
    def witness(self) -> CountedPairs | None:
        """The same, for Poisson sampling of a mechanism that its own pairs are attained by."""
        return self.plan if self.kind == "poisson" and self.whole.witness else None

    def _delta_above(self, epsilon: Nats) -> Decimal:
        p = precision(_WORK)
        inner = (1 + (epsilon.odds(p) - 1) / self.rate).log().lo
        below = Nats(floats.floor(max(inner, ZERO), 40))
        return (p(self.whole._delta_above(below)) * self.rate).hi

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        inner = delta / self.rate
        if inner >= 1:
            return ZERO
        found = self.whole._epsilon_above(inner)
        if not found.is_finite():
            return found
        p = precision(_WORK)
        return (1 + (p(found).exp() - 1) * self.rate).log().hi

    def group(self, k: int) -> Loss:
        raise Unsupported(
            f"What {k} people together lose to a sampled mechanism depends on how many of them "
            "are sampled; it is not known from the loss of one."
        )


def poisson(loss: Loss, *, rate: Number, neighbors: Neighbors | None = None) -> Sampled:
    """The loss of a mechanism that sees each record with probability `rate`, secretly.

    Holds for add-remove neighbours, and must be told so.

    >>> from deniable.privacy import GaussianLoss
    >>> step = poisson(GaussianLoss(1), rate=0.01, neighbors="add-remove")
    >>> round((step * 10_000).epsilon(1e-6), 3)
    6.907
    """
    if neighboring(neighbors) != "add-remove":
        raise InvalidParameter(
            "Poisson sampling amplifies under add-remove neighbours only: when a record is "
            "replaced, both its old and its new self may be sampled. Found "
            'neighbors="replace"; use without_replacement there, with a sampler to match.'
        )
    return Sampled(_sampled(loss, "add-remove"), _rate(positive(rate, "rate")), "poisson")


def without_replacement(
    loss: Loss, *, sample: int, population: int, neighbors: Neighbors | None = None
) -> Sampled:
    """The loss of a mechanism that sees `sample` of `population` records, secretly.

    Holds for replace-one neighbours, and must be told so.

    >>> from deniable.privacy import PureLoss
    >>> few = without_replacement(
    ...     PureLoss(odds=3), sample=10, population=1000, neighbors="replace"
    ... )
    >>> few.nats == PureLoss(odds=1.02).nats
    True
    """
    if neighboring(neighbors) != "replace":
        raise InvalidParameter(
            "Sampling a fixed number without replacement amplifies under replace-one "
            "neighbours only: a table with one record less has other samples. Found "
            'neighbors="add-remove"; use poisson there, with a sampler to match.'
        )
    rate = Fraction(whole(sample, "sample"), whole(population, "population"))
    return Sampled(_sampled(loss, "replace"), _rate(rate), "without replacement")


def _sampled(loss: Loss, neighbors: Neighbors) -> Loss:
    if not isinstance(loss, Loss):
        raise InvalidParameter(f"Sampling amplifies a loss. Found {loss!r}.")
    if isinstance(loss, Sampled):
        raise Unsupported("A sample of a sample is a sample: multiply the rates.")
    for part, _ in loss.parts:
        relation = getattr(part, "neighbors", neighbors)  # of disjoint parts: their own
        if relation != neighbors:
            raise InvalidParameter(
                f'This sampling amplifies under neighbors="{neighbors}", and a part of what it '
                f'samples was composed under "{relation}": {part!r}. State both alike.'
            )
    return loss


def _rate(rate: Fraction) -> Fraction:
    if rate > 1:
        raise InvalidParameter(f"A sampling rate must be at most 1. Found {floats.show(rate)}.")
    return rate
