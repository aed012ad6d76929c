"""The two-sample form: many runs with one person, many without, and an event between them.

The event (a threshold, and its direction) is chosen on one half of the runs and judged on the
other, by Clopper-Pearson bounds p on its probability under one input and q under the other:
epsilon is at least ln((p - delta) / q).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable.audit.attack.canaries.one_run import slack_of
from deniable.audit.attack.finding_sections import Section
from deniable.audit.attack.findings import AttackFinding
from deniable.audit.test.clopper_pearson import clopper_pearson
from deniable.exact.rationals import Number, probability, whole
from deniable.exact.text_formats import percent
from deniable.privacy import Loss

_THRESHOLDS = 200  # that the first half compares


@dataclass(frozen=True, repr=False, eq=False)
class TwoSampleFinding(AttackFinding):
    """With the stated confidence, epsilon is at least `at_least`; `power` is the most that this
    number of runs can show."""

    title: ClassVar[str] = "An audit by two samples"
    at_least: float
    confidence: float
    power: float
    claim: float | None
    delta: float
    runs: int  # judged, of each input
    made_up: bool = False

    @property
    def violated(self) -> bool:
        """Whether the claim is refuted. False does not mean that it is true."""
        return self.claim is not None and self.at_least > self.claim

    def sections(self) -> Sequence[Section]:
        at = f" at delta {self.delta:g}" if self.delta else ""
        text = [
            f"Epsilon is at least {self.at_least:.3f}{at}, with {percent(self.confidence)} "
            f"confidence, by {self.runs:,} runs of each input.",
            f"That many runs can show {self.power:.3f} at most.",
        ]
        if self.claim is not None:
            text.append(
                f"The claim, epsilon {self.claim:.3f}, is "
                + ("refuted." if self.violated else "not refuted. That is no proof of it.")
            )
        return [Section(text=tuple(text))]


def two_sample(
    mechanism: Callable[[Any], Any],
    first: Any,
    second: Any,
    *,
    score: Callable[[Any], float] = float,
    claim: Loss | None = None,
    delta: Number | None = None,
    runs: int = 2000,
    confidence: Number = 0.95,
    made_up: bool = False,
) -> TwoSampleFinding:
    """A lower bound on epsilon from runs on two neighbouring inputs, for single numbers.

    `mechanism` is called `runs` times with each input. If it has a method `many(data, n)`, that
    is called instead. `score(output)` is the number that tells the inputs apart.

    >>> import deniable as dp
    >>> class Naive:
    ...     def __call__(self, data):
    ...         return dp.Laplace(epsilon=1).release(sum(data))  # a value of 50 is not clipped
    >>> audit = two_sample(Naive(), [1, 1], [1, 1, 50], claim=dp.PureLoss(1), runs=400)
    >>> audit.violated, audit.at_least > 3
    (True, True)
    """
    half = whole(runs, "runs", least=20) // 2
    slack, level = slack_of(claim, delta), probability(confidence, "confidence")
    scores = [_scores(mechanism, data, 2 * half, score) for data in (first, second)]
    error, gap = float(1 - level) / 2, float(slack)
    threshold, upper, turned = _choose([sample[:half] for sample in scores], error, gap)
    test_samples = [sample[half:] for sample in (scores[::-1] if turned else scores)]
    hits = [int(((sample >= threshold) == upper).sum()) for sample in test_samples]
    return TwoSampleFinding(
        at_least=bound_from_hits(hits[0], hits[1], half, error=error, delta=gap),
        confidence=float(level),
        power=bound_from_hits(half, 0, half, error=error, delta=gap),
        claim=None if claim is None else float(claim.epsilon(slack)),
        delta=gap,
        runs=half,
        made_up=made_up,
    )


def bound_from_hits(hits: int, others: int, runs: int, *, error: float, delta: float) -> float:
    """The epsilon that an event shows: `hits` under one input, `others` under the other.

    >>> round(bound_from_hits(1000, 0, 1000, error=0.025, delta=0.0), 2)
    5.6
    """
    low = float(clopper_pearson(hits, runs, error)[0])
    high = float(clopper_pearson(others, runs, error)[1])
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0


def _scores(
    mechanism: Any, data: Any, runs: int, score: Callable[[Any], float]
) -> NDArray[np.float64]:
    many = getattr(mechanism, "many", None)
    outputs = many(data, runs) if many is not None else (mechanism(data) for _ in range(runs))
    return np.array([score(output) for output in outputs], dtype=np.float64)


def _choose(
    scores: list[NDArray[np.float64]], error: float, delta: float
) -> tuple[float, bool, bool]:
    """The threshold, its direction and the order of the inputs that show most."""
    first, second = scores
    pooled = np.unique(np.concatenate(scores))
    places = np.linspace(0, len(pooled) - 1, min(_THRESHOLDS, len(pooled))).astype(int)
    best, choice = -1.0, (float(pooled[0]), True, False)
    for threshold in pooled[places].tolist():
        for upper in (True, False):
            hits = [int(((sample >= threshold) == upper).sum()) for sample in (first, second)]
            for turned in (False, True):
                a, b = hits[::-1] if turned else hits
                bound = bound_from_hits(a, b, len(first), error=error, delta=delta)
                if bound > best:
                    best, choice = bound, (threshold, upper, turned)
    return choice
