"""Releases whose losses are fixed in advance, so that a filter can charge them as one.

Only the *queries* may depend on earlier answers, not their number or their losses. Then the
tight price of all of them, by their loss distribution, is valid. The filter sees one release
and makes one charge, whatever happens between the parts.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number
from deniable.privacy.arithmetic.dominating_pairs import CountedPairs
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.losses.approximate import ApproximateLoss
from deniable.privacy.losses.loss import Loss, delta_of


@dataclass(frozen=True, slots=True)
class Reserved(Loss):
    """Releases fixed in advance, priced together and charged as one."""

    whole: Loss
    price: ApproximateLoss

    @property
    def slack(self) -> Fraction:
        """The delta of the price."""
        return self.price.slack

    @property
    def exact_epsilon(self) -> ExactEpsilon:
        """The epsilon of the price."""
        return self.price.exact_epsilon

    @property
    def rho(self) -> Fraction:
        """The zCDP charge of the price."""
        return self.price.rho

    @property
    def attained_pairs(self) -> CountedPairs | None:
        """The attained pairs of what was reserved."""
        return self.whole.attained_pairs

    @property
    def _certain_delta(self) -> Fraction:
        return min(self.whole._certain_delta, self.price._certain_delta)

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        return min(self.whole._epsilon_above(delta), self.price._epsilon_above(delta))

    def _delta_above(self, epsilon: ExactEpsilon) -> Decimal:
        return min(self.whole._delta_above(epsilon), self.price._delta_above(epsilon))

    def group(self, k: int) -> Loss:
        """The group of what was reserved."""
        return self.whole.group(k)


def reserved(loss: Loss, *, delta: Number) -> Reserved:
    """A loss for a filter to charge as a whole; all its parts must be fixed in advance.

    The price is tight: the epsilon of its loss distribution at this delta. It is charged in
    full, whatever the answers are and however many of the releases are made.

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
            f"{loss!r} has no finite epsilon at delta {delta}, so it cannot be reserved at it."
        )
    return Reserved(loss, ApproximateLoss(epsilon, share))
