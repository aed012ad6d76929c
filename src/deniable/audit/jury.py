"""Judging events on fresh outputs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.audit.bounds import bounds
from deniable.audit.calling import OutOfTime
from deniable.audit.events import Event
from deniable.audit.search import Line
from deniable.privacy import Loss

_SUSPECTS = 4  # forms that are compared with the claim; for some losses that takes long

if TYPE_CHECKING:
    from deniable.audit.blackbox import Comparison


@dataclass(frozen=True)
class Witness:
    """An event, and what fresh outputs said about it.

    Under the first of `inputs` its probability is at least `low`, under the second at most
    `high`.
    """

    text: str
    inputs: tuple[Any, Any]
    low: float
    high: float
    epsilon_low: float
    delta_low: float
    violates: bool
    single: bool

    def __str__(self) -> str:
        first, second = self.inputs
        return (
            f"{self.text}: probability at least {self.low:.4g} for input {first}, at most "
            f"{self.high:.4g} for input {second}"
        )


def judged(
    comparison: "Comparison", events: Sequence[Event], count: int, error: float, delta: float
) -> list[Witness]:
    """Every event's witnesses, in all directions. `error` is what each event may err."""
    x = y = np.zeros(len(events), dtype=np.int64)
    n = 0
    try:
        for left, right in zip(comparison.left(count), comparison.right(count), strict=True):
            x = x + [int(np.count_nonzero(event.hits(left))) for event in events]
            y = y + [int(np.count_nonzero(event.hits(right))) for event in events]
            n += len(left)
    except OutOfTime:
        pass  # what was counted until then is as good
    if n == 0:
        return []
    low_x, high_x = bounds(x, n, error / 4)
    low_y, high_y = bounds(y, n, error / 4)
    forms = []
    for i, event in enumerate(events):
        both, turned = comparison.inputs, comparison.inputs[::-1]
        forms += [
            Form(event.text, both, float(low_x[i]), float(high_y[i])),
            Form(event.text, turned, float(low_y[i]), float(high_x[i])),
            Form(f"not {event.text}", both, 1 - float(high_x[i]), 1 - float(low_y[i])),
            Form(f"not {event.text}", turned, 1 - float(high_y[i]), 1 - float(low_x[i])),
        ]
    allowed = lines(comparison.claim)
    forms.sort(key=lambda one: -one.excess(allowed))
    return [
        _witness(comparison, form, delta, suspect=place < _SUSPECTS)
        for place, form in enumerate(forms)
    ]


@dataclass(frozen=True)
class Form:
    """An event or its opposite, for the inputs in either order."""

    text: str
    inputs: tuple[Any, Any]
    low: float
    high: float

    def excess(self, allowed: Sequence[Line]) -> float:
        """By how much it seems to exceed the claim."""
        return max(self.low - math.exp(min(e, 700.0)) * self.high - d for e, d in allowed)


def _witness(
    comparison: "Comparison", form: Form, delta: float, *, suspect: bool
) -> Witness:
    low, high = form.low, form.high
    most = math.exp(min(comparison.claim.epsilon(delta), 700.0))
    return Witness(
        text=f"{comparison.name}: {form.text}" if comparison.name else form.text,
        inputs=form.inputs,
        low=low,
        high=high,
        epsilon_low=math.log((low - delta) / high) if low > delta and high > 0 else -math.inf,
        delta_low=max(0.0, low - most * high),
        violates=suspect and _violates(comparison.claim, low, high),
        single=comparison.single,
    )


def _violates(claim: Loss, low: float, high: float) -> bool:
    """Whether no mechanism of this loss has an event that likely, and that unlikely."""
    return low > high and 1 - low < claim.tradeoff(min(high, 1.0))


def lines(claim: Loss) -> list[Line]:
    """Some (epsilon, delta) that the claim allows, to steer the search by."""
    if claim.nats is not None:
        return [(claim.epsilon(claim.slack), float(claim.slack))]
    return [(claim.epsilon(d), d) for d in (0.3, 0.1, 1e-2, 1e-3, 1e-4)]
