"""What mechanisms share that choose one of many candidates by their scores.

Say that between neighbours every score moves by at most `sensitivity`. Then the difference of
two scores moves by at most twice that; or by at most once that, if all scores move in the same
direction (`monotone`: counts, when a record is added). This span is what epsilon is spread
over: a candidate that lies one span behind the best is e**epsilon times less likely than it to
be considered. All exponents are rational multiples of whole numbers, and the choice is exact.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact.enclosures import Enclosure
from deniable.exact.rationals import Number, positive, probability
from deniable.mechanisms import strength
from deniable.mechanisms.choose.scores import (
    Candidates,
    Scores,
    candidates_of,
    read,
)
from deniable.privacy import Loss
from deniable.privacy.arithmetic import floats


@dataclass(frozen=True, slots=True, init=False)
class Choosing(ABC):
    """Parameters, reading and naming; a subclass gives the law and its sampler."""

    epsilon: Fraction | None
    odds: Fraction | None
    sensitivity: Fraction
    monotone: bool
    step: Fraction | None

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        odds: Number | None = None,
        sensitivity: Number = 1,
        monotone: bool = False,
        step: Number | None = None,
    ) -> None:
        exact_epsilon, exact_odds = strength.one_of(epsilon, odds)
        object.__setattr__(self, "epsilon", exact_epsilon)
        object.__setattr__(self, "odds", exact_odds)
        object.__setattr__(self, "sensitivity", positive(sensitivity, "sensitivity"))
        if not isinstance(monotone, bool):
            raise InvalidParameter(f"`monotone` must be True or False. Found {monotone!r}.")
        object.__setattr__(self, "monotone", monotone)
        grid = None if step is None else positive(step, "step")
        object.__setattr__(self, "step", grid)

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """What one choice costs."""

    def release(self, scores: Candidates) -> Any:
        """The chosen candidate: its key in a mapping, else its index.

        >>> from deniable.mechanisms import PermuteAndFlip
        >>> PermuteAndFlip(epsilon=1).release({"no": 0, "yes": 5000})
        'yes'
        """
        read_scores = self._read(scores)
        return read_scores.name(self._choose(read_scores))

    def pmf(self, scores: Candidates) -> Any:
        """The probability of each candidate: a mapping for a mapping, else an array.

        >>> from deniable.mechanisms import Exponential
        >>> Exponential(odds=2).pmf([0, 2]).round(9).tolist()
        [0.333333333, 0.666666667]
        """
        read_scores = self._read(scores)
        return read_scores.named(self._probabilities(read_scores))

    def pmf_bounds(self, output: Any, scores: Candidates, bits: int = 256) -> Enclosure:
        """Encloses 2**bits * P(release(scores) = output) between two integers, for proofs."""
        read_scores = self._read(scores)
        index = read_scores.index(output)
        return (0, 0) if index is None else self._enclose(read_scores, index, bits)

    def margin(
        self, confidence: Number = 0.95, *, candidates: int, real: bool = False
    ) -> int | float:
        """The least m for which, whatever the scores are, the chosen one's lies at most m below
        the best one's with probability `confidence`.

        Integer scores lose a whole number; say `real=True` for floats, or where `step` is not
        one over a whole number. Then the margin covers the rounding to the grid, too.

        >>> from deniable.mechanisms import Exponential, PermuteAndFlip
        >>> Exponential(epsilon=1).margin(0.95, candidates=100)
        15
        >>> PermuteAndFlip(epsilon=1).margin(0.95, candidates=100)
        13
        """
        miss = 1 - probability(confidence, "confidence")
        if not 0 < miss < 1:
            raise InvalidParameter(
                f"`confidence` must lie between 0 and 1. Found {confidence}: a private choice "
                "is never certain."
            )
        count = candidates_of(candidates)
        if count == 1:
            return 0
        sample = self._read([0.0] if real else [0])
        gap = self._least_gap(sample, count, miss)
        lost = (gap if sample.real else gap - 1) * sample.unit  # rounding moves both scores
        return int(lost) if lost.denominator == 1 else floats.up(lost)

    def rate(self, scores: Scores) -> Fraction:
        """The exponent that one unit of score is worth."""
        span = scores.span(self.sensitivity, monotone=self.monotone)
        return strength.rate(self.epsilon, self.odds) / span

    def _read(self, scores: Candidates) -> Scores:
        return read(scores, step=self.step, sensitivity=self.sensitivity)

    @abstractmethod
    def _choose(self, scores: Scores) -> int:
        """One index, drawn exactly."""

    @abstractmethod
    def _probabilities(self, scores: Scores) -> NDArray[np.float64]:
        """All probabilities, as floats."""

    @abstractmethod
    def _enclose(self, scores: Scores, index: int, bits: int) -> Enclosure:
        """One probability, enclosed."""

    @abstractmethod
    def _least_gap(self, scores: Scores, candidates: int, miss: Fraction) -> int:
        """The least g >= 1 such that, if every candidate but the best lies g units behind it,
        one of them is chosen with probability `miss` at most."""


def exponents(scores: Scores, rate: Fraction) -> NDArray[np.float64]:
    """How far behind each candidate is, as a float exponent."""
    behind = scores.behind()
    if behind.dtype == object:
        return np.array([float(rate * int(one)) for one in behind])
    return np.asarray(behind * float(rate), dtype=np.float64)
