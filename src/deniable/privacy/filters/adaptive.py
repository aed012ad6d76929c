"""Budgets for adaptive releases: each may depend on the answers before it.

A filter has a limit that is fixed in advance. It grants a release if the charges so far plus
the new one stay within the limit. For fully adaptive losses, sums of one kind of charge are
valid: of epsilons (Rogers, Roth, Ullman & Vadhan 2016), of rhos, of divergences of ONE order
(Feldman & Zrnic 2021), of mu squared (Smith & Thakurta 2022; Koskela, Tobaben & Honkela 2022).
Deltas of approximate losses are added up separately (Whitehouse, Ramdas, Rogers & Wu 2023).

A filter guarantees its limit, whatever was spent. An epsilon computed at a moment that depends
on the answers is not a guarantee (except for the pure sum). Nor is the delta curve of the
releases so far: an analyst could stop, or go on, exactly where it looks best.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NoReturn

from deniable.errors import BudgetExhausted, InvalidStoppingRule, Unsupported
from deniable.exact.rationals import Number
from deniable.privacy.arithmetic import floats, normal
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.intervals import precision
from deniable.privacy.compose.reserved import Reserved
from deniable.privacy.losses.approximate import ApproximateLoss
from deniable.privacy.losses.concentrated import ConcentratedLoss
from deniable.privacy.losses.epsilon_loss import epsilon_of, show_epsilon
from deniable.privacy.losses.gaussian import GaussianLoss
from deniable.privacy.losses.loss import Loss, delta_of, nonnegative
from deniable.privacy.losses.renyi import RenyiLoss, divergence_beside_slack, order_of

WHY_NO_CHARGE = (
    "It only has a curve of all releases together. If later releases depend on earlier "
    "answers, stopping when such a curve crosses the budget can exceed the budget. Charge a "
    "PureLoss, ConcentratedLoss or GaussianLoss instead. Or, if the releases and their losses "
    "are all fixed in advance, reserve them together: filter.spend(reserved(loss, delta=...))."
)

_SHORT = 18  # characters of a number that is printed exactly


@dataclass(frozen=True)
class FilterCharge:
    """An amount in the unit of a filter, and a probability of full disclosure."""

    amount: ExactEpsilon
    slack: Fraction = Fraction(0)

    def __add__(self, other: "FilterCharge") -> "FilterCharge":
        return FilterCharge(self.amount + other.amount, self.slack + other.slack)

    def within(self, limit: "FilterCharge") -> bool:
        return self.slack <= limit.slack and self.amount <= limit.amount


@dataclass(frozen=True)
class FilterRemainder:
    """What is left, in the unit of the filter. It is not an epsilon at some delta."""

    unit: str
    amount: ExactEpsilon
    slack: Fraction

    def __repr__(self) -> str:
        rest = f", delta {floats.show(self.slack)}" if self.slack else ""
        return f"<{self.unit} {self._shown()}{rest} left>"

    def __float__(self) -> float:
        return floats.down(self.amount.interval(precision(40)).lo)

    def _shown(self) -> str:
        """The exact number if it is short, else six digits, rounded down."""
        exact = show_epsilon(self.amount)
        if len(exact) <= _SHORT:
            return exact
        return floats.show(floats.floor(Decimal(repr(float(self))), 6))

    def epsilon(self, delta: Number = 0) -> NoReturn:
        """Always refused: see the docstring of this module."""
        raise InvalidStoppingRule(
            "What is left (or spent) has no epsilon at a delta: at a moment that depends on "
            "earlier answers, such a number would guarantee nothing. The filter guarantees its "
            "limit: filter.promise.epsilon(delta)."
        )


class Filter(ABC):
    """A limit that adaptively chosen releases cannot exceed.

    `spend` charges a loss or refuses it. A refusal costs nothing, and a smaller loss may still
    fit. The decision depends only on the charges, never on the data.
    """

    unit: str

    def __init__(self, limit: FilterCharge) -> None:
        self._limit = limit
        self._spent = FilterCharge(ExactEpsilon())

    @property
    @abstractmethod
    def promise(self) -> Loss:
        """An upper bound on the loss of everything that this filter will ever grant."""

    @abstractmethod
    def _charge(self, loss: Loss) -> FilterCharge | None:
        """The charge of a loss in the unit of this filter, or None."""

    @property
    def limit(self) -> FilterCharge:
        """The most that it will ever grant, in its unit, and the most that deltas add up to."""
        return self._limit

    @property
    def remaining(self) -> FilterRemainder:
        """What is left, in the unit of the filter."""
        left = self._limit.amount - self._spent.amount
        left = left if left.sign() > 0 else ExactEpsilon()
        return FilterRemainder(
            self.unit, left, max(self._limit.slack - self._spent.slack, Fraction(0))
        )

    def room_for(self, loss: Loss) -> bool:
        """Whether `spend` would grant this loss now."""
        return any(self._fits(charge) for charge in self._charges(loss))

    def spend(self, loss: Loss) -> None:
        """Charges a loss before its release reads any data, or raises BudgetExhausted."""
        fitting = [charge for charge in self._charges(loss) if self._fits(charge)]
        if not fitting:
            raise BudgetExhausted(self._refusal(loss))
        self._spent = self._spent + fitting[0]

    def _refusal(self, loss: Loss) -> str:
        left = self.remaining
        slack = min(charge.slack for charge in self._charges(loss))
        if slack > left.slack:
            return (
                f"{loss!r} does not fit: its delta is {floats.show(slack)}, and delta "
                f"{floats.show(left.slack)} is left. Nothing was charged. Use a loss without "
                "delta, or a budget with a larger delta."
            )
        return (
            f"{loss!r} does not fit: {left!r}. Nothing was charged. Use a smaller loss (more "
            "noise), or another budget."
        )

    def _fits(self, charge: FilterCharge) -> bool:
        return (self._spent + charge).within(self._limit)

    def _charges(self, loss: Loss) -> list[FilterCharge]:
        candidates = [self._charge(candidate) for candidate in chargeable_losses(loss)]
        charges = [charge for charge in candidates if charge is not None]
        if not charges:
            raise InvalidStoppingRule(
                f"{loss!r} has no charge of {self.unit}. {self._why(loss)}"
            )
        return charges

    def _why(self, loss: Loss) -> str:
        """Why this filter cannot charge a loss, and which one can."""
        takes = {
            "PureFilter": loss.exact_epsilon is not None,
            "ConcentratedFilter": loss.rho is not None,
            "GaussianFilter": gaussian_charge(loss) is not None,
        }
        takers = [name for name, does in takes.items() if does]
        if not takers:
            return WHY_NO_CHARGE
        why = f"It is not bounded in that unit. A {' or a '.join(takers)} takes it"
        if not self._limit.slack:
            return f"{why}."
        return f"{why}. Or reserve it at some delta: filter.spend(reserved(loss, delta=...))."


def chargeable_losses(loss: Loss) -> Sequence[Loss]:
    """The losses that may be charged for a loss. A reserved one may be charged in two ways."""
    if not isinstance(loss, Loss):
        raise InvalidStoppingRule(
            f"A filter charges losses, such as mechanism.loss. Found {loss!r}. A number from a "
            "running sum is not a charge, because it depends on when it was read."
        )
    return (loss.whole, loss.price) if isinstance(loss, Reserved) else (loss,)


class PureFilter(Filter):
    """Epsilons add up exactly, and deltas add up separately.

    >>> from deniable.privacy import PureLoss
    >>> day = PureFilter(epsilon=1)
    >>> day.spend(PureLoss(0.75))
    >>> day.room_for(PureLoss(0.5)), day.room_for(PureLoss(0.25)), day.remaining
    (False, True, <epsilon 0.25 left>)
    """

    unit = "epsilon"

    def __init__(
        self, epsilon: Number | None = None, *, odds: Number | None = None, delta: Number = 0
    ) -> None:
        super().__init__(FilterCharge(epsilon_of(epsilon, odds), delta_of(delta)))

    @property
    def promise(self) -> Loss:
        return ApproximateLoss.of(self._limit.amount, self._limit.slack)

    def _charge(self, loss: Loss) -> FilterCharge | None:
        return CHARGES["pure"](loss)


class ConcentratedFilter(Filter):
    """Rhos add up, and deltas of approximate losses add up separately.

    >>> study = ConcentratedFilter.within(epsilon=1, delta=1e-6)
    >>> study.spend(GaussianLoss(0.1))
    >>> f"{float(study.remaining):.6f}"
    '0.019356'
    """

    unit = "rho"

    def __init__(self, rho: Number, *, delta: Number = 0) -> None:
        super().__init__(FilterCharge(ExactEpsilon(nonnegative(rho, "rho")), delta_of(delta)))

    @classmethod
    def within(cls, *, epsilon: Number, delta: Number) -> "ConcentratedFilter":
        """The greatest limit that keeps (epsilon, delta)."""
        return cls(ConcentratedLoss.calibrated(epsilon=epsilon, delta=delta).rho)

    @property
    def promise(self) -> Loss:
        whole: Loss = ConcentratedLoss(self._limit.amount.rational)
        return whole + ApproximateLoss(0, self._limit.slack) if self._limit.slack else whole

    def _charge(self, loss: Loss) -> FilterCharge | None:
        return CHARGES["zcdp"](loss)


class GaussianFilter(Filter):
    """Squares of mu add up, and deltas of approximate losses add up separately. A pure loss is
    charged the mu at which both trade-offs touch.

    >>> study = GaussianFilter(mu=1)
    >>> study.spend(GaussianLoss(0.6))
    >>> study.room_for(GaussianLoss(0.8)), study.room_for(GaussianLoss(0.81))
    (True, False)
    """

    unit = "mu squared"

    def __init__(
        self,
        mu: Number | None = None,
        *,
        mu_squared: Number | None = None,
        delta: Number = 0,
    ) -> None:
        limit = GaussianLoss(mu, mu_squared=mu_squared)
        super().__init__(FilterCharge(ExactEpsilon(limit.mu_squared), delta_of(delta)))

    @classmethod
    def within(cls, *, epsilon: Number, delta: Number) -> "GaussianFilter":
        """The greatest limit that keeps (epsilon, delta)."""
        loss = GaussianLoss.calibrated(epsilon=epsilon, delta=delta)
        return cls(mu_squared=loss.mu_squared)

    @property
    def promise(self) -> Loss:
        whole: Loss = GaussianLoss(mu_squared=self._limit.amount.rational)
        return whole + ApproximateLoss(0, self._limit.slack) if self._limit.slack else whole

    def _charge(self, loss: Loss) -> FilterCharge | None:
        return CHARGES["gdp"](loss)


def gaussian_charge(loss: Loss) -> Fraction | None:
    """The square of mu that a loss costs, without its slack; None if it has no such charge.

    >>> gaussian_charge(GaussianLoss(0.6) * 2)
    Fraction(18, 25)
    """
    total = Fraction(0)
    for part, count in loss.parts:
        square = (
            part.mu_squared
            if part.mu_squared is not None
            else _touching_mu_squared(part.exact_epsilon)
        )
        if square is None:
            return None
        total += square * count
    return total


@lru_cache(maxsize=4096)
def _touching_mu_squared(epsilon: ExactEpsilon | None) -> Fraction | None:
    """mu = 2 z with P(N > z) = 1 / (1 + e**epsilon): then the corner of the pure trade-off lies
    on the Gaussian trade-off, which is convex and so lies below it everywhere."""
    if epsilon is None:
        return None
    tail = 1 / (1 + epsilon.odds(precision(60)))
    if tail.lo >= Decimal("0.5"):
        return Fraction(0)
    z = -normal.quantile_below(1 - Fraction(tail.lo))
    return floats.ceiling(max(z, Decimal(0)) * 2) ** 2


def _pure_charge(loss: Loss) -> FilterCharge | None:
    exact = loss.exact_epsilon
    return None if exact is None else FilterCharge(exact, loss.slack)


def _concentrated_charge(loss: Loss) -> FilterCharge | None:
    return None if loss.rho is None else FilterCharge(ExactEpsilon(loss.rho), loss.slack)


def _gaussian_charge(loss: Loss) -> FilterCharge | None:
    square = gaussian_charge(loss)
    return None if square is None else FilterCharge(ExactEpsilon(square), loss.slack)


# What a loss adds to the sum of each kind of filter; None if it has no charge of that kind.
CHARGES: Mapping[str, Callable[[Loss], FilterCharge | None]] = {
    "pure": _pure_charge,
    "zcdp": _concentrated_charge,
    "gdp": _gaussian_charge,
}


def renyi_charge(loss: Loss, order: Fraction) -> FilterCharge | None:
    """The divergence of one order that a loss costs, and its delta; None without one."""
    unbounded = loss.exact_epsilon is None and loss.rho is None
    if unbounded and loss.dominating_pairs is not None:
        return None
    try:
        return FilterCharge(ExactEpsilon(divergence_beside_slack(loss, order)), loss.slack)
    except Unsupported:
        return None


class RenyiFilter(Filter):
    """Divergences of one order, fixed in advance, add up, and deltas of approximate losses add
    up separately.

    >>> study = RenyiFilter(order=8, divergence=4)
    >>> study.spend(GaussianLoss(0.5))
    >>> float(study.remaining), f"{study.promise.epsilon(1e-6):.4f}"
    (3.0, '5.5430')
    """

    unit = "divergence"

    def __init__(self, *, order: Number, divergence: Number, delta: Number = 0) -> None:
        self.order = order_of(order)
        limit = ExactEpsilon(nonnegative(divergence, "divergence"))
        super().__init__(FilterCharge(limit, delta_of(delta)))

    @property
    def promise(self) -> Loss:
        whole: Loss = RenyiLoss({self.order: self._limit.amount.rational})
        return whole + ApproximateLoss(0, self._limit.slack) if self._limit.slack else whole

    def _charge(self, loss: Loss) -> FilterCharge | None:
        return renyi_charge(loss, self.order)
