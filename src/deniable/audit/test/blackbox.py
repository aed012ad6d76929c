"""A statistical audit of any mechanism, from outside.

In rounds that grow eightfold it searches one sample for a pair of inputs and an event, then
judges them on fresh outputs: Clopper-Pearson bounds on the event's probability under both
inputs, each at its share of the family-wise error. If p is at least so likely under the one and
q at most under the other, a claim f (as a trade-off) is violated when 1 - p < f(q), and epsilon
is at least ln((p - delta) / q). Besides single calls it compares two calls that follow one
another, x then x against x then y: fresh noise makes the first of them worthless, so the claim
for one call must hold for both; remembered noise does not.

An audit can show that a claim is false, never that it is true.
"""

# ruff: noqa: PT028 - `test` tests mechanisms, not this package

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Real
from typing import Any

from deniable.audit.prove.datasets import list_groups
from deniable.audit.test.calling import (
    Caller,
    Meter,
    OutOfTime,
    gathered,
)
from deniable.audit.test.comparisons import Comparison, comparisons
from deniable.audit.test.event_search import OutputQuestion, Questions, questions
from deniable.audit.test.jury import Witness, judged, lines
from deniable.audit.test.progress import progress
from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, probability, whole
from deniable.privacy import Loss
from deniable.privacy.losses.loss import delta_of

_FIRST = 20_000
_GROWTH = 8
_FEWEST = 50  # outputs that are worth a search
_NUMBERS = 1 << 21  # numbers kept of one sample in the search
_ASKED = 3  # questions put to the jury, by each of the two measures
_SUSPICIOUS = 2.0  # standard errors above the claim
_USUAL_DELTA = 1e-5


@dataclass(frozen=True)
class Verdict:
    """`violated` with its `event`, or "nothing found above `epsilon_low`"; never "private".

    With probability 1 - `error` at least, the true epsilon (at `delta`) is no less than
    `epsilon_low`, and a violation is one. `delta_low` bounds the true delta at the claim's
    epsilon.
    """

    violated: bool
    epsilon_low: float
    delta_low: float
    event: Witness | None
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
    """Looks for an event that is likelier under one input than `claim` allows.

    `mechanism(data)` returns a number, text, tuple, list or array; if it offers
    `many(data, n)`, that is called instead. `neighbors` holds pairs of inputs. The search stops
    as soon as a violation is sure, or after `calls` calls or `seconds` seconds.

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
        meter = Meter(calls, seconds, show)
        caller = Caller(mechanism, meter)
        caller.probe([one for pair in pairs for one in pair])
        return _Audit(caller, meter, loss, _delta(loss, delta), rate, pairs).verdict()


test.__test__ = False  # type: ignore[attr-defined]  # pytest, it is not one of yours


def _claim(mechanism: Any, claim: Loss | None) -> Loss:
    found = getattr(mechanism, "loss", None) if claim is None else claim
    if not isinstance(found, Loss):
        raise InvalidParameter(
            f"`claim` must be a loss, as claim=dp.PureLoss(1). Found {found!r}."
        )
    return found


def _delta(claim: Loss, delta: Number | None) -> float:
    if delta is not None:
        return float(delta_of(delta))
    return float(claim.slack) if claim.exact_epsilon is not None else _USUAL_DELTA


def rounds(calls: int, error: float) -> list[tuple[int, float]]:
    """Calls and error of each round; the last has what is left, and most of the error.

    >>> rounds(1_000_000, 0.001)
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
    """One run of the rounds."""

    def __init__(
        self,
        caller: Caller,
        meter: Meter,
        claim: Loss,
        delta: float,
        error: float,
        pairs: list[tuple[Any, Any]],
    ) -> None:
        self.caller, self.meter = caller, meter
        self.claim, self.delta, self.error = claim, delta, error
        self.comparisons = [one for x, y in pairs for one in comparisons(caller, claim, x, y)]
        self.witnesses: list[Witness] = []

    def verdict(self) -> Verdict:
        try:
            planned = rounds(self.meter.calls, self.error)
            for place, (size, error) in enumerate(planned, start=1):
                self._round(size, error, last=place == len(planned))
                if any(one.violates for one in self.witnesses):
                    break
        except OutOfTime:
            pass
        return self._read()

    def _round(self, size: int, error: float, last: bool) -> None:
        start = self.meter.used
        found = self._search(size // 3 if last else size // 2)
        asked = _asked(found)
        left = size - (self.meter.used - start)
        weights = {one: 4 if one.single else 1 for one in asked}
        share = error / sum(len(listed) for listed in asked.values())
        for one, listed in asked.items():
            count = left * weights[one] // sum(weights.values()) // (2 * one.cost)
            self.witnesses += judged(one, listed, count, share, self.delta)
        self._narrow(found)

    def _search(self, calls: int) -> dict[Comparison, Questions]:
        weights = [3 if one.single else 1 for one in self.comparisons]
        found = {}
        for one, weight in zip(self.comparisons, weights, strict=True):
            count = calls * weight // sum(weights) // (2 * one.cost)
            width = next(one.left(min(count, 16))).width
            count = min(count - 16, _NUMBERS // width)
            if count >= _FEWEST:
                left, right = gathered(one.left(count)), gathered(one.right(count))
                found[one] = questions(left, right, lines(one.claim))
        return found

    def _narrow(self, found: dict[Comparison, Questions]) -> None:
        """The next round is larger, so it looks only where something may be found."""
        single = [one for one in found if one.single]
        kept = sorted(single, key=lambda one: -found[one].evidence[0].value)[:2]
        kept += sorted(single, key=lambda one: -found[one].epsilon[0].value)[:1]
        kept += [
            one
            for one, told in found.items()
            if not one.single and told.evidence[0].value > _SUSPICIOUS
        ][:2]
        self.comparisons = list(dict.fromkeys(kept)) or self.comparisons

    def _read(self) -> Verdict:
        singles = [one for one in self.witnesses if one.single]
        violations = [one for one in self.witnesses if one.violates]
        ranked = sorted(
            violations or singles, key=lambda one: (not one.single, -one.epsilon_low)
        )
        most = max((one.epsilon_low for one in singles), default=0.0)
        return Verdict(
            violated=bool(violations),
            epsilon_low=max(0.0, most),
            delta_low=max([one.delta_low for one in singles], default=0.0),
            event=ranked[0] if ranked else None,
            claim=self.claim,
            delta=self.delta,
            error=self.error,
            calls=self.meter.used,
            seconds=self.meter.seconds,
        )


def _asked(found: dict[Comparison, Questions]) -> dict[Comparison, list[OutputQuestion]]:
    """The best questions: of the comparison that tells most, and of the most suspicious."""
    if not found:
        return {}
    singles = [one for one in found if one.single]
    most = max(singles or found, key=lambda one: found[one].epsilon[0].value)
    asked = {most: [*found[most].epsilon[:_ASKED], *found[most].evidence[:_ASKED]]}
    suspects = [one for one in found if found[one].evidence[0].value > _SUSPICIOUS]
    for one in sorted(suspects, key=lambda one: -found[one].evidence[0].value)[:2]:
        asked.setdefault(one, found[one].evidence[:_ASKED])
    return {one: _once(listed) for one, listed in asked.items()}


def _once(listed: list[OutputQuestion]) -> list[OutputQuestion]:
    """Each way of asking each event once."""
    found = {(id(one.event), one.negated, one.turned): one for one in listed}
    return list(found.values())
