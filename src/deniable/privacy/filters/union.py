"""The union filter: several filters at once, each with its share of delta.

A release is granted if at least one filter has room for it and for all releases before it.
Charges only grow. So on the transcripts whose history fits filter k, that filter by itself
would have granted and refused the same releases. Split the transcripts by the first such k:
each part is (epsilon, delta_k)-private, so all of them together are
(epsilon, sum of delta_k)-private. Few large releases then fit the pure sum, and many small
ones fit the other filters.
"""

from collections.abc import Sequence
from fractions import Fraction

from deniable.errors import BudgetExhausted, InvalidParameter, InvalidStoppingRule
from deniable.exact.rationals import Number, rational
from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.filters.adaptive import (
    WHY_NO_CHARGE,
    ConcentratedFilter,
    Filter,
    FilterCharge,
    FilterRemainder,
    GaussianFilter,
    PureFilter,
    chargeable_losses,
)
from deniable.privacy.losses.approximate import ApproximateLoss
from deniable.privacy.losses.loss import Loss, delta_of
from deniable.privacy.losses.pure import PureLoss


class UnionFilter:
    """Several filters at once: a release is granted if one of them has room for all so far.

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
                f"UnionFilter() takes at least one filter, and one delta for each. Found "
                f"{len(filters)} filters and {len(deltas)} deltas."
            )
        limit = PureLoss(epsilon).exact_epsilon
        shares = [delta_of(delta) for delta in deltas]
        for member, share in zip(filters, shares, strict=True):
            if not member.promise.fits(ApproximateLoss.of(limit, share)):
                raise InvalidParameter(
                    f"Each filter of a union must guarantee its own (epsilon, delta), here "
                    f"({epsilon}, {floats.show(share)}). Found a filter that guarantees "
                    f"{member.promise!r}."
                )
            if member._spent != FilterCharge(ExactEpsilon()):
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
        """An upper bound on the loss of everything that is ever granted."""
        return self._promise

    @property
    def remaining(self) -> tuple[FilterRemainder, ...]:
        """What is left in each filter that is still open."""
        return tuple(
            member.remaining
            for member, still in zip(self.filters, self._open, strict=True)
            if still
        )

    def room_for(self, loss: Loss) -> bool:
        """Whether `spend` would grant this loss now."""
        return any(charge is not None for charge in self._fitting_charges(loss))

    def spend(self, loss: Loss) -> None:
        """Charges a loss to every filter that has room. The others are closed permanently."""
        charges = self._fitting_charges(loss)
        if all(charge is None for charge in charges):
            raise BudgetExhausted(
                f"{loss!r} fits none of the filters: {self.remaining!r}. Nothing was charged. "
                "Use a smaller loss (more noise), or another budget."
            )
        for i, charge in enumerate(charges):
            self._open[i] = charge is not None
            if charge is not None:
                self.filters[i]._spent = self.filters[i]._spent + charge

    def _fitting_charges(self, loss: Loss) -> list[FilterCharge | None]:
        """The charge of each filter; None if it is closed or has no room."""
        all_charges = [
            [member._charge(candidate) for candidate in chargeable_losses(loss)]
            for member in self.filters
        ]
        if all(charge is None for charges in all_charges for charge in charges):
            raise InvalidStoppingRule(
                f"{loss!r} has a charge in none of the filters. {WHY_NO_CHARGE}"
            )
        charged: list[FilterCharge | None] = []
        for member, charges, still in zip(self.filters, all_charges, self._open, strict=True):
            fitting = [c for c in charges if still and c is not None and member._fits(c)]
            charged.append(fitting[0] if fitting else None)
        return charged
