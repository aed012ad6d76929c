"""Checks a mechanism's loss by enumerating its outputs, with certainty.

Works on anything with `loss` and `pmf_bounds(output, value, bits)`. A pure loss bounds the odds
of every output between neighbours; any other loss bounds the hockey-stick excess at each
epsilon. All sums and ratios are of certified integers, so floats decide nothing.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any, Protocol

from deniable.exact.enclosures import Enclosure, exp_neg
from deniable.exact.rationals import rational
from deniable.privacy import Loss

BITS = 256
SLACK = Fraction(1, 1 << 60)  # odds that equal e**epsilon agree with it to so much


class Enumerable(Protocol):
    @property
    def loss(self) -> Loss: ...

    def pmf_bounds(self, output: Any, value: Any, bits: int = 256) -> Enclosure: ...


@dataclass(frozen=True)
class Verdict:
    """`private` is certain when true, and so is `violated`; neither means too few bits."""

    private: bool
    violated: bool
    event: str
    missing: float  # the probability of outputs that were not enumerated, at most


def check(
    mechanism: Enumerable,
    neighbors: Iterable[Sequence[Any]],
    outputs: Iterable[Any],
    *,
    epsilons: Sequence[float] = (0, 0.25, 0.5, 1, 2, 4),
    bits: int = BITS,
) -> Verdict:
    """Compares all pairs of each group of neighbours over the given outputs."""
    outputs = list(outputs)
    pure = mechanism.loss.nats is not None and mechanism.loss.slack == 0
    worst = Verdict(True, False, "nothing stands out", 0.0)
    for group in neighbors:
        laws = [[mechanism.pmf_bounds(o, value, bits) for o in outputs] for value in group]
        missing = max(1 - Fraction(sum(lo for lo, _ in law), 1 << bits) for law in laws)
        for (value, law), (other, rival) in permutations(zip(group, laws, strict=True), 2):
            if pure:
                found = _odds(mechanism.loss, outputs, law, rival)
            else:
                found = _excess(mechanism.loss, law, rival, epsilons, bits)
            private, violated, event = found
            if violated or (worst.private and not private):
                worst = Verdict(private, violated, f"{event}, inputs {value} and {other}", 0.0)
        worst = Verdict(
            worst.private, worst.violated, worst.event, max(worst.missing, float(missing))
        )
        if worst.violated:
            break
    return worst


def _odds(
    loss: Loss, outputs: list[Any], law: list[Enclosure], rival: list[Enclosure]
) -> tuple[bool, bool, str]:
    limit = 1 / Fraction(exp_neg(rational(loss.epsilon()), 512)[0], 1 << 512)
    private = True
    for output, (lo, hi), (low, high) in zip(outputs, law, rival, strict=True):
        if lo > limit * high:
            return False, True, f"output {output}"
        if hi > limit * (1 + SLACK) * low:
            private = False
    return private, False, "some odds are too close to call"


def _excess(
    loss: Loss,
    law: list[Enclosure],
    rival: list[Enclosure],
    epsilons: Sequence[float],
    bits: int,
) -> tuple[bool, bool, str]:
    unseen = (1 << bits) - sum(lo for lo, _ in law)
    private = True
    for epsilon in epsilons:
        e_lo, e_hi = exp_neg(rational(epsilon), bits)  # e**-epsilon
        allowed = rational(loss.delta(epsilon)) * (1 << bits)
        most = unseen + sum(
            max(0, hi - (low << bits) // e_hi)
            for (_, hi), (low, _) in zip(law, rival, strict=True)
        )
        least = sum(
            max(0, lo - -(-(high << bits) // max(e_lo, 1)))
            for (lo, _), (_, high) in zip(law, rival, strict=True)
        )
        if least > allowed:
            return False, True, f"excess {least / 2**bits:.3g} at epsilon {epsilon}"
        private = private and most <= math.floor(allowed)
    return private, False, "the excess is too close to call"
