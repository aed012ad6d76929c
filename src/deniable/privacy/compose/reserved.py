"""Plans: releases fixed in advance, priced together and charged to a filter as one.

Only the *queries* of a plan may depend on earlier answers, not their number or losses. Then
the tight price of the whole, by its loss distribution, may be used; and as the plan is one
release to the filter, whatever else happens between its parts, it is one charge.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number
from deniable.privacy.arithmetic.dominating_pairs import CountedPairs
from deniable.privacy.arithmetic.nats import Nats
from deniable.privacy.losses.approximate import ApproximateLoss
from deniable.privacy.losses.loss import Loss, delta_of


@dataclass(frozen=True, slots=True)
class Reserved(Loss):
    """Releases fixed in advance, priced together, and charged as one."""

    whole: Loss
    priced: ApproximateLoss

    @property
    def slack(self) -> Fraction:
        """The priced delta."""
        return self.priced.slack

    @property
    def nats(self) -> Nats:
        """The priced epsilon."""
        return self.priced.nats

    @property
    def rho(self) -> Fraction:
        """The charge of the priced epsilon."""
        return self.priced.rho

    @property
    def witness(self) -> CountedPairs | None:
        """What was reserved."""
        return self.whole.witness

    @property
    def _told(self) -> Fraction:
        return min(self.whole._told, self.priced._told)

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        return min(self.whole._epsilon_above(delta), self.priced._epsilon_above(delta))

    def _delta_above(self, epsilon: Nats) -> Decimal:
        return min(self.whole._delta_above(epsilon), self.priced._delta_above(epsilon))

    def group(self, k: int) -> Loss:
        """The group of what was reserved."""
        return self.whole.group(k)


def reserved(loss: Loss, *, delta: Number) -> Reserved:
    """A plan whose losses are all fixed in advance, for a filter to charge as a whole.

    It is priced tightly, by its loss distribution, at this delta; the price then stands,
    whatever the answers are and however many of the releases are really made.

    >>> from deniable.privacy import PureFilter, PureLoss
    >>> budget = PureFilter(epsilon=5, delta=1e-6)
    >>> budget.room_for(PureLoss(0.1) * 100)
    False
    >>> budget.spend(reserved(PureLoss(0.1) * 100, delta=1e-6))
    """
    share = delta_of(delta)
    epsilon = loss.epsilon(share)
    if epsilon == float("inf"):
        raise InvalidParameter(
            f"{loss!r} has no finite epsilon at delta {delta}, so it cannot be reserved there."
        )
    return Reserved(loss, ApproximateLoss(epsilon, share))
