"""A statistical audit of any mechanism, as a black box.

Rounds grow eightfold. Each round searches for pairs of inputs and events, then tests the best
few on fresh outputs with Clopper-Pearson bounds on the event's probability under both inputs.
Let the event have probability at least p under one input and at most q under the other. A claim
f (as a trade-off) is violated when 1 - p < f(q), and epsilon is at least ln((p - delta) / q).

The search spends its calls by evidence (`races`), so that many harmless pairs hardly hide a
harmful one. The error rate does not depend on how: given everything that the search saw, the
outputs of the test are fresh, so each bound of it is wrong with probability at most its share
of the round's error. A round divides its error among the bounds that it tests, however they
were chosen, and the errors of all rounds add up to `error`. So by the union bound all bounds of
an audit hold together with probability 1 - `error`, however many pairs there are.

The audit also compares two calls in a row, x then x against x then y. With fresh noise the
first call says nothing about the second, so the claim for one call must hold for the two
together. A mechanism that remembers its noise fails this test.

An audit can show that a claim is false, never that it is true.
"""

# ruff: noqa: PT028 - `test` tests mechanisms, not this package

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Real
from typing import Any

from deniable.audit.prove.datasets import list_groups
from deniable.audit.test.comparisons import Comparison, list_comparisons
from deniable.audit.test.event_confirmation import EventBounds, confirm_events
from deniable.audit.test.event_search import EventTest, EventTests
from deniable.audit.test.mechanism_calls import (
    Caller,
    CallMeter,
    OutOfTime,
)
from deniable.audit.test.progress import progress
from deniable.audit.test.races import Found, race
from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, probability, whole
from deniable.privacy import Loss
from deniable.privacy.losses.loss import delta_of

_FIRST = 20_000
_GROWTH = 8
_TESTS = 3  # events tested on fresh outputs, for each of the two measures
_SUSPICIOUS = 2.0  # standard errors above the claim
_FLOATING = 4.0  # the same, for low digits alone
_USUAL_DELTA = 1e-5


@dataclass(frozen=True)
class Verdict:
    """The claim is `violated`, shown by `event`, or no violation was found. Never "private".

    With probability at least 1 - `error`, the true epsilon (at `delta`) is at least
    `epsilon_low`, and a reported violation is real. `delta_low` is a lower bound on the true
    delta at the claim's epsilon.
    """

    violated: bool
    epsilon_low: float
    delta_low: float
    event: EventBounds | None
    claim: Loss
    delta: float
    error: float
    calls: int
    seconds: float

    def __str__(self) -> str:
        at = f" (at delta {self.delta:g})" if self.delta else ""
        if self.violated:
            return (
                f"violates {self.claim!r}: {self.event}; epsilon is at least "
                f"{self.epsilon_low:.4f}{at}, found in {self.calls:,} calls"
            )
        return (
            f"no violation of {self.claim!r} found: epsilon is at least "
            f"{self.epsilon_low:.4f}{at}, in {self.calls:,} calls"
        )


def test(
    mechanism: Any,
    neighbors: Iterable[Sequence[Any]],
    claim: Loss | None = None,
    *,
    calls: int = 1_000_000,
    error: Number = 1e-3,
    delta: Number | None = None,
    seconds: float | None = None,
    show_progress: bool | None = None,
) -> Verdict:
    """Looks for an event that is more probable under one input than `claim` allows.

    `mechanism(data)` returns a number, text, tuple, list or array. If it has a method
    `many(data, n)`, that is called instead. `neighbors` holds pairs of inputs. The search stops
    when a violation is certain, or after `calls` calls or `seconds` seconds.

    >>> from deniable import Laplace, PureLoss
    >>> noise = Laplace(epsilon=2)
    >>> verdict = test(noise, neighbors=[(0, 1)], claim=PureLoss(1), calls=20_000)
    >>> verdict.violated, verdict.epsilon_low > 1
    (True, True)
    """
    loss = _claim(mechanism, claim)
    rate = float(probability(error, "error"))
    if not 0 < rate < 1:
        raise InvalidParameter(f"`error` must lie between 0 and 1. Found {error}.")
    if seconds is not None and not (isinstance(seconds, Real) and seconds >= 0):
        raise InvalidParameter(f"`seconds` must be a number, 0 or more. Found {seconds!r}.")
    pairs = [pair for group in list_groups(neighbors) for pair in combinations(group, 2)]
    with progress(whole(calls, "calls", least=100), show_progress) as show:
        meter = CallMeter(calls, seconds, show)
        caller = Caller(mechanism, meter)
        caller.probe([data for pair in pairs for data in pair])
        return _Audit(caller, meter, loss, _delta(loss, delta), rate, pairs).verdict()


test.__test__ = False  # type: ignore[attr-defined]  # tells pytest that this is not a test


def _claim(mechanism: Any, claim: Loss | None) -> Loss:
    loss = getattr(mechanism, "loss", None) if claim is None else claim
    if not isinstance(loss, Loss):
        raise InvalidParameter(
            f"`claim` must be a loss, as claim=dp.PureLoss(1). Found {loss!r}."
        )
    return loss


def _delta(claim: Loss, delta: Number | None) -> float:
    if delta is not None:
        return float(delta_of(delta))
    return float(claim.slack) if claim.exact_epsilon is not None else _USUAL_DELTA


