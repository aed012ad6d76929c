"""What plans are charged in each filter, and the limits that a budget gives each filter."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from operator import add

from deniable.errors import InvalidParameter
from deniable.ledger.accounts import Amount, Charge, above
from deniable.policy.budget import Budget
from deniable.privacy import (
    ApproximateLoss,
    ConcentratedLoss,
    GaussianLoss,
    Loss,
)
from deniable.privacy.arithmetic import floats
from deniable.privacy.filters.adaptive import gaussian_charge
from deniable.query.plan.plan import Plan


@lru_cache(maxsize=1024)
def limits(budget: Budget, filters: tuple[str, ...]) -> dict[str, Amount]:
    """What each filter may add up to, so that all together keep the budget.

    Each has an equal share of delta. The pure sum keeps its share for the deltas of plans;
    the concentrated one spends half of it on the way from rho to epsilon, and keeps half; the
    Gaussian one spends it all, so that plans with private keys close it.

    >>> limits(Budget(1, 1e-6), ("pure",))["pure"]
    Amount(amount=Fraction(1, 1), slack=Fraction(1, 1000000))
    """
    epsilon, share = budget.epsilon, budget.delta / len(filters)
    found = {"pure": Amount(epsilon, share)}
    if "zcdp" in filters:
        loss = ConcentratedLoss.calibrated(epsilon=epsilon, delta=share / 2)
        found["zcdp"] = Amount(loss.rho, share / 2)
    if "gdp" in filters:
        bell = GaussianLoss.calibrated(epsilon=epsilon, delta=share)
        found["gdp"] = Amount(bell.mu_squared)
    return found


def price(
    plans: Sequence[Plan], filters: tuple[str, ...], delta: Fraction | None = None
) -> Charge:
    """What plans are charged together in each filter.

    In the pure sum it is what they say; or, with a `delta`, for plans that are all fixed in
    advance, the least epsilon that their composed loss has at that delta.
    """
    priced = _priced(plans, delta)
    found: dict[str, Amount | None] = {"pure": Amount(*map(above, priced))}
    if len(filters) > 1:
        whole = reduce(add, (plan.loss for plan in plans))
        found |= {kind: _charge(kind, whole, *priced) for kind in filters if kind != "pure"}
    return found


def _priced(plans: Sequence[Plan], delta: Fraction | None) -> tuple[Fraction, Fraction]:
    if delta is None:
        return added(plan.epsilon for plan in plans), added(plan.delta for plan in plans)
    return _tight(reduce(add, (plan.loss for plan in plans)), delta), delta


def added(amounts: Iterable[Fraction]) -> Fraction:
    """The exact sum; fast for many numbers that have few denominators.

    >>> added([Fraction(1, 10)] * 10)
    Fraction(1, 1)
    """
    tops: dict[int, int] = {}
    for one in amounts:
        tops[one.denominator] = tops.get(one.denominator, 0) + one.numerator
    return sum((Fraction(top, bottom) for bottom, top in tops.items()), Fraction(0))


@lru_cache(maxsize=256)
def _tight(loss: Loss, delta: Fraction) -> Fraction:
    epsilon = loss.epsilon(delta)
    if epsilon == float("inf"):
        raise InvalidParameter(
            f"These plans together have no finite epsilon at delta {floats.show(delta)}: "
            f"{loss!r}. Nothing was spent. Give a delta above the sum of theirs."
        )
    return Fraction(epsilon)


@lru_cache(maxsize=1024)
def _charge(kind: str, loss: Loss, epsilon: Fraction, delta: Fraction) -> Amount | None:
    if kind == "zcdp":
        charged = loss if loss.rho is not None else ApproximateLoss(epsilon, delta)
        return None if charged.rho is None else Amount(above(charged.rho), charged.slack)
    square = None if loss.slack else gaussian_charge(loss)
    return None if square is None else Amount(above(square))
