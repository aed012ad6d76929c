"""Amplification by sampling: a person who is not in the sample loses no privacy.

Poisson sampling keeps each record with probability q. It belongs to add-remove neighbours: if
P and Q are the worst output distributions with and without a record, those of the sampled
mechanism are (1 - q) Q + q P and Q, in both directions (Zhu, Dong & Wang, "Optimal accounting
of differential privacy via characteristic function", 2022). Sampling m of n records without
replacement belongs to replace-one neighbours, with q = m / n. Its delta curve is q times the
original curve at ln(1 + (e**epsilon - 1) / q), for the same reason, and it is symmetric
(Balle, Barthe & Gaboardi 2018). The two are not interchangeable: under the other relation the
neighbouring samples differ in other ways. Both are valid only if the sample is secret and
exactly drawn.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from deniable.errors import InvalidParameter, Unsupported
from deniable.exact.rationals import Number, positive, whole
from deniable.privacy.amplify.sampled_gaussian import sampled_gaussian_divergence
from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.dominating_pairs import CountedPairs, subsample, symmetrize
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.intervals import ZERO, Precision, precision
from deniable.privacy.losses.loss import Loss
from deniable.privacy.losses.pure import PureLoss
from deniable.privacy.neighbors import Neighbors, neighboring

_WORK = 60


@dataclass(frozen=True, slots=True)
class Sampled(Loss):
    """The loss of a mechanism that sees only a secret sample."""

    whole: Loss
    rate: Fraction
    kind: Literal["poisson", "without replacement"]

    def __repr__(self) -> str:
        if self.kind == "poisson":
            return f"poisson({self.whole!r}, rate={floats.show(self.rate)})"
        return f"without_replacement({self.whole!r}, rate={floats.show(self.rate)})"

    @property
    def slack(self) -> Fraction:
        """The probability that a record is sampled and everything is disclosed."""
        return self.whole.slack * self.rate

    @property
    def _certain_delta(self) -> Fraction:
        return self.whole._certain_delta * self.rate

    @property
    def exact_epsilon(self) -> ExactEpsilon | None:
        """ln(1 + q (e**epsilon - 1)), exact if e**epsilon is rational, else rounded up."""
        inner = self.whole.exact_epsilon
        if inner is None:
            return None
        odds = Fraction(inner.odds(precision(_WORK)).hi)
        return ExactEpsilon.from_odds(1 + self.rate * (odds - 1))

    @property
    def rho(self) -> Fraction | None:
        """The zCDP charge of that pure loss."""
        return None if self.exact_epsilon is None else PureLoss.of(self.exact_epsilon).rho

    @property
    def dominating_pairs(self) -> CountedPairs | None:
        """The sampled pair, if the mechanism has exactly one symmetric pair."""
        inner = self.whole.dominating_pairs
        if inner is not None and (self.rate == 1 or not (inner or self.whole.slack)):
            return inner  # all records are sampled, or nothing is lost
        if inner is None or len(inner) != 1 or inner[0][1] != 1 or self.whole.slack:
            return None
        if not inner[0][0].symmetric:  # it is unknown which of the two lacks the record
            return None
        pair = subsample(inner[0][0], self.rate)
        return ((symmetrize(pair) if self.kind == "without replacement" else pair, 1),)

    @property
    def attained_pairs(self) -> CountedPairs | None:
        """The sampled pair, without mirroring, if the mechanism attains its own pair.

        A mechanism whose output depends on the presence of one record attains it: under both
        relations its outputs are (1 - q) Q + q P and Q.
        """
        inner = self.whole.attained_pairs
        if not inner or inner != self.whole.dominating_pairs or self.dominating_pairs is None:
            return None
        return inner if self.rate == 1 else ((subsample(inner[0][0], self.rate), 1),)

    def _delta_above(self, epsilon: ExactEpsilon) -> Decimal:
        p = precision(_WORK)
        inner = (1 + (epsilon.odds(p) - 1) / self.rate).log().lo
        below = ExactEpsilon(floats.floor(max(inner, ZERO), 40))
        return (p(self.whole._delta_above(below)) * self.rate).hi

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        inner = delta / self.rate
        if inner >= 1:
            return ZERO
        epsilon = self.whole._epsilon_above(inner)
        if not epsilon.is_finite():
            return epsilon
        p = precision(_WORK)
        return (1 + (p(epsilon).exp() - 1) * self.rate).log().hi

    def _epsilon_below(self, delta: Fraction, precision: float | None = None) -> Decimal:
        """The same mapping of the mechanism's lower bound: one sampled use attains it."""
        inner = delta / self.rate
        if inner >= 1:
            return ZERO
        epsilon = self.whole._epsilon_below(inner, precision)
        if not epsilon.is_finite():
            return epsilon
        p = _at_work()
        return max((1 + (p(epsilon).exp() - 1) * self.rate).log().lo, ZERO)

    def _renyi_divergence(self, order: Fraction) -> Fraction | None:
        square = self.whole.mu_squared
        if self.kind != "poisson" or square is None or self.whole.slack:
            return None
        return sampled_gaussian_divergence(square, self.rate, order)

    def group(self, k: int) -> Loss:
        raise Unsupported(
            f"A sampled loss has no group({k}): it depends on how many of the people are "
            "sampled, which the loss of one person does not determine."
        )


