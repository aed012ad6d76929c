"""The sparse vector technique: which of many numbers are above a threshold. Only hits cost.

The threshold gets noise once, every number gets new noise, and the output is only "above" or
"below". Numbers that stay below cost nothing; after `count` hits the session ends. Let D be the
sensitivity, c the count and e1 + e2 = epsilon. With noise of scale D / e1 on the threshold and
2 c D / e2 on the numbers, the whole transcript is epsilon-private. Proof: shift the noisy
threshold by D, which costs e1, and each of the c hits by 2 D, which costs e2 / c; the misses
then cost nothing. If all numbers move in the same direction between neighbours, a shift of D is
enough, so it is c D / e2. Lyu, Su & Li, "Understanding the sparse vector technique for
differential privacy", 2017: of seven variants only this one is both private and usable, and the
best split is e1 : e2 = 1 : (2 c)**(2/3), or 1 : c**(2/3). All noise is discrete Laplace on one
public grid, and a tie counts as above: the shifts are whole steps, so the proof holds on the
grid.

Printing a noisy number next to a hit would break the proof. Release that number separately.
"""

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.errors import InvalidData, InvalidParameter, UsedUp
from deniable.exact import discrete_laplace
from deniable.exact.enclosures import Enclosure
from deniable.exact.least_integer import find_least
from deniable.exact.rationals import Number, confidence_level, positive, rational, whole
from deniable.mechanisms import epsilon_or_odds
from deniable.mechanisms.choose.laplace_probabilities import cumulative, laplace_probabilities
from deniable.mechanisms.grid import Numbers, put_on_grid
from deniable.mechanisms.named_arguments import check_arguments
from deniable.privacy import PureLoss
from deniable.privacy.arithmetic import floats

_CAUTION = 1 - 1e-9


