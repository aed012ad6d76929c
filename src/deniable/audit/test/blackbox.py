"""A statistical audit of any mechanism, as a black box.

Rounds grow eightfold. Each round searches one sample for a pair of inputs and an event, then
tests them on fresh outputs with Clopper-Pearson bounds on the event's probability under both
inputs, each at its share of the family-wise error. Let the event have probability at least p
under one input and at most q under the other. A claim f (as a trade-off) is violated when
1 - p < f(q), and epsilon is at least ln((p - delta) / q).

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
from deniable.audit.test.event_confirmation import EventBounds, claim_lines, confirm_events
from deniable.audit.test.event_search import EventTest, EventTests, search_events
from deniable.audit.test.mechanism_calls import (
    Caller,
    CallMeter,
    OutOfTime,
    gather,
)
from deniable.audit.test.progress import progress
from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, probability, whole
from deniable.privacy import Loss
from deniable.privacy.losses.loss import delta_of

_FIRST = 20_000
_GROWTH = 8
_FEWEST = 50  # outputs needed for a search
_NUMBERS = 1 << 21  # numbers kept of one sample in the search
_TESTS = 3  # events tested on fresh outputs, for each of the two measures
_SUSPICIOUS = 2.0  # standard errors above the claim
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
            planned = plan_rounds(self.meter.calls, self.error)
            for place, (size, error) in enumerate(planned, start=1):
                self._run_round(size, error, last=place == len(planned))
                if any(event.violates for event in self.confirmed):
                    break
        except OutOfTime:
            pass
        return self._conclude()

    def _run_round(self, size: int, error: float, last: bool) -> None:
        start = self.meter.used
        found = self._search(size // 3 if last else size // 2)
        chosen = _choose_tests(found)
        left = size - (self.meter.used - start)
        weights = {comparison: 4 if comparison.single else 1 for comparison in chosen}
        share = error / sum(len(tests) for tests in chosen.values())
        for comparison, tests in chosen.items():
            count = left * weights[comparison] // sum(weights.values()) // (2 * comparison.cost)
            self.confirmed += confirm_events(comparison, tests, count, share, self.delta)
        self._narrow(found)

    def _search(self, calls: int) -> dict[Comparison, EventTests]:
        weights = [3 if comparison.single else 1 for comparison in self.comparisons]
        found = {}
        for comparison, weight in zip(self.comparisons, weights, strict=True):
            count = calls * weight // sum(weights) // (2 * comparison.cost)
            width = next(comparison.left(min(count, 16))).width
            count = min(count - 16, _NUMBERS // width)
            if count >= _FEWEST:
                left, right = gather(comparison.left(count)), gather(comparison.right(count))
                found[comparison] = search_events(left, right, claim_lines(comparison.claim))
        return found

    def _narrow(self, found: dict[Comparison, EventTests]) -> None:
        """Keeps the most promising comparisons, because the next round is larger."""
        single = [comparison for comparison in found if comparison.single]
        best = sorted(single, key=lambda comparison: -found[comparison].evidence[0].value)[:2]
        best += sorted(single, key=lambda comparison: -found[comparison].epsilon[0].value)[:1]
        best += [
            comparison
            for comparison, tests in found.items()
            if not comparison.single and tests.evidence[0].value > _SUSPICIOUS
        ][:2]
        self.comparisons = list(dict.fromkeys(best)) or self.comparisons

    def _conclude(self) -> Verdict:
        singles = [event for event in self.confirmed if event.single]
        violations = [event for event in self.confirmed if event.violates]
        ranked = sorted(
            violations or singles, key=lambda event: (not event.single, -event.epsilon_low)
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


def _choose_tests(found: dict[Comparison, EventTests]) -> dict[Comparison, list[EventTest]]:
    """The best tests of the comparison with the largest epsilon and of suspicious ones."""
    if not found:
        return {}
    singles = [comparison for comparison in found if comparison.single]
    most = max(singles or found, key=lambda comparison: found[comparison].epsilon[0].value)
    chosen = {most: [*found[most].epsilon[:_TESTS], *found[most].evidence[:_TESTS]]}
    evidence = {comparison: tests.evidence for comparison, tests in found.items()}
    suspects = [each for each, tests in evidence.items() if tests[0].value > _SUSPICIOUS]
    for comparison in sorted(suspects, key=lambda each: -evidence[each][0].value)[:2]:
        chosen.setdefault(comparison, evidence[comparison][:_TESTS])
    return {comparison: _remove_repeats(tests) for comparison, tests in chosen.items()}


def _remove_repeats(tests: list[EventTest]) -> list[EventTest]:
    """Each event once in each direction."""
    distinct = {(id(each.event), each.negated, each.turned): each for each in tests}
    return list(distinct.values())
