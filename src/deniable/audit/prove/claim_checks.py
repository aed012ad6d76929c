"""What a claim demands of two distributions, checked with enclosures of their probabilities.

Each kind of claim is checked as what it is:

- a pure loss bounds the odds of every output;
- bounded range bounds how far the odds of two outputs differ;
- (epsilon, delta) bounds the excess of every event, at that epsilon. All other epsilons follow:
  the curve of such a loss is that of the worst mechanism that keeps the one point;
- any other loss is a curve: it bounds the excess at every epsilon. The excess and the claim
  both fall with epsilon, so between two points the excess is at most that of the first, and
  the claim at least that of the second. Points are added where this leaves most room, and what
  is left is stated;
- a zCDP or Renyi charge bounds divergences too, which a curve does not imply. They are checked
  at some orders (at all that a `RenyiLoss` names), in floats, to one part in 2**30.
"""

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from deniable.exact.enclosures import Enclosure, exp_neg
from deniable.exact.rationals import rational
from deniable.privacy import (
    ApproximateLoss,
    GaussianLoss,
    Loss,
    PureLoss,
    RangeLoss,
    RenyiLoss,
)
from deniable.privacy.losses.renyi import ORDERS, divergence

_POINTS = 48  # epsilons at which a claimed curve is checked, at most
_NEGLIGIBLE = 2.0**-50  # a claimed curve is followed down to this delta
_FLOAT_SLACK = 2.0**-30


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found about one demand, and in which words."""

    private: bool
    violated: bool
    event: str


@dataclass(frozen=True)
class Rows:
    """Enclosures of the probabilities of the same outputs under two inputs, times 2**bits.

    `slack` is the relative error that is allowed of odds equal to the claim.
    """

    outputs: Sequence[Any]
    row: list[Enclosure]
    other: list[Enclosure]
    bits: int
    slack: Fraction

    @cached_property
    def unseen(self) -> int:
        """An upper bound on the probability of other outputs, times 2**bits."""
        return max((1 << self.bits) - sum(lo for lo, _ in self.row), 0)

    def excess(self, epsilon: float) -> tuple[int, int]:
        """Bounds on the greatest P(event) - e**epsilon Q(event), times 2**bits."""
        e_lo, e_hi = exp_neg(rational(epsilon), self.bits)
        pairs = list(zip(self.row, self.other, strict=True))
        least = sum(
            max(0, lo - -(-(high << self.bits) // max(e_lo, 1))) for (lo, _), (_, high) in pairs
        )
        most = self.unseen + sum(
            max(0, hi - (low << self.bits) // e_hi) for (_, hi), (low, _) in pairs
        )
        return least, most


def check_claim(loss: Loss, rows: Rows) -> Finding:
    """The first demand that is violated, else one that is undecided, else what was checked."""
    undecided, texts = None, []
    for demand in _demands(loss):
        finding = demand(loss, rows)
        if finding.violated:
            return finding
        undecided = undecided or (None if finding.private else finding)
        texts.append(finding.event)
    return undecided or Finding(True, False, "; ".join(texts))


def _demands(loss: Loss) -> Iterator[Callable[[Loss, Rows], Finding]]:
    if isinstance(loss, RangeLoss):
        yield _compare_range
        return
    if loss.exact_epsilon is not None and loss.slack == 0:
        yield _compare_odds
        if isinstance(loss, PureLoss | ApproximateLoss):
            return
    if isinstance(loss, ApproximateLoss):
        yield _compare_point
        return
    yield _compare_curve
    if _orders(loss):
        yield _compare_divergences


def _compare_odds(loss: Loss, rows: Rows) -> Finding:
    limit = _odds(loss)
    private = True
    items = zip(rows.outputs, rows.row, rows.other, strict=True)
    for output, (lo, hi), (low, high) in sorted(items, key=lambda item: -item[1][0]):
        if lo > limit * high:
            return Finding(False, True, f"output {output}")
        if hi > limit * (1 + rows.slack) * low:
            private = False
    if not private:
        return Finding(False, False, "some odds are too close to the claim to decide")
    return Finding(True, False, "no output exceeds the claim")


def _compare_range(loss: Loss, rows: Rows) -> Finding:
    """The log-odds of all outputs lie in an interval of length epsilon."""
    limit = _odds(loss)
    items = [
        (output, p, q)
        for output, p, q in zip(rows.outputs, rows.row, rows.other, strict=True)
        if p[1] or q[1]
    ]
    ratio = {
        place: (Fraction(p[0], q[1]) if q[1] else math.inf, Fraction(p[1], max(q[0], 1)))
        for place, (_, p, q) in enumerate(items)
    }
    top, bottom = max(ratio, key=lambda i: ratio[i][0]), min(ratio, key=lambda i: ratio[i][1])
    if ratio[top][0] > limit * ratio[bottom][1]:
        return Finding(False, True, f"output {items[top][0]} against {items[bottom][0]}")
    widest, least = max(r[1] for r in ratio.values()), min(r[0] for r in ratio.values())
    sure = all(q[0] for _, _, q in items)
    if not sure or widest > limit * (1 + rows.slack) ** 2 * least:
        return Finding(False, False, "some odds are too close to the claim to decide")
    return Finding(True, False, "no output exceeds the claim")


def _odds(loss: Loss) -> Fraction:
    return 1 / Fraction(exp_neg(rational(loss.epsilon()), 512)[0], 1 << 512)


def _compare_point(loss: Loss, rows: Rows) -> Finding:
    """(epsilon, delta): the excess at that epsilon."""
    epsilon = loss.epsilon(loss.slack)
    least, most = rows.excess(epsilon)
    allowed = loss.slack * (1 << rows.bits)
    if least > allowed:
        return Finding(False, True, _excess_text(least, rows.bits, epsilon))
    if most > allowed:
        return Finding(False, False, "the excess is too close to the claim to decide")
    return Finding(True, False, f"no event exceeds the claim at epsilon {epsilon:g}")


def _excess_text(least: int, bits: int, epsilon: float) -> str:
    return f"excess {least / 2**bits:.3g} at epsilon {epsilon:.6g}"


def _compare_curve(loss: Loss, rows: Rows) -> Finding:
    """Every epsilon: at points, and by monotonicity between them."""
    points: dict[float, tuple[int, int, Fraction]] = {}
    scale = 1 << rows.bits

    def look(epsilon: float) -> tuple[int, int, Fraction]:
        points[epsilon] = (*rows.excess(epsilon), rational(loss.delta(epsilon)) * scale)
        return points[epsilon]

    def room(low: float, high: float) -> tuple[float, float, float]:
        """By how much the excess may exceed the claim between two points; negative first."""
        return -float(Fraction(points[low][1] - points[high][2]) / scale), low, high

    end = _end_of_curve(loss, rows)
    for epsilon in (0.0, end):
        look(epsilon)
    intervals = [room(0.0, end)]
    while len(points) < _POINTS and intervals[0][0] < 0:
        _, low, high = intervals[0]
        middle = (low + high) / 2
        least, _, allowed = look(middle)
        if least > allowed:
            break
        heapq.heapreplace(intervals, room(low, middle))
        heapq.heappush(intervals, room(middle, high))
    for epsilon, (least, most, allowed) in sorted(points.items()):
        if least > allowed:
            return Finding(False, True, _excess_text(least, rows.bits, epsilon))
        if most > allowed:
            return Finding(False, False, "the excess is too close to the claim to decide")
    left = max(-intervals[0][0], float(Fraction(points[end][1], scale) - loss.slack))
    if left <= _NEGLIGIBLE:
        return Finding(True, False, "no event exceeds the claim at any epsilon")
    return Finding(
        True,
        False,
        f"no event exceeds the claim at {len(points)} epsilons from 0 to {end:.4g}, nor "
        f"elsewhere by more than {left:.2g}",
    )


def _end_of_curve(loss: Loss, rows: Rows) -> float:
    """Beyond this epsilon the claim is negligible, or no output has such odds."""
    target = Fraction(2 * rows.unseen, 1 << rows.bits) + rational(_NEGLIGIBLE) + loss.slack
    end = loss.epsilon(target) if target < 1 else 0.0
    log_odds = [
        math.log(hi) - math.log(low) if low else math.inf
        for (_, hi), (low, _) in zip(rows.row, rows.other, strict=True)
        if hi
    ]
    return max(min(end, max(log_odds, default=0.0)), 0.0)


def _orders(loss: Loss) -> tuple[Fraction, ...]:
    """The orders of the Renyi divergences that a loss promises beside its curve."""
    named = {a for part, _ in loss.parts if isinstance(part, RenyiLoss) for a, _ in part.curve}
    if named:
        return tuple(sorted(named)) if loss.slack == 0 else ()
    if loss.slack or loss.rho is None or isinstance(loss, GaussianLoss):
        return ()  # a Gaussian curve implies its divergences
    return tuple(map(rational, ORDERS))


def _compare_divergences(loss: Loss, rows: Rows) -> Finding:
    logs, weights = [], []
    for (lo, hi), (low, _) in zip(rows.row, rows.other, strict=True):
        if lo and low:
            logs.append(math.log(hi) - math.log(low))
            weights.append(math.log(low) - rows.bits * math.log(2))
        elif hi:
            return Finding(False, False, "some outputs are too rare to bound a divergence")
    log_odds, log_q = np.array(logs), np.array(weights)
    for order in _orders(loss):
        exponents = float(order) * log_odds + log_q
        top = float(exponents.max())
        renyi_divergence = (top + math.log(float(np.exp(exponents - top).sum()))) / float(
            order - 1
        )
        limit = float(divergence(loss, order))
        if renyi_divergence > limit * (1 + _FLOAT_SLACK) + _FLOAT_SLACK:
            return Finding(
                False,
                True,
                f"Renyi divergence {renyi_divergence:.6g} of order {float(order):g}",
            )
    return Finding(True, False, f"its divergence was checked at {len(_orders(loss))} orders")