def _at_work() -> Precision:
    return precision(_WORK)


def poisson(loss: Loss, *, rate: Number, neighbors: Neighbors | None = None) -> Sampled:
    """The loss of a mechanism that sees a secret sample: each record with probability `rate`.

    Valid for add-remove neighbours, which must be stated.

    >>> from deniable.privacy import GaussianLoss
    >>> step = poisson(GaussianLoss(1), rate=0.01, neighbors="add-remove")
    >>> round((step * 10_000).epsilon(1e-6), 3)
    6.907
    """
    if neighboring(neighbors) != "add-remove":
        raise InvalidParameter(
            "Poisson sampling amplifies only under add-remove neighbours: if a record is "
            "replaced, its old and its new version may both be sampled. Found "
            'neighbors="replace". Use without_replacement(), and sample a fixed number.'
        )
    return Sampled(
        _check_loss(loss, "add-remove"), _check_rate(positive(rate, "rate")), "poisson"
    )


def without_replacement(
    loss: Loss, *, sample: int, population: int, neighbors: Neighbors | None = None
) -> Sampled:
    """The loss of a mechanism that sees a secret sample: `sample` of `population` records.

    Valid for replace-one neighbours, which must be stated.

    >>> from deniable.privacy import PureLoss
    >>> few = without_replacement(
    ...     PureLoss(odds=3), sample=10, population=1000, neighbors="replace"
    ... )
    >>> few.exact_epsilon == PureLoss(odds=1.02).exact_epsilon
    True
    """
    if neighboring(neighbors) != "replace":
        raise InvalidParameter(
            "Sampling a fixed number without replacement amplifies only under replace-one "
            "neighbours: a table with one record less has other samples. Found "
            'neighbors="add-remove". Use poisson(), and sample each record independently.'
        )
    rate = Fraction(whole(sample, "sample"), whole(population, "population"))
    return Sampled(_check_loss(loss, "replace"), _check_rate(rate), "without replacement")


def _check_loss(loss: Loss, neighbors: Neighbors) -> Loss:
    if not isinstance(loss, Loss):
        raise InvalidParameter(f"Sampling needs a loss. Found {loss!r}.")
    if isinstance(loss, Sampled):
        raise Unsupported(
            "This loss is sampled already. Sample once, with the product of the rates."
        )
    for part, _ in loss.parts:
        relation = getattr(part, "neighbors", neighbors)  # parallel losses have their own
        if relation != neighbors:
            raise InvalidParameter(
                f'This sampling needs neighbors="{neighbors}", but a part of the loss was '
                f'composed under "{relation}": {part!r}. Use the same relation for both.'
            )
    return loss


def _check_rate(rate: Fraction) -> Fraction:
    if rate > 1:
        raise InvalidParameter(f"A sampling rate must be at most 1. Found {floats.show(rate)}.")
    return rate