@dataclass(frozen=True, slots=True, init=False)
class SparseVector:
    """Says which numbers reach a threshold, up to `count` of them, for one epsilon.

    >>> watch = SparseVector(epsilon=1, count=2)
    >>> watch.release([0, 9000, 0, 9000, 0], threshold=4500)  # it ends with the second hit
    [False, True, False, True]
    """

    epsilon: Fraction | None
    odds: Fraction | None
    count: int
    sensitivity: Fraction
    monotone: bool
    step: Fraction

    @check_arguments
    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        odds: Number | None = None,
        count: int = 1,
        sensitivity: Number = 1,
        monotone: bool = False,
        step: Number = 1,
    ) -> None:
        exact_epsilon, exact_odds = epsilon_or_odds.read(epsilon, odds)
        object.__setattr__(self, "epsilon", exact_epsilon)
        object.__setattr__(self, "odds", exact_odds)
        object.__setattr__(self, "count", whole(count, "count"))
        object.__setattr__(self, "sensitivity", positive(sensitivity, "sensitivity"))
        if not isinstance(monotone, bool):
            raise InvalidParameter(f"`monotone` must be True or False. Found {monotone!r}.")
        object.__setattr__(self, "monotone", monotone)
        object.__setattr__(self, "step", positive(step, "step"))

    @property
    def loss(self) -> PureLoss:
        """What a whole session costs, for any number of queries.

        >>> SparseVector(epsilon=0.5, count=10).loss
        PureLoss(0.5)
        """
        return epsilon_or_odds.loss(self.epsilon, self.odds)

    def start(self, threshold: Number, *, real: bool = False) -> "SparseVectorSession":
        """A session that takes one number after another. Give `real=True` for floats.

        >>> session = SparseVector(epsilon=1).start(threshold=5000)
        >>> session.above(0), session.above(10_000), session.left
        (False, True, 0)
        """
        hidden = int(discrete_laplace(self._scales(real)[0], 1)[0])
        return SparseVectorSession(self, real, self._steps_of(threshold) + hidden)

    def release(self, values: Sequence[Any] | Any, *, threshold: Number) -> list[bool]:
        """True for each number that is reported above; the list ends at the last hit.

        >>> len(SparseVector(epsilon=1).release([0, 0, 0], threshold=9000))
        3
        """
        on_grid = put_on_grid(values, self.step)
        session = self.start(threshold, real=on_grid.real)
        answers: list[bool] = []
        for steps in on_grid.steps:
            if session.left == 0:
                break
            answers.append(session._compare(int(steps)))
        return answers

    def pmf(self, output: Sequence[bool], values: Numbers, *, threshold: Number) -> float:
        """The probability of a whole transcript.

        >>> round(SparseVector(epsilon=1).pmf([True], [0], threshold=0), 6)
        0.543567
        """
        lo, hi = self.pmf_bounds(output, values, 128, threshold=threshold)
        return (lo + hi) / 2**129

    def pmf_bounds(
        self, output: Sequence[bool], values: Numbers, bits: int = 256, *, threshold: Number
    ) -> Enclosure:
        """Encloses 2**bits * pmf between two integers, for proofs."""
        on_grid, answers = put_on_grid(values, self.step), list(output)
        hits, length, most = sum(answers), len(answers), on_grid.steps.size
        over = hits == self.count and answers[-1]
        if hits > self.count or (hits == self.count and not answers[-1]):
            return 0, 0
        if length > most or (length < most and not over):
            return 0, 0
        line = self._steps_of(threshold)
        gaps = [int(steps) - line for steps in on_grid.steps[:length]]
        first, second = (
            laplace_probabilities(scale, bits) for scale in self._scales(on_grid.real)
        )
        return first.transcript(gaps, answers, second)

    def margin(
        self, confidence: Number = 0.95, *, queries: int, real: bool = False
    ) -> int | float:
        """The least m such that, with probability `confidence`, all answers are right up to m.

        No number below threshold - m is reported above, and none above threshold + m below.

        >>> SparseVector(epsilon=1).margin(0.95, queries=100)
        27
        """
        miss = 1 - confidence_level(confidence)
        count = whole(queries, "queries")
        first, second = (float(scale) for scale in self._scales(real))
        reach = math.ceil(45 * first)
        hidden: Any = np.arange(-reach, reach + 1)
        weights = cumulative(hidden, first) - cumulative(hidden - 1, first)

        def enough(m: int) -> bool:
            """|noise - hidden| <= m for all queries; floats, as every input is public."""
            right = cumulative(hidden + m, second) - cumulative(hidden - m - 1, second)
            with np.errstate(divide="ignore"):
                wrong = -np.expm1(count * np.log(np.maximum(right, 0)))
            return bool(weights @ wrong + 1e-14 <= float(miss) * _CAUTION)

        lost = (find_least(enough) + (1 if real else 0)) * self.step
        return int(lost) if lost.denominator == 1 else floats.up(lost)

    def _scales(self, real: bool) -> tuple[Fraction, Fraction]:
        """The scales of the noise on the threshold and on the numbers, in steps."""
        exact = self.sensitivity / self.step
        move = math.ceil(exact) + real
        # Rounded floats may move one step in the other direction, see `scores`.
        shift = move + real if self.monotone else 2 * move
        shifts = Fraction(self.count * shift, move)
        total = epsilon_or_odds.rate(self.epsilon, self.odds)
        ratio = Fraction(float(shifts) ** (2 / 3)).limit_denominator(
            10**6
        )  # every split is private
        first = total / (1 + ratio)
        return move / first, shifts * move / (total - first)

    def _steps_of(self, threshold: Number) -> int:
        return math.ceil(rational(threshold, "threshold") / self.step)


@dataclass(slots=True)
class SparseVectorSession:
    """One run of a sparse vector: its noisy threshold, and how many hits are left.

    Threads may share it: numbers are compared one after the other, so two of them cannot take
    the same last hit.
    """

    mechanism: SparseVector
    _real: bool = field(repr=False)
    _noisy_threshold: int = field(repr=False)
    _hits: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def left(self) -> int:
        """How many hits it can still report.

        >>> SparseVector(epsilon=1, count=3).start(threshold=10).left
        3
        """
        return self.mechanism.count - self._hits

    def above(self, value: int | float) -> bool:
        """Whether the value is reported to reach the threshold. Raises after the last hit.

        >>> SparseVector(epsilon=1).start(threshold=-9000).above(0)
        True
        """
        on_grid = put_on_grid(value, self.mechanism.step)
        if on_grid.steps.size != 1:
            raise InvalidData("A session takes one number at a time.")
        if on_grid.real and not self._real:
            raise InvalidData(
                "This session was started for whole numbers: its noise covers no rounding. "
                "Start a session with real=True to compare floats."
            )
        return self._compare(int(on_grid.steps[0]))

    def _compare(self, steps: int) -> bool:
        with self._lock:
            if self.left == 0:
                raise UsedUp(
                    f"This session has reported {self.mechanism.count} of "
                    f"{self.mechanism.count} hits. Its loss pays for no other answer, not even "
                    'for "below". Start another session, which costs again, or start with a '
                    "larger `count`."
                )
            noise = discrete_laplace(self.mechanism._scales(self._real)[1], 1)
            above = steps + int(noise[0]) >= self._noisy_threshold
            self._hits += above
            return above
