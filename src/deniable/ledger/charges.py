"""The charge of plans in each filter, and the limit that a budget gives each filter."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from operator import add

from deniable.errors import InvalidParameter
from deniable.ledger.accounts import Amount, Charge, round_up
from deniable.policy.budget import Budget
from deniable.privacy import ApproximateLoss, Loss
from deniable.privacy.arithmetic import floats
from deniable.privacy.filters.adaptive import CHARGES
from deniable.privacy.filters.union import filters_within
from deniable.query.plan.plan import Plan


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
    plans: Sequence[Plan], filters: tuple[str, ...], delta: Fraction | None = None
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


def _pure_price(plans: Sequence[Plan], delta: Fraction | None) -> tuple[Fraction, Fraction]:
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
    return sum((Fraction(top, bottom) for bottom, top in numerators.items()), Fraction(0))


@lru_cache(maxsize=256)
def _tight_epsilon(loss: Loss, delta: Fraction) -> Fraction:
    epsilon = loss.epsilon(delta)
    if epsilon == float("inf"):
        raise InvalidParameter(
            f"These plans together have no finite epsilon at delta {floats.show(delta)}: "
            f"{loss!r}. Give a delta above the sum of the plans' deltas. Nothing was spent."
        )
    return Fraction(epsilon)


@lru_cache(maxsize=1024)
def _charge_in(kind: str, loss: Loss, epsilon: Fraction, delta: Fraction) -> Amount | None:
    """A filter's charge for a loss or, if that has no rho, for its price. All filters but the
    pure one charge it in the same way: they share the limit of its delta."""
    charged = loss if loss.rho is not None else ApproximateLoss(epsilon, delta)
    charge = CHARGES[kind](charged)
    if charge is None:
        return None
    return Amount(round_up(charge.amount.rational), round_up(charge.slack))
