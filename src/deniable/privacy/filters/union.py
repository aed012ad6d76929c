"""The union filter: several filters at once, with one split of delta.

A release is granted if at least one filter has room for it and for all releases before it. Few
large releases then fit the pure sum, and many small ones fit the other filters. The ledger uses
the same limits and charges (`filters_within`, `CHARGES`).

Why it is valid if each release, and its loss, may depend on all answers before it:

1. Without deltas. Filter k alone keeps (epsilon, delta_k) for every adaptive strategy. Charges
   only grow. So on the transcripts whose history fits filter k, that filter by itself would
   have granted and refused the same releases. Split the transcripts by the first such k: each
   part obeys P(S) <= e**epsilon Q(S) + delta_k. So all are (epsilon, sum of delta_k)-private.
2. The deltas of releases have one share for all filters but the pure one, the `slack`. A
   release with delta d has outputs (1 - d) P' + d P'' and (1 - d) Q' + d Q'', where P' and Q'
   keep all its charges. Let w be the product of 1 - d along a transcript. It depends on the
   transcript only, so it is the same under both tables. The transcripts without any disclosure
   have the densities w P' and w Q', and by 1.
       sum over S of w (P' - e**epsilon Q') <= sum of (P' - e**epsilon Q')+ <= sum of delta_k.
   The rest has the probability 1 - sum of w P', at most the greatest sum of the d along a
   transcript, which the filters keep within `slack`. Together: slack + sum of delta_k.
3. For 2. these filters must charge a release in the same way, with the same P'. A reserved plan
   may be charged by its parts or by its price, and a Gaussian release by mu or by its price
   (epsilon, delta). The pure filter charges prices, so it has a share of its own.

A third of delta is for the deltas that the pure filter charges, a third is the slack of the
others, and a third is divided between their conversions. A conversion depends on the logarithm
of its delta only, so a small share costs it little.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

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
from deniable.privacy.losses.concentrated import ConcentratedLoss
from deniable.privacy.losses.gaussian import GaussianLoss
from deniable.privacy.losses.loss import Loss, delta_of
from deniable.privacy.losses.pure import PureLoss

KINDS = ("pure", "zcdp", "gdp")


class DeltaSplit(NamedTuple):
    """New filters, the delta of each, and the slack of all but the pure one."""

    filters: tuple[Filter, ...]
    deltas: tuple[Fraction, ...]
    slack: Fraction


def filters_within(
    *, epsilon: Fraction, delta: Fraction, kinds: Sequence[str] = KINDS
) -> DeltaSplit:
    """Filters that keep (epsilon, delta) together, one of each kind.

    >>> split = filters_within(epsilon=Fraction(1), delta=Fraction(1, 10**6))
    >>> sum(split.deltas) + split.slack
    Fraction(1, 1000000)
    """
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        raise InvalidParameter(f"`kinds` must be some of {KINDS}. Found {tuple(kinds)}.")
    conversions = sum(kind != "pure" for kind in kinds)
    purposes = ("pure" in kinds) + 2 * (conversions > 0)
    third = delta / purposes
    share, slack = (third / conversions, third) if conversions else (Fraction(0), Fraction(0))
    filters: list[Filter] = []
    for kind in kinds:
        if kind == "pure":
            filters.append(PureFilter(epsilon, delta=third))
        elif kind == "zcdp":
            rho = ConcentratedLoss.calibrated(epsilon=epsilon, delta=share).rho
            filters.append(ConcentratedFilter(rho, delta=slack))
        else:
            square = GaussianLoss.calibrated(epsilon=epsilon, delta=share).mu_squared
            filters.append(GaussianFilter(mu_squared=square, delta=slack))
    deltas = (third if kind == "pure" else share for kind in kinds)
    return DeltaSplit(tuple(filters), tuple(deltas), slack)


class UnionFilter:
    """Several filters at once: a release is granted if one of them has room for all so far.

    >>> from deniable.privacy import GaussianLoss
    >>> study = UnionFilter.within(epsilon=1, delta=1e-6)
    >>> for _ in range(40):
    ...     study.spend(GaussianLoss(0.03))
    >>> study.room_for(PureLoss(1)), study.promise
    (False, ApproximateLoss(1, delta=1e-06))
    """

    def __init__(
        self,
        *filters: Filter,
        epsilon: Number,
        deltas: Sequence[Number],
        slack: Number = 0,
    ) -> None:
        if not filters or len(filters) != len(deltas):
            raise InvalidParameter(
                f"UnionFilter() takes at least one filter, and one delta for each. Found "
                f"{len(filters)} filters and {len(deltas)} deltas."
            )
        limit, common = PureLoss(epsilon).exact_epsilon, delta_of(slack)
        shares = [delta_of(delta) for delta in deltas]
        for member, share in zip(filters, shares, strict=True):
            own = share if isinstance(member, PureFilter) else share + common
            if not member.promise.fits(ApproximateLoss.of(limit, own)):
                raise InvalidParameter(
                    f"Each filter of a union must guarantee its own (epsilon, delta), here "
                    f"({epsilon}, {floats.show(own)}). Found a filter that guarantees "
                    f"{member.promise!r}."
                )
            if member._spent != FilterCharge(ExactEpsilon()):
                raise InvalidParameter("The filters of a union must be new. Found a used one.")
        self.filters = filters
        self._open = [True] * len(filters)
        self._promise = ApproximateLoss.of(limit, sum(shares, start=common))

    @classmethod
    def within(
        cls, *, epsilon: Number, delta: Number, kinds: Sequence[str] = KINDS
    ) -> "UnionFilter":
        """Pure, concentrated and Gaussian sums at once, or some of these kinds. The docstring
        of this module gives their shares of delta."""
        split = filters_within(
            epsilon=rational(epsilon, "epsilon"), delta=rational(delta, "delta"), kinds=kinds
        )
        return cls(*split.filters, epsilon=epsilon, deltas=split.deltas, slack=split.slack)

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
        candidates = chargeable_losses(loss)
        if not any(
            member._charge(candidate) for member in self.filters for candidate in candidates
        ):
            raise InvalidStoppingRule(
                f"{loss!r} has a charge in none of the filters. {WHY_NO_CHARGE}"
            )
        ways = [self._fit((candidate,), pure=False) for candidate in candidates]
        others = max(ways, key=lambda way: sum(charge is not None for charge in way))
        pure = self._fit(candidates, pure=True)
        return [first or second for first, second in zip(pure, others, strict=True)]

    def _fit(self, candidates: Sequence[Loss], *, pure: bool) -> list[FilterCharge | None]:
        """The first candidate that fits, for each filter that is pure or is not."""
        firsts: list[FilterCharge | None] = []
        for member, still in zip(self.filters, self._open, strict=True):
            losses = candidates if still and isinstance(member, PureFilter) == pure else ()
            charges = (member._charge(candidate) for candidate in losses)
            fitting = (
                candidate
                for candidate in charges
                if candidate is not None and member._fits(candidate)
            )
            firsts.append(next(fitting, None))
        return firsts
