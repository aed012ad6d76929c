"""An assertion for test suites: no violation of a privacy claim was found."""

from collections.abc import Iterable, Sequence
from typing import Any

from deniable.audit.test.blackbox import test
from deniable.exact.rationals import Number
from deniable.privacy import ApproximateLoss, Loss, PureLoss


def assert_private(
    mechanism: Any,
    *,
    neighbors: Iterable[Sequence[Any]],
    epsilon: Number | None = None,
    odds: Number | None = None,
    delta: Number = 0,
    claim: Loss | None = None,
    calls: int = 100_000,
    error: Number = 1e-9,
) -> None:
    """Raises AssertionError with the event that violates the claim, if one is found.

    A private mechanism fails once in a thousand million times. A mechanism whose epsilon is a
    third too large usually fails within the default 100,000 calls. Passing proves nothing.

    >>> from deniable import Laplace
    >>> assert_private(Laplace(epsilon=1), epsilon=1, neighbors=[(0, 1)], calls=20_000)
    >>> assert_private(Laplace(epsilon=2), epsilon=1, neighbors=[(0, 1)], calls=20_000)
    Traceback (most recent call last):
        ...
    AssertionError: violates PureLoss(1): ...
    """
    verdict = test(
        mechanism,
        neighbors,
        _claim(epsilon, odds, delta, claim),
        calls=calls,
        error=error,
        show_progress=False,
    )
    if verdict.violated:
        raise AssertionError(str(verdict))


def _claim(
    epsilon: Number | None, odds: Number | None, delta: Number, claim: Loss | None
) -> Loss | None:
    if claim is not None or (epsilon is None and odds is None):
        return claim
    return ApproximateLoss(epsilon, delta, odds=odds) if delta else PureLoss(epsilon, odds=odds)
