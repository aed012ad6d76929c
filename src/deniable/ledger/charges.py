"""The charge of plans in each filter, the limit that a budget gives each filter, and whether a
plan states what its mechanisms cost."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from operator import add
from typing import Any, Protocol

from deniable.errors import InvalidParameter
from deniable.ledger.accounts import Amount, Charge, round_up
from deniable.ledger.ledger import format_down
from deniable.policy.budget import Budget
from deniable.privacy import ApproximateLoss, Loss
from deniable.privacy.arithmetic import floats
from deniable.privacy.filters.adaptive import CHARGES, renyi_charge
from deniable.privacy.filters.union import filters_within
from deniable.privacy.neighbors import Neighbors
from deniable.query.plan.plan import Plan


class Priced(Protocol):
    """What is charged: a plan, or a run of several steps."""

    @property
    def loss(self) -> Loss: ...

    @property
    def epsilon(self) -> Fraction: ...

    @property
    def delta(self) -> Fraction: ...

    @property
    def tables(self) -> tuple[str, ...]: ...

    @property
    def neighbors(self) -> Neighbors: ...


@lru_cache(maxsize=1024)
def filter_limits(budget: Budget, filters: tuple[str, ...]) -> dict[str, Amount]:
    """The limit of each filter's sum, such that all filters together keep the budget.

    The split of delta is that of `UnionFilter.within`.

    >>> filter_limits(Budget(1, 1e-6), ("pure",))["pure"]
    Amount(amount=Fraction(1, 1), slack=Fraction(1, 1000000))
    """
    split = filters_within(epsilon=budget.epsilon, delta=budget.delta, kinds=filters)
    return {
        kind: Amount(member.limit.amount.rational, member.limit.slack)
        for kind, member in zip(filters, split.filters, strict=True)
    }


def charge_for(
    plans: Sequence[Priced], filters: tuple[str, ...], delta: Fraction | None = None
) -> Charge:
    """What plans are charged together in each filter.

    The pure filter charges the sum of the prices that the plans state. With a `delta`, for
    plans that are all fixed in advance, it charges that delta and the least epsilon that their
    composed loss has at it.
    """
    price = _pure_price(plans, delta)
    charge: dict[str, Amount | None] = {"pure": Amount(*map(round_up, price))}
    if len(filters) > 1:
        loss = reduce(add, (plan.loss for plan in plans))
        charge |= {kind: _charge_in(kind, loss, *price) for kind in filters if kind != "pure"}
    return charge


def _pure_price(plans: Sequence[Priced], delta: Fraction | None) -> tuple[Fraction, Fraction]:
    if delta is None:
        epsilons, deltas = (plan.epsilon for plan in plans), (plan.delta for plan in plans)
        return exact_sum(epsilons), exact_sum(deltas)
    return _tight_epsilon(reduce(add, (plan.loss for plan in plans)), delta), delta


def exact_sum(amounts: Iterable[Fraction]) -> Fraction:
    """The exact sum. It is fast for many numbers that share few denominators.

    >>> exact_sum([Fraction(1, 10)] * 10)
    Fraction(1, 1)
    """
    numerators: dict[int, int] = {}
    for amount in amounts:
        total = numerators.get(amount.denominator, 0)
        numerators[amount.denominator] = total + amount.numerator
    parts = [Fraction(top, bottom) for bottom, top in numerators.items()]
    return parts[0] if len(parts) == 1 else sum(parts, Fraction(0))


@lru_cache(maxsize=256)
def _tight_epsilon(loss: Loss, delta: Fraction) -> Fraction:
    epsilon = loss.epsilon(delta)
    if epsilon == float("inf"):
        raise InvalidParameter(
            f"These plans together have no finite epsilon at delta {floats.show(delta)}: "
            f"{loss!r}. Give a delta above the sum of the plans' deltas. Nothing was spent."
        )
    return Fraction(epsilon)


def _charge_in(kind: str, loss: Loss, epsilon: Fraction, delta: Fraction) -> Amount | None:
    charge = exact_charge(kind, loss, epsilon, delta)
    return None if charge is None else Amount(*map(round_up, charge))


@lru_cache(maxsize=1024)
def exact_charge(kind: str, loss: Loss, epsilon: Fraction, delta: Fraction) -> Amount | None:
    """A filter's charge for a loss at a price, not rounded; None if it has no such charge.

    The pure filter charges the price. All others charge the loss or, if that has no rho, the
    price, in the same way: they share the limit of its delta. A filter of one Renyi order is
    called "renyi:8".

    >>> exact_charge("pure", ApproximateLoss(1, 1e-6), Fraction(1), Fraction(1, 10**6))
    Amount(amount=Fraction(1, 1), slack=Fraction(1, 1000000))
    """
    if kind == "pure":
        return Amount(epsilon, delta)
    charged = loss if loss.rho is not None else ApproximateLoss(epsilon, delta)
    name, _, order = kind.partition(":")
    charge = renyi_charge(charged, Fraction(order)) if order else CHARGES[name](charged)
    return None if charge is None else Amount(charge.amount.rational, charge.slack)


def check_price(plan: Plan, *, to_draw: bool = True) -> None:
    """Refuses a plan whose mechanisms cost more than its price; and, before its noise is to be
    drawn, one whose noise cannot be drawn."""
    if plan.epsilon < 0 or plan.delta < 0:
        raise InvalidParameter("The cost of a plan cannot be negative. Nothing was spent.")
    if to_draw:
        for block in plan.blocks:
            _check_drawable(block.mechanism, len(block.features))
    for choice in plan.choices:
        if choice.changes < (least := plan.least_changes(choice)):
            raise InvalidParameter(
                f"The plan counts {choice.changes} changes by one privacy unit for "
                f"{choice.about}, but one unit can make {least}. Nothing was spent."
            )
    if not _fits(plan.loss, plan.epsilon, plan.delta):
        raise InvalidParameter(
            f"The plan charges epsilon {format_down(plan.epsilon)} and delta "
            f"{format_down(plan.delta)}, but running it costs more: {plan.loss!r}. "
            "Nothing was spent."
        )


def check_prices(plans: Sequence[Plan]) -> None:
    """Checks several plans; a plan with the price and noise of the last one is checked once."""
    last: tuple[object, ...] = ()
    for plan in plans:
        noises = [(block.mechanism, len(block.features)) for block in plan.blocks]
        price = (plan.epsilon, plan.delta, plan.loss, noises)
        if price != last:
            check_price(plan)
        last = price


@lru_cache(maxsize=4096)
def _check_drawable(mechanism: Any, count: int) -> None:
    """Raises `InvalidParameter` if the mechanism's noise cannot be drawn."""
    mechanism.noise(count).draw(0)


@lru_cache(maxsize=4096)
def _fits(loss: Loss, epsilon: Fraction, delta: Fraction) -> bool:
    return loss.fits(ApproximateLoss(epsilon, delta))
