"""Budgets for releases that are chosen one after the other, each after the last answer.

A filter is committed to a limit in advance and grants a release while the charges so far and
its own stay within it. Valid for fully adaptive losses are sums of one kind of charge: of
epsilons (Rogers, Roth, Ullman & Vadhan 2016), of rhos, of divergences of ONE order (Feldman &
Zrnic 2021), of mu squared (Smith & Thakurta 2022; Koskela, Tobaben & Honkela 2022); deltas of
approximate losses are added up beside them (Whitehouse, Ramdas, Rogers & Wu 2023).

What a filter promises is its limit, whatever was spent. An epsilon read off at a moment that
depends on the answers is no promise (but for the pure sum), and neither is a delta curve of
what was released so far: an analyst can stop, or go on, just where that flatters.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NoReturn

from deniable.errors import BudgetExhausted, InvalidStoppingRule
from deniable.exact.rationals import Number
from deniable.privacy.arithmetic import floats, normal
from deniable.privacy.arithmetic.intervals import precision
from deniable.privacy.arithmetic.nats import Nats
from deniable.privacy.compose.reserved import Reserved
from deniable.privacy.losses.approximate import ApproximateLoss
from deniable.privacy.losses.concentrated import ConcentratedLoss
from deniable.privacy.losses.gaussian import GaussianLoss
from deniable.privacy.losses.loss import Loss, delta_of, nonnegative
from deniable.privacy.losses.nats_loss import nats_of, show_nats
from deniable.privacy.losses.renyi import RenyiLoss, divergence, order_of

WHY = (
    "Its cost together with others is read off a curve that already knows how the others "
    "came out; whoever stops when such a curve crosses the budget can exceed it. Charge a "
    "PureLoss, ConcentratedLoss or GaussianLoss instead, or, if the releases and their losses "
    "are all fixed in advance, reserve them together: filter.spend(reserved(loss, delta=...))."
)

_SHORT = 18  # characters of a number that is printed exactly


@dataclass(frozen=True)
class Charge:
    """An amount of a filter's own unit, and a probability of telling all."""

    amount: Nats
    slack: Fraction = Fraction(0)

    def __add__(self, other: "Charge") -> "Charge":
        return Charge(self.amount + other.amount, self.slack + other.slack)

    def within(self, limit: "Charge") -> bool:
        return self.slack <= limit.slack and self.amount <= limit.amount


@dataclass(frozen=True)
class FilterRoom:
    """What is left, in the filter's own unit; not an epsilon, and no promise about one."""

    unit: str
    amount: Nats
    slack: Fraction

    def __repr__(self) -> str:
        rest = f", delta {floats.show(self.slack)}" if self.slack else ""
        return f"<{self.unit} {self._shown()}{rest} left>"

    def __float__(self) -> float:
        return floats.down(self.amount.interval(precision(40)).lo)

    def _shown(self) -> str:
        """Exactly where that is short, else six digits, rounded down."""
        exact = show_nats(self.amount)
        if len(exact) <= _SHORT:
            return exact
        return floats.show(floats.floor(Decimal(repr(float(self))), 6))

    def epsilon(self, delta: Number = 0) -> NoReturn:
        """Refused: see the module's first lines."""
        raise InvalidStoppingRule(
            "What is left (or spent) so far has no epsilon at a delta: read at a moment that "
            "depends on earlier answers it would promise nothing. The filter's promise is its "
            "limit: filter.promise.epsilon(delta)."
        )


