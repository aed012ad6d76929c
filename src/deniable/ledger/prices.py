"""Whether a plan states what its mechanisms cost, and whether its noise can be drawn."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from deniable.errors import InvalidParameter
from deniable.ledger.ledger import format_down
from deniable.privacy import ApproximateLoss, Loss
from deniable.query.plan.plan import Plan


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
