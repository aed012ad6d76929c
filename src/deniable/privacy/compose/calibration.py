"""The least noise with which several releases fit a budget, and how many releases fit it.

Both assume that more noise, or fewer releases, never cost more. Floats propose the noise. The
budget is checked against the loss of the same mechanism that is returned.
"""

from collections.abc import Callable
from typing import Protocol, TypeVar

from deniable.errors import InvalidParameter
from deniable.exact.rationals import whole
from deniable.privacy.losses.loss import Loss

_MOST = 1 << 40


class HasLoss(Protocol):
    """The part of a mechanism that calibration needs."""

    @property
    def loss(self) -> Loss: ...


M = TypeVar("M", bound=HasLoss)


def calibrate(make: Callable[[float], M], *, to: Loss, count: int = 1, digits: int = 6) -> M:
    """The mechanism with the least noise whose `count` releases stay within a budget.

    `make` builds a mechanism from an amount of noise (a sigma or a scale; more noise must be
    more private). The amount is rounded up to `digits` significant digits.

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
    while (step := _round_digits(low + (high - low) / 2, digits)) not in (low, high):
        low, high = (low, step) if fits(step) else (step, high)
    return make(high)


def _bracket(fits: Callable[[float], bool]) -> tuple[float, float]:
    """Two powers of ten: the first does not fit, the second does."""
    power = 0
    while not fits(float(f"1e{power}")):
        power += 1
        if power > 30:
            raise InvalidParameter(
                "No amount of noise fits the budget. Either the budget is zero, or `make` does "
                "not add more noise when its argument grows."
            )
    while power > -30 and fits(float(f"1e{power - 1}")):
        power -= 1
    if power == -30:
        raise InvalidParameter(
            "Any amount of noise fits the budget: the loss does not seem to depend on the "
            "argument of `make`."
        )
    return float(f"1e{power - 1}"), float(f"1e{power}")


def _round_digits(x: float, digits: int) -> float:
    return float(f"{x:.{digits - 1}e}")


def how_many(loss: Loss, budget: Loss, *, already: Loss | None = None) -> int:
    """How many such releases fit into a budget, in addition to what was `already` released.

    The number is fixed in advance. Use a filter for adaptive releases.

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
        raise InvalidParameter(
            "how_many() takes two losses: the loss of each release, and a budget."
        )

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
                f"More than {_MOST} releases of {loss!r} fit the budget. Each seems to cost "
                "nothing."
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
