"""The union filter: several filters at once, each with its share of delta.

A release is granted while at least one filter has room for the whole history with it. Charges
only grow, so on the transcripts whose history fits filter k that filter alone would have
granted and refused the same. Split the transcripts by the first such k: each part is
(epsilon, delta_k)-private, so the whole is (epsilon, sum of delta_k)-private. Few large
releases then go by the pure sum, many small ones by the others.
"""

from collections.abc import Sequence
from fractions import Fraction

from deniable.errors import BudgetExhausted, InvalidParameter, InvalidStoppingRule
from deniable.exact.rationals import Number, rational
from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.nats import Nats
from deniable.privacy.filters.adaptive import (
    WHY,
    Charge,
    ConcentratedFilter,
    Filter,
    FilterRoom,
    GaussianFilter,
    PureFilter,
    ways,
)
from deniable.privacy.losses.approximate import ApproximateLoss
from deniable.privacy.losses.loss import Loss, delta_of
from deniable.privacy.losses.pure import PureLoss


class UnionFilter:
    """Several filters at once: a release is granted while any of them has room for it all.

    >>> from deniable.privacy import GaussianLoss
    >>> study = UnionFilter.within(epsilon=1, delta=1e-6)
    >>> for _ in range(40):
    ...     study.spend(GaussianLoss(0.03))
    >>> study.room_for(PureLoss(1)), study.promise
    (False, ApproximateLoss(1, delta=1e-06))
    """

    def __init__(self, *filters: Filter, epsilon: Number, deltas: Sequence[Number]) -> None:
        if not filters or len(filters) != len(deltas):
            raise InvalidParameter(
                f"A union needs filters, and a delta for each. Found {len(filters)} and "
                f"{len(deltas)}."
            )
        limit = PureLoss(epsilon).nats
        shares = [delta_of(delta) for delta in deltas]
        for one, share in zip(filters, shares, strict=True):
            if not one.promise.fits(ApproximateLoss.of(limit, share)):
                raise InvalidParameter(
                    f"Each filter of a union must keep its own (epsilon, delta). One "
                    f"promises {one.promise!r}, not ({epsilon}, {floats.show(share)})."
                )
            if one._spent != Charge(Nats()):
                raise InvalidParameter("The filters of a union must be new. Found a used one.")
        self.filters = filters
        self._open = [True] * len(filters)
        self._promise = ApproximateLoss.of(limit, sum(shares, start=Fraction(0)))

    @classmethod
    def within(cls, *, epsilon: Number, delta: Number) -> "UnionFilter":
        """Pure, concentrated and Gaussian sums at once, delta split between the last two."""
        half = rational(delta, "delta") / 2
        return cls(
            PureFilter(epsilon),
            ConcentratedFilter.within(epsilon=epsilon, delta=half),
            GaussianFilter.within(epsilon=epsilon, delta=half),
            epsilon=epsilon,
            deltas=(0, half, half),
        )

    @property
    def promise(self) -> Loss:
        """What everything that is ever granted costs together, at most."""
        return self._promise

    @property
    def remaining(self) -> tuple[FilterRoom, ...]:
        """The room that is left in each filter that is still open."""
        return tuple(
            one.remaining for one, still in zip(self.filters, self._open, strict=True) if still
        )

    def room_for(self, loss: Loss) -> bool:
        """Whether `spend` would grant this loss now."""
        return any(charge is not None for charge in self._granting(loss))

    def spend(self, loss: Loss) -> None:
        """Charges a loss to every filter that has room; the others are closed for good."""
        charges = self._granting(loss)
        if all(charge is None for charge in charges):
            raise BudgetExhausted(
                f"{loss!r} fits none of the filters: {self.remaining!r}. Nothing was charged. "
                "Ask for less (a smaller loss, more noise), or for another budget."
            )
        for i, charge in enumerate(charges):
            self._open[i] = charge is not None
            if charge is not None:
                self.filters[i]._spent = self.filters[i]._spent + charge

    def _granting(self, loss: Loss) -> list[Charge | None]:
        """What each filter would charge; None where it is closed or has no room."""
        known = [[one._charge(way) for way in ways(loss)] for one in self.filters]
        if all(charge is None for charges in known for charge in charges):
            raise InvalidStoppingRule(f"{loss!r} has a charge in none of the filters. {WHY}")
        found: list[Charge | None] = []
        for one, charges, still in zip(self.filters, known, self._open, strict=True):
            fitting = [c for c in charges if still and c is not None and one._fits(c)]
            found.append(fitting[0] if fitting else None)
        return found
