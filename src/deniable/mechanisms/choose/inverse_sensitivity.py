"""The inverse sensitivity mechanism: an answer near to being true is more likely.

Let D(x, t) be the number of records that must change for the answer to become t. It has
sensitivity one, so P(t) proportional to exp(-epsilon D(x, t) / 2) is the exponential mechanism
with that score: epsilon-private, and its log-odds have a range of at most epsilon. Asi & Duchi,
"Instance-optimality in differential privacy via approximate inverse sensitivity mechanisms",
2020. At the true answer it is at least as good as any unbiased mechanism of epsilon / 4.

If there are only two answers, and one of them is right for every table, exp(-epsilon D) is
already private: one of the two distances is always zero, so their difference moves by one, or
from 1 to -1. The latter moves a probability from 1 / (1 + a) to a / (1 + a), a = e**-epsilon.

For a count or a mean, noise of the same epsilon is about twice as accurate: use `Laplace`
there. Use this for medians, quantiles, modes and your own questions.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.enclosures import Enclosure
from deniable.exact.rationals import Number, positive, probability, whole
from deniable.mechanisms import epsilon_or_odds
from deniable.mechanisms.choose.distance_to_mean import DistanceToChangingMean
from deniable.mechanisms.choose.distances import (
    UNREACHABLE,
    Distance,
    DistanceToMean,
    DistanceToMode,
    DistanceToQuantile,
    SearchedDistance,
)
from deniable.mechanisms.choose.exponential import Exponential
from deniable.mechanisms.named_arguments import check_arguments, check_call
from deniable.privacy import Neighbors, PureLoss, RangeLoss, neighboring


@dataclass(frozen=True, slots=True, init=False)
class InverseSensitivity:
    """Answers a question with finitely many answers, from the distance to each of them.

    `distance(data)` gives, for each of `outputs` in order, how many records must change for it
    to be the answer (-1: it never is). `neighbors` defines a change, and the distance must
    count such changes. Give `exhaustive=True` if every table has its answer among the outputs:
    with two outputs this doubles the exponent. `median`, `quantile`, `mode`, `majority` and
    `mean` have their distances built in. `search` computes them for any function of small
    tables.

    >>> median = InverseSensitivity.median(range(100), epsilon=1, neighbors="add-remove")
    >>> median.release([40] * 2000)
    40
    >>> median.loss
    RangeLoss(1)
    """

    outputs: tuple[Any, ...] = field(repr=False)
    distance: Distance
    epsilon: Fraction | None
    odds: Fraction | None
    neighbors: Neighbors
    exhaustive: bool

    @check_arguments
    def __init__(
        self,
        outputs: Sequence[Any],
        distance: Distance | Callable[[Any], Sequence[int] | NDArray[np.int64]],
        *,
        neighbors: Neighbors,
        epsilon: Number | None = None,
        odds: Number | None = None,
        exhaustive: bool = False,
    ) -> None:
        exact_epsilon, exact_odds = epsilon_or_odds.read(epsilon, odds)
        answers = tuple(outputs)
        if len(answers) < 2 or len(set(answers)) != len(answers):
            raise InvalidParameter(
                "`outputs` must be two or more different answers, fixed in advance. Found "
                f"{len(answers)}, of which {len(set(answers))} are different."
            )
        object.__setattr__(self, "outputs", answers)
        object.__setattr__(self, "distance", distance)
        object.__setattr__(self, "epsilon", exact_epsilon)
        object.__setattr__(self, "odds", exact_odds)
        object.__setattr__(self, "neighbors", neighboring(neighbors))
        object.__setattr__(self, "exhaustive", bool(exhaustive))

    @classmethod
    @check_call
    def quantile(
        cls,
        q: Number,
        values: Sequence[Any],
        *,
        neighbors: Neighbors,
        epsilon: Number | None = None,
        odds: Number | None = None,
    ) -> "InverseSensitivity":
        """The ceil(q n)-th smallest record, among the given `values`.

        Data is a list, an array, or a mapping of value to count.

        >>> top = InverseSensitivity.quantile(0.9, range(10), epsilon=1, neighbors="replace")
        >>> top.release({3: 500, 7: 4500})
        7
        """
        exact, outputs = probability(q, "q"), tuple(sorted(values))
        relation = neighboring(neighbors)
        distance = DistanceToQuantile(outputs, exact, relation)
        return cls(outputs, distance, neighbors=relation, epsilon=epsilon, odds=odds)

    @classmethod
    @check_call
    def median(
        cls,
        values: Sequence[Any],
        *,
        neighbors: Neighbors,
        epsilon: Number | None = None,
        odds: Number | None = None,
    ) -> "InverseSensitivity":
        """The middle record; if there are two, the lower one.

        >>> middle = InverseSensitivity.median([1, 2, 3], odds=4, neighbors="replace")
        >>> [round(p, 4) for p in middle.pmf([1, 3, 3]).values()]
        [0.25, 0.25, 0.5]
        """
        return cls.quantile(
            Fraction(1, 2), values, neighbors=neighbors, epsilon=epsilon, odds=odds
        )

    @classmethod
    @check_call
    def mode(
        cls,
        categories: Sequence[Hashable],
        *,
        neighbors: Neighbors,
        epsilon: Number | None = None,
        odds: Number | None = None,
    ) -> "InverseSensitivity":
        """The most frequent category.

        >>> colour = InverseSensitivity.mode(["red", "blue"], epsilon=1, neighbors="replace")
        >>> colour.release({"red": 3000, "blue": 10})
        'red'
        """
        outputs, relation = tuple(categories), neighboring(neighbors)
        return cls(
            outputs,
            DistanceToMode(outputs, relation),
            neighbors=relation,
            epsilon=epsilon,
            odds=odds,
            exhaustive=True,
        )

    @classmethod
    @check_call
    def majority(
        cls,
        sides: Sequence[Hashable] = (False, True),
        *,
        neighbors: Neighbors,
        epsilon: Number | None = None,
        odds: Number | None = None,
    ) -> "InverseSensitivity":
        """Which of two sides has more records. `Majority` is wrong up to half as often.

        >>> vote = InverseSensitivity.majority(epsilon=0.1, neighbors="replace")
        >>> round(vote.pmf({True: 520, False: 481})[False], 6)
        0.119203
        """
        if len(tuple(sides)) != 2:
            raise InvalidParameter(f"`sides` must be two values. Found {len(tuple(sides))}.")
        return cls.mode(sides, neighbors=neighbors, epsilon=epsilon, odds=odds)

    @classmethod
    @check_call
    def mean(
        cls,
        lo: int,
        hi: int,
        *,
        neighbors: Neighbors,
        step: Number = 1,
        epsilon: Number | None = None,
        odds: Number | None = None,
    ) -> "InverseSensitivity":
        """The mean of whole numbers, clipped to [lo, hi], rounded to multiples of `step`.

        Under "replace" the number of records is public. Under "add-remove" it need not be: see
        `distance_to_mean` for that distance, and the proof that it has sensitivity one.

        >>> mean = InverseSensitivity.mean(0, 100, epsilon=1, neighbors="replace")
        >>> mean.release([50] * 100_000)
        Fraction(50, 1)
        """
        relation = neighboring(neighbors)
        if not (isinstance(lo, int) and isinstance(hi, int) and lo < hi):
            raise InvalidParameter(
                f"`lo` and `hi` must be whole numbers, lo below hi. Found {lo} and {hi}."
            )
        kind = DistanceToMean if relation == "replace" else DistanceToChangingMean
        distance = kind(lo, hi, positive(step, "step"))
        return cls(
            distance.outputs(),
            distance,
            neighbors=relation,
            epsilon=epsilon,
            odds=odds,
            exhaustive=True,
        )

    @classmethod
    @check_call
    def search(
        cls,
        function: Callable[[tuple[Any, ...]], Any],
        domain: Sequence[Any],
        *,
        records: int,
        neighbors: Neighbors,
        epsilon: Number | None = None,
        odds: Number | None = None,
    ) -> "InverseSensitivity":
        """Any function of a table of few records over a small domain; finds the distances.

        Tables hold exactly `records` records (replace) or at most `records` (add-remove); this
        is public. The function gets the records in the order of the domain. It returns None
        for a table that has no answer.

        >>> spread = InverseSensitivity.search(
        ...     lambda table: max(table) - min(table),
        ...     range(4),
        ...     records=3,
        ...     epsilon=1,
        ...     neighbors="replace",
        ... )
        >>> spread.distance([0, 0, 0]).tolist(), spread.outputs
        ([0, 1, 1, 1], (0, 1, 2, 3))
        """
        relation = neighboring(neighbors)
        distance = SearchedDistance(
            function, tuple(domain), whole(records, "records"), relation
        )
        return cls(
            distance.outputs,
            distance,
            neighbors=relation,
            epsilon=epsilon,
            odds=odds,
            exhaustive=distance.exhaustive,
        )

    @property
    def loss(self) -> PureLoss | RangeLoss:
        """A loss of bounded range; with two exhaustive answers, a pure loss.

        >>> InverseSensitivity.majority(epsilon=1, neighbors="replace").loss
        PureLoss(1)
        """
        return (
            epsilon_or_odds.loss(self.epsilon, self.odds)
            if self._is_binary
            else self._equivalent().loss
        )

    def release(self, data: Any) -> Any:
        """One of the outputs.

        >>> InverseSensitivity.mode("ab", epsilon=1, neighbors="replace").release("b" * 999)
        'b'
        """
        possible, scores = self._scores(data)
        return self.outputs[possible[self._equivalent().release(scores)]]

    def pmf(self, data: Any) -> dict[Any, float]:
        """The probability of each output."""
        possible, scores = self._scores(data)
        law = dict.fromkeys(self.outputs, 0.0)
        for place, p in zip(possible, self._equivalent().pmf(scores), strict=True):
            law[self.outputs[place]] = float(p)
        return law

    def pmf_bounds(self, output: Any, data: Any, bits: int = 256) -> Enclosure:
        """Encloses 2**bits * P(release(data) = output) between two integers, for proofs."""
        possible, scores = self._scores(data)
        for place, index in enumerate(possible):
            if self.outputs[index] == output:
                return self._equivalent().pmf_bounds(place, scores, bits)
        return 0, 0

    def margin(self, confidence: Number = 0.95) -> int:
        """The least m such that, with probability `confidence`, the output is the true answer
        of a table that differs from the data in at most m records.

        >>> InverseSensitivity.median(range(1024), epsilon=1, neighbors="replace").margin()
        19
        """
        return int(self._equivalent().margin(confidence, candidates=len(self.outputs)))

    def _equivalent(self) -> Exponential:
        """The exponential mechanism with score -D; for two answers, with twice the exponent."""
        return Exponential(epsilon=self.epsilon, odds=self.odds, monotone=self._is_binary)

    @property
    def _is_binary(self) -> bool:
        return self.exhaustive and len(self.outputs) == 2

    def _scores(self, data: Any) -> tuple[list[int], NDArray[np.int64]]:
        """Which outputs are possible, and minus their distances."""
        distances = np.asarray(self.distance(data))
        if distances.shape != (len(self.outputs),) or distances.dtype.kind not in "iu":
            raise InvalidData("`distance` must give one whole number for each output.")
        possible = np.flatnonzero(distances != UNREACHABLE)
        if not possible.size or (distances[possible] < 0).any():
            raise InvalidData(
                "Distances must be zero or more, and one output must be possible."
            )
        if self.exhaustive and distances[possible].min() > 0:
            raise InvalidData(
                "No output is the answer of this table, but `exhaustive=True` promises one. "
                "Add the missing outputs, or use exhaustive=False."
            )
        return possible.tolist(), -distances[possible].astype(np.int64)