class Filter(ABC):
    """A limit that adaptively chosen releases cannot exceed.

    `spend` charges a loss or refuses it; a refusal costs nothing, and a smaller loss may
    still fit. Only the charges decide, never the data.
    """

    unit: str

    def __init__(self, limit: Charge) -> None:
        self._limit = limit
        self._spent = Charge(Nats())

    @property
    @abstractmethod
    def promise(self) -> Loss:
        """What everything that this filter will ever grant costs together, at most."""

    @abstractmethod
    def _charge(self, loss: Loss) -> Charge | None:
        """What a loss costs here; None where it has no such charge."""

    @property
    def remaining(self) -> FilterRoom:
        """The room that is left, in the filter's own unit."""
        left = self._limit.amount - self._spent.amount
        left = left if left.sign() > 0 else Nats()
        return FilterRoom(
            self.unit, left, max(self._limit.slack - self._spent.slack, Fraction(0))
        )

    def room_for(self, loss: Loss) -> bool:
        """Whether `spend` would grant this loss now."""
        return any(self._fits(one) for one in self._charges(loss))

    def spend(self, loss: Loss) -> None:
        """Charges a loss, before its release touches any data; or raises BudgetExhausted."""
        fitting = [one for one in self._charges(loss) if self._fits(one)]
        if not fitting:
            raise BudgetExhausted(self._refusal(loss))
        self._spent = self._spent + fitting[0]

    def _refusal(self, loss: Loss) -> str:
        left = self.remaining
        slack = min(one.slack for one in self._charges(loss))
        if slack > left.slack:
            return (
                f"{loss!r} does not fit: its delta is {floats.show(slack)}, and delta "
                f"{floats.show(left.slack)} is left. Nothing was charged. Ask for a loss "
                "without delta, or for a budget that was given more of it in advance."
            )
        return (
            f"{loss!r} does not fit: {left!r}. Nothing was charged. Ask for less (a smaller "
            "loss, more noise), or for another budget."
        )

    def _fits(self, charge: Charge) -> bool:
        return (self._spent + charge).within(self._limit)

    def _charges(self, loss: Loss) -> list[Charge]:
        found = [self._charge(one) for one in ways(loss)]
        charges = [one for one in found if one is not None]
        if not charges:
            raise InvalidStoppingRule(
                f"{loss!r} has no charge of {self.unit}. {self._why(loss)}"
            )
        return charges

    def _why(self, loss: Loss) -> str:
        """Why this filter cannot charge a loss, and which one can."""
        found = {
            "PureFilter": loss.nats is not None,
            "ConcentratedFilter": loss.rho is not None,
            "GaussianFilter": gaussian_charge(loss) is not None and not loss.slack,
        }
        takers = [name for name, takes in found.items() if takes]
        if not takers:
            return WHY
        why = f"Nothing in that unit bounds it. A {' or a '.join(takers)} takes it"
        if not self._limit.slack:
            return f"{why}."
        return f"{why}; or reserve it for some delta: filter.spend(reserved(loss, delta=...))."


def ways(loss: Loss) -> Sequence[Loss]:
    """The losses that may be charged for one: a reserved plan may be charged as either."""
    if not isinstance(loss, Loss):
        raise InvalidStoppingRule(
            f"A filter is charged with losses, such as mechanism.loss. Found {loss!r}: a "
            "number read off a running sum is no charge, as it depends on when one looked."
        )
    return (loss.whole, loss.priced) if isinstance(loss, Reserved) else (loss,)


