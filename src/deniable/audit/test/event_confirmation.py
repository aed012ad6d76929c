"""Tests events on fresh outputs.

There are two exact bounds. For any claim: Clopper-Pearson bounds on the event's probability
under either input, each with half of the error. For a pure claim and a rare event there is a
sharper one. The sample sizes are drawn from a Poisson distribution, so the numbers of hits are
independent Poisson variables. Given their sum, the hits under one input are binomial with
probability r / (1 + r), where r is the ratio of the two probabilities. The Clopper-Pearson
bound on that probability is a bound on r. The choice between the two is made before any output
is drawn.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from typing import Any

import numpy as np

from deniable.audit.test.clopper_pearson import clopper_pearson
from deniable.audit.test.comparisons import Comparison
from deniable.audit.test.event_search import ClaimLine, EventTest
from deniable.audit.test.mechanism_calls import OutOfTime
from deniable.audit.test.outputs import Batch
from deniable.privacy import ApproximateLoss, Loss, PureLoss

_DELTAS = (0.3, 0.1, 1e-2, 1e-3, 1e-4)
_NEARLY = 0.95
_RARE = 0.45  # for rarer events the bound on the ratio is sharper


@dataclass(frozen=True)
class EventBounds:
    """An event and bounds on its probability, from fresh outputs.

    Its probability is at least `low` under the first of `inputs` and at most `high` under the
    second.
    """

    text: str
    inputs: tuple[Any, Any]
    low: float
    high: float
    epsilon_low: float
    delta_low: float
    violates: bool
    single: bool
    floating: bool  # whether it is about the low digits of float noise

    def __str__(self) -> str:
        first, second = self.inputs
        return (
            f"{self.text}: probability at least {self.low:.4g} for input {first}, at most "
            f"{self.high:.4g} for input {second}"
        )


@dataclass(frozen=True)
class _EventCounts:
    """How often an event occurred under each of the two inputs."""

    hits: int
    trials: int
    rival_hits: int
    rival_trials: int


def confirm_events(
    comparison: Comparison,
    tests: Sequence[EventTest],
    count: int,
    error: float,
    delta: float,
) -> list[EventBounds]:
    """Bounds for every event. `error` is the error probability of each of them."""
    mean_size = max(1.0, count - 6 * math.sqrt(count))  # so that `count` is not exceeded
    sizes = np.random.default_rng().poisson(mean_size, 2).tolist()
    hits = np.zeros((2, len(tests)), dtype=np.int64)
    sample_sizes = [0, 0]
    sources = comparison.left(sizes[0]), comparison.right(sizes[1])
    try:
        for pair in zip_longest(*sources):
            for side, batch in enumerate(pair):
                if batch is not None:
                    hits[side] += [_count(test, batch) for test in tests]
                    sample_sizes[side] += len(batch)
    except OutOfTime:
        pass  # the counts until then are valid
    if min(sample_sizes) == 0:
        return []
    poisson = sample_sizes == sizes  # not if time ran out
    confirmed = []
    for place, test in enumerate(tests):
        x, y = (1, 0) if test.turned else (0, 1)
        counts = _EventCounts(
            int(hits[x, place]), sample_sizes[x], int(hits[y, place]), sample_sizes[y]
        )
        confirmed.append(_bound_event(comparison, test, counts, error, delta, poisson=poisson))
    return confirmed


def _count(test: EventTest, batch: Batch) -> int:
    hits = int(np.count_nonzero(test.event.hits(batch)))
    return len(batch) - hits if test.negated else hits


def _bound_event(
    comparison: Comparison,
    test: EventTest,
    counts: _EventCounts,
    error: float,
    delta: float,
    *,
    poisson: bool,
) -> EventBounds:
    claim = comparison.claim
    low = float(clopper_pearson(counts.hits, counts.trials, error / 2)[0])
    high = float(clopper_pearson(counts.rival_hits, counts.rival_trials, error / 2)[1])
    if poisson and delta == 0 and test.rate < _RARE and _bounds_odds(claim, test.rate):
        share = float(clopper_pearson(counts.hits, counts.hits + counts.rival_hits, error)[0])
        epsilon = math.log(share / (1 - share)) if 0 < share < 1 else -math.inf
        violates = epsilon > claim.epsilon()
    else:
        epsilon = math.log((low - delta) / high) if low > delta and high > 0 else -math.inf
        violates = _exceeds(claim, low, high)
    most = math.exp(min(claim.epsilon(delta), 700.0))
    return EventBounds(
        text=f"{comparison.name}: {test.text}" if comparison.name else test.text,
        inputs=comparison.inputs[::-1] if test.turned else comparison.inputs,
        low=low,
        high=high,
        epsilon_low=epsilon,
        delta_low=max(0.0, low - most * high),
        violates=violates,
        single=comparison.single,
        floating=test.floating,
    )


def _bounds_odds(claim: Loss, rate: float) -> bool:
    """Whether the claim bounds the odds of an event of this rate, and hardly more than that.

    A composition or a shuffled loss has an epsilon at delta 0 too, but its curve is tighter.
    """
    if claim.exact_epsilon is None or claim.slack:
        return False
    alpha = rate * math.exp(-min(claim.epsilon(), 700.0))
    return isinstance(claim, PureLoss) or 1 - claim.tradeoff(alpha) >= _NEARLY * rate


def _exceeds(claim: Loss, low: float, high: float) -> bool:
    """Whether such bounds are impossible for any mechanism with this loss."""
    return low > high and 1 - low < claim.tradeoff(min(high, 1.0))


@lru_cache(maxsize=64)
def claim_lines(claim: Loss) -> list[ClaimLine]:
    """Some (epsilon, delta) that the claim allows, for the search."""
    lines: list[ClaimLine] = []
    if claim.exact_epsilon is not None:
        lines.append((claim.epsilon(claim.slack), float(claim.slack)))
    if isinstance(claim, PureLoss | ApproximateLoss):
        return lines
    return lines + [(claim.epsilon(d), d) for d in _DELTAS if d > claim.slack]