def plan_rounds(calls: int, error: float) -> list[tuple[int, float]]:
    """Calls and error of each round. The last round gets the rest of the calls and most of the
    error.

    >>> plan_rounds(1_000_000, 0.001)
    [(20000, 5e-05), (160000, 5e-05), (820000, 0.0009)]
    """
    sizes: list[int] = []
    size = _FIRST
    while sum(sizes) + 3 * size < calls:
        sizes.append(size)
        size *= _GROWTH
    sizes.append(calls - sum(sizes))
    early = 0.05 * error
    return [(n, early) for n in sizes[:-1]] + [(sizes[-1], error - early * (len(sizes) - 1))]


class _Audit:
    """One audit: all its rounds."""

    def __init__(
        self,
        caller: Caller,
        meter: CallMeter,
        claim: Loss,
        delta: float,
        error: float,
        pairs: list[tuple[Any, Any]],
    ) -> None:
        self.caller, self.meter = caller, meter
        self.claim, self.delta, self.error = claim, delta, error
        self.comparisons = [
            comparison for x, y in pairs for comparison in list_comparisons(caller, claim, x, y)
        ]
        self.confirmed: list[EventBounds] = []

    def verdict(self) -> Verdict:
        try:
            rounds = plan_rounds(self.meter.calls, self.error)
            for place, (size, error) in enumerate(rounds, start=1):
                self._run_round(size, error, last=place == len(rounds))
                if any(event.violates for event in self.confirmed):
                    break
        except OutOfTime:
            pass
        return self._conclude()

    def _run_round(self, size: int, error: float, last: bool) -> None:
        start = self.meter.used
        best_events = race(self.comparisons, size // 3 if last else size // 2)
        tests_by_comparison = _choose_tests(best_events)
        left = size - (self.meter.used - start)
        weights = _weigh(tests_by_comparison)
        share = error / max(1, sum(len(tests) for tests in tests_by_comparison.values()))
        for comparison, tests in tests_by_comparison.items():
            count = left * weights[comparison] // sum(weights.values()) // (2 * comparison.cost)
            self.confirmed += confirm_events(comparison, tests, count, share, self.delta)
        self._narrow(best_events)

    def _narrow(self, best_events: Found) -> None:
        """Comparisons of two calls in a row that were searched to the end and are not
        suspicious leave, because the next round is larger. All others have another chance."""
        self.comparisons = [
            each
            for each in self.comparisons
            if each.single or each not in best_events or _suspicious(best_events[each])
        ]

    def _conclude(self) -> Verdict:
        singles = [event for event in self.confirmed if event.single]
        violations = [event for event in self.confirmed if event.violates]
        ranked = sorted(
            violations or singles,
            key=lambda event: (not event.floating, not event.single, -event.epsilon_low),
        )
        most = max((event.epsilon_low for event in singles), default=0.0)
        return Verdict(
            violated=bool(violations),
            epsilon_low=max(0.0, most),
            delta_low=max([event.delta_low for event in singles], default=0.0),
            event=ranked[0] if ranked else None,
            claim=self.claim,
            delta=self.delta,
            error=self.error,
            calls=self.meter.used,
            seconds=self.meter.seconds,
        )


def _suspicious(tests: EventTests) -> bool:
    return tests.evidence[0].value > _SUSPICIOUS


def _choose_tests(best_events: Found) -> dict[Comparison, list[EventTest]]:
    """The best tests: of low digits, of suspicious comparisons and of the largest epsilon."""
    if not best_events:
        return {}
    tests_by_comparison: dict[Comparison, list[EventTest]] = {}
    digits = {
        each: tests.low_digits[0].value
        for each, tests in best_events.items()
        if tests.low_digits
    }
    for comparison in sorted(digits, key=lambda each: -digits[each])[:1]:
        if digits[comparison] > _FLOATING:
            tests_by_comparison[comparison] = best_events[comparison].low_digits[:1]
    suspects = [each for each, tests in best_events.items() if _suspicious(tests)]
    for comparison in sorted(suspects, key=lambda each: -best_events[each].evidence[0].value)[
        :2
    ]:
        tests_by_comparison.setdefault(comparison, []).extend(
            best_events[comparison].evidence[:_TESTS]
        )
    singles = [comparison for comparison in best_events if comparison.single]
    most = max(
        singles or best_events, key=lambda comparison: best_events[comparison].epsilon[0].value
    )
    tests = [*best_events[most].epsilon[:_TESTS], *best_events[most].evidence[:_TESTS]]
    tests_by_comparison.setdefault(most, []).extend(tests)
    return {
        comparison: _remove_repeats(tests) for comparison, tests in tests_by_comparison.items()
    }


def _weigh(tests_by_comparison: dict[Comparison, list[EventTest]]) -> dict[Comparison, int]:
    """Shares of the calls: most for the first, and less for calls in a row, which cost more."""
    return {
        comparison: (4 if comparison.single else 1) * (1 if place else 3)
        for place, comparison in enumerate(tests_by_comparison)
    }


def _remove_repeats(tests: list[EventTest]) -> list[EventTest]:
    """Each event once in each direction."""
    distinct = {(id(each.event), each.negated, each.turned): each for each in tests}
    return list(distinct.values())
