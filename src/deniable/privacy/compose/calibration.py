"""The least noise for a budget over a whole plan, and how many releases a budget holds.

Both count on more noise, or fewer releases, never costing more. Floats propose the noise; the
budget is checked against the loss of the very mechanism that is returned.
"""

from collections.abc import Callable
from typing import Protocol, TypeVar

from deniable.errors import InvalidParameter
from deniable.exact.rationals import whole
from deniable.privacy.losses.loss import Loss

_MOST = 1 << 40


class HasLoss(Protocol):
    """A mechanism, as far as calibration needs."""

    @property
    def loss(self) -> Loss: ...


M = TypeVar("M", bound=HasLoss)


def calibrate(make: Callable[[float], M], *, to: Loss, count: int = 1, digits: int = 6) -> M:
    """The mechanism with the least noise whose `count` releases stay within a budget.

    `make` builds a mechanism from an amount of noise (a sigma, a scale: the more, the more
    private). The amount is found to so many significant digits, on the private side.

    >>> from deniable.mechanisms import Gaussian
    >>> from deniable.privacy import ApproximateLoss
    >>> best = calibrate(lambda s: Gaussian(sigma=s), to=ApproximateLoss(1, 1e-6), count=100)
    >>> best.sigma
    42.2468
    """
    times = whole(count, "count")
    whole(digits, "digits")

    def fits(noise: float) -> bool:
        return (make(noise).loss * times).fits(to)

    low, high = _bracket(fits)
    while (step := _rounded(low + (high - low) / 2, digits)) not in (low, high):
        low, high = (low, step) if fits(step) else (step, high)
    return make(high)


def _bracket(fits: Callable[[float], bool]) -> tuple[float, float]:
    """Powers of ten, of which the second fits and the first does not."""
    power = 0
    while not fits(float(f"1e{power}")):
        power += 1
        if power > 30:
            raise InvalidParameter(
                "No amount of noise fits the budget. It may be zero, or `make` does not add "
                "more noise when its argument grows."
            )
    while power > -30 and fits(float(f"1e{power - 1}")):
        power -= 1
    if power == -30:
        raise InvalidParameter(
            "Any amount of noise fits the budget, however little: the loss does not seem to "
            "depend on what `make` is given."
        )
    return float(f"1e{power - 1}"), float(f"1e{power}")


def _rounded(x: float, digits: int) -> float:
    return float(f"{x:.{digits - 1}e}")


def how_many(loss: Loss, budget: Loss, *, already: Loss | None = None) -> int:
    """How many such releases fit into a budget, after what was `already` released.

    For plans: the number is fixed in advance. Adaptive releases go through a filter.

    >>> from deniable.privacy import ApproximateLoss, PureLoss
    >>> how_many(PureLoss(0.1), PureLoss(1))
    10
    >>> (
    ...     how_many(PureLoss(0.1), ApproximateLoss(1, 1e-6)),
    ...     how_many(PureLoss(0.01), ApproximateLoss(1, 1e-6)),
    ... )
    (10, 562)
    """
    if not isinstance(loss, Loss) or not isinstance(budget, Loss):
        raise InvalidParameter("`how_many` compares two losses: what each costs, and a budget.")

    def fits(count: int) -> bool:
        total = loss * count
        return (total if already is None else already + total).fits(budget)

    if not fits(0):
        return 0
    high = 1
    while fits(high):
        high *= 2
        if high > _MOST:
            raise InvalidParameter(
                f"More than {_MOST} of {loss!r} fit the budget: it seems to cost nothing."
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
