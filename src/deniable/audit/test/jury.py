"""Judging events on fresh outputs.

Two exact bounds. For any claim: Clopper-Pearson bounds on the event's probability under either
input, with half of the error each. For a pure claim and a rare event a sharper one: the sample
sizes are themselves drawn from a Poisson law, so the hits are independent Poissons, and given
their sum the hits under the one input are binomial with probability r / (1 + r), r being the
ratio of the two probabilities; its Clopper-Pearson bound is a bound on r. Which of the two is
used is settled before the outputs are drawn.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from deniable.audit.test.calling import OutOfTime
from deniable.audit.test.clopper_pearson import bounds
from deniable.audit.test.comparisons import Comparison
from deniable.audit.test.event_search import Line, OutputQuestion
from deniable.audit.test.outputs import Batch
from deniable.privacy import Loss

_RARE = 0.45  # below it the ratio of Poissons is the sharper bound


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


@dataclass(frozen=True)
class _Tally:
    """Hits of one question: under the likelier input, and under the other."""

    hits: int
    trials: int
    rival_hits: int
    rival_trials: int


def judged(
    comparison: Comparison,
    questions: Sequence[OutputQuestion],
    count: int,
    error: float,
    delta: float,
) -> list[Witness]:
    """A witness for every question. `error` is what each of them may err."""
    wanted = max(1.0, count - 6 * math.sqrt(count))  # so that `count` is not exceeded
    sizes = np.random.default_rng().poisson(wanted, 2).tolist()
    hits = np.zeros((2, len(questions)), dtype=np.int64)
    seen = [0, 0]
    worlds = comparison.left(sizes[0]), comparison.right(sizes[1])
    try:
        for pair in zip_longest(*worlds):
            for side, batch in enumerate(pair):
                if batch is not None:
                    hits[side] += [_count(one, batch) for one in questions]
                    seen[side] += len(batch)
    except OutOfTime:
        pass  # what was counted until then is as good
    if min(seen) == 0:
        return []
    poisson = seen == sizes  # not if time ran out
    found = []
    for place, question in enumerate(questions):
        x, y = (1, 0) if question.turned else (0, 1)
        tally = _Tally(int(hits[x, place]), seen[x], int(hits[y, place]), seen[y])
        found.append(_witness(comparison, question, tally, error, delta, poisson=poisson))
    return found


def _count(question: OutputQuestion, batch: Batch) -> int:
    hits = int(np.count_nonzero(question.event.hits(batch)))
    return len(batch) - hits if question.negated else hits


def _witness(
    comparison: Comparison,
    question: OutputQuestion,
    tally: _Tally,
    error: float,
    delta: float,
    *,
    poisson: bool,
) -> Witness:
    claim = comparison.claim
    low = float(bounds(tally.hits, tally.trials, error / 2)[0])
    high = float(bounds(tally.rival_hits, tally.rival_trials, error / 2)[1])
    if poisson and _pure(claim) and delta == 0 and question.rate < _RARE:
        share = float(bounds(tally.hits, tally.hits + tally.rival_hits, error)[0])
        epsilon = math.log(share / (1 - share)) if 0 < share < 1 else -math.inf
        violates = epsilon > claim.epsilon()
    else:
        epsilon = math.log((low - delta) / high) if low > delta and high > 0 else -math.inf
        violates = _exceeds(claim, low, high)
    most = math.exp(min(claim.epsilon(delta), 700.0))
    return Witness(
        text=f"{comparison.name}: {question.text}" if comparison.name else question.text,
        inputs=comparison.inputs[::-1] if question.turned else comparison.inputs,
        low=low,
        high=high,
        epsilon_low=epsilon,
        delta_low=max(0.0, low - most * high),
        violates=violates,
        single=comparison.single,
    )


def _pure(claim: Loss) -> bool:
    return claim.exact_epsilon is not None and claim.slack == 0


def _exceeds(claim: Loss, low: float, high: float) -> bool:
    """Whether no mechanism of this loss has an event that likely, and that unlikely."""
    return low > high and 1 - low < claim.tradeoff(min(high, 1.0))


def lines(claim: Loss) -> list[Line]:
    """Some (epsilon, delta) that the claim allows, to steer the search by."""
    if claim.exact_epsilon is not None:
        return [(claim.epsilon(claim.slack), float(claim.slack))]
    return [(claim.epsilon(d), d) for d in (0.3, 0.1, 1e-2, 1e-3, 1e-4)]