class PureFilter(Filter):
    """Epsilons add up, exactly, and deltas beside them.

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
        super().__init__(Charge(nats_of(epsilon, odds), delta_of(delta)))

    @property
    def promise(self) -> Loss:
        return ApproximateLoss.of(self._limit.amount, self._limit.slack)

    def _charge(self, loss: Loss) -> Charge | None:
        return None if loss.nats is None else Charge(loss.nats, loss.slack)


class ConcentratedFilter(Filter):
    """Rhos add up, and deltas of approximate losses beside them.

    >>> study = ConcentratedFilter.within(epsilon=1, delta=1e-6)
    >>> study.spend(GaussianLoss(0.1))
    >>> f"{float(study.remaining):.6f}"
    '0.019356'
    """

    unit = "rho"

    def __init__(self, rho: Number, *, delta: Number = 0) -> None:
        super().__init__(Charge(Nats(nonnegative(rho, "rho")), delta_of(delta)))

    @classmethod
    def within(cls, *, epsilon: Number, delta: Number) -> "ConcentratedFilter":
        """The greatest limit that keeps (epsilon, delta)."""
        return cls(ConcentratedLoss.calibrated(epsilon=epsilon, delta=delta).rho)

    @property
    def promise(self) -> Loss:
        whole: Loss = ConcentratedLoss(self._limit.amount.rational)
        return whole + ApproximateLoss(0, self._limit.slack) if self._limit.slack else whole

    def _charge(self, loss: Loss) -> Charge | None:
        return None if loss.rho is None else Charge(Nats(loss.rho), loss.slack)


class GaussianFilter(Filter):
    """Squares of mu add up. A pure loss is charged the mu at which both curves touch.

    >>> study = GaussianFilter(mu=1)
    >>> study.spend(GaussianLoss(0.6))
    >>> study.room_for(GaussianLoss(0.8)), study.room_for(GaussianLoss(0.81))
    (True, False)
    """

    unit = "mu squared"

    def __init__(self, mu: Number | None = None, *, mu_squared: Number | None = None) -> None:
        limit = GaussianLoss(mu, mu_squared=mu_squared)
        super().__init__(Charge(Nats(limit.mu_squared)))

    @classmethod
    def within(cls, *, epsilon: Number, delta: Number) -> "GaussianFilter":
        """The greatest limit that keeps (epsilon, delta)."""
        loss = GaussianLoss.calibrated(epsilon=epsilon, delta=delta)
        return cls(mu_squared=loss.mu_squared)

    @property
    def promise(self) -> Loss:
        return GaussianLoss(mu_squared=self._limit.amount.rational)

    def _charge(self, loss: Loss) -> Charge | None:
        square = gaussian_charge(loss)
        return None if square is None else Charge(Nats(square), loss.slack)


def gaussian_charge(loss: Loss) -> Fraction | None:
    """The square of mu that a loss costs, beside its slack; None where it has no such charge.

    >>> gaussian_charge(GaussianLoss(0.6) * 2)
    Fraction(18, 25)
    """
    total = Fraction(0)
    for part, count in loss.parts:
        square = part.mu_squared if part.mu_squared is not None else _touching(part.nats)
        if square is None:
            return None
        total += square * count
    return total


@lru_cache(maxsize=4096)
def _touching(nats: Nats | None) -> Fraction | None:
    """mu = 2 z with P(N > z) = 1 / (1 + e**epsilon): there the pure loss's trade-off has its
    corner on the Gaussian's convex one, which therefore lies below it everywhere."""
    if nats is None:
        return None
    tail = 1 / (1 + nats.odds(precision(60)))
    if tail.lo >= Decimal("0.5"):
        return Fraction(0)
    z = -normal.quantile_below(1 - Fraction(tail.lo))
    return floats.ceiling(max(z, Decimal(0)) * 2) ** 2


class RenyiFilter(Filter):
    """Divergences of one order, fixed in advance, add up.

    >>> study = RenyiFilter(order=8, divergence=4)
    >>> study.spend(GaussianLoss(0.5))
    >>> float(study.remaining), f"{study.promise.epsilon(1e-6):.4f}"
    (3.0, '5.5430')
    """

    unit = "divergence"

    def __init__(self, *, order: Number, divergence: Number) -> None:
        self.order = order_of(order)
        super().__init__(Charge(Nats(nonnegative(divergence, "divergence"))))

    @property
    def promise(self) -> Loss:
        return RenyiLoss({self.order: self._limit.amount.rational})

    def _charge(self, loss: Loss) -> Charge | None:
        if loss.slack or (loss.plan is not None and loss.nats is None and loss.rho is None):
            return None
        return Charge(Nats(divergence(loss, self.order)))
