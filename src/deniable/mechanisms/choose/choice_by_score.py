"""Shared by mechanisms that choose one of many candidates by their scores.

Between neighbouring tables every score moves by at most `sensitivity`. So the difference of two
scores moves by at most twice that, or by at most once that if all scores move in the same
direction (`monotone`: for example counts, when a record is added). This bound is the span. A
candidate one span behind the best is e**epsilon times less likely than the best to be
considered. All exponents are rational multiples of whole numbers, and the choice is exact.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact.enclosures import Enclosure
from deniable.exact.rationals import Number, confidence_level, positive
from deniable.mechanisms import epsilon_or_odds
from deniable.mechanisms.choose.scores import (
    Candidates,
    Scores,
    read_candidate_count,
    read_scores,
)
from deniable.mechanisms.named_arguments import check_arguments
from deniable.privacy import Loss
from deniable.privacy.arithmetic import floats


@dataclass(frozen=True, slots=True, init=False)
class ChoiceByScore(ABC):
    """Reads scores and names the chosen candidate. Subclasses define how to choose."""

    epsilon: Fraction | None
    odds: Fraction | None
    sensitivity: Fraction
    monotone: bool
    step: Fraction | None

    @check_arguments
    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        odds: Number | None = None,
        sensitivity: Number = 1,
        monotone: bool = False,
        step: Number | None = None,
    ) -> None:
        exact_epsilon, exact_odds = epsilon_or_odds.read(epsilon, odds)
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
        on_grid = self._read(scores)
        return on_grid.name(self._choose(on_grid))

    def pmf(self, scores: Candidates) -> Any:
        """The probability of each candidate: a mapping for a mapping, else an array.

        >>> from deniable.mechanisms import Exponential
        >>> Exponential(odds=2).pmf([0, 2]).round(9).tolist()
        [0.333333333, 0.666666667]
        """
        on_grid = self._read(scores)
        return on_grid.label(self._probabilities(on_grid))

    def pmf_bounds(self, output: Any, scores: Candidates, bits: int = 256) -> Enclosure:
        """Encloses 2**bits * P(release(scores) = output) between two integers, for proofs."""
        on_grid = self._read(scores)
        index = on_grid.index(output)
        return (0, 0) if index is None else self._enclose(on_grid, index, bits)

    def margin(
        self, confidence: Number = 0.95, *, candidates: int, real: bool = False
    ) -> int | float:
        """The least m such that, for all scores and with probability `confidence`, the chosen
        score is at most m below the best score.

        For integer scores it is a whole number. Give `real=True` for floats, or if `step` is
        not one over a whole number: then the margin also covers the rounding to the grid.

        >>> from deniable.mechanisms import Exponential, PermuteAndFlip
        >>> Exponential(epsilon=1).margin(0.95, candidates=100)
        15
        >>> PermuteAndFlip(epsilon=1).margin(0.95, candidates=100)
        13
        """
        miss = 1 - confidence_level(confidence)
        count = read_candidate_count(candidates)
        if count == 1:
            return 0
        sample = self._read([0.0] if real else [0])
        gap = self._least_gap(sample, count, miss)
        lost = (gap if sample.real else gap - 1) * sample.unit  # rounding moves both scores
        return int(lost) if lost.denominator == 1 else floats.up(lost)

    def rate(self, scores: Scores) -> Fraction:
        """The exponent for one unit of score."""
        span = scores.span(self.sensitivity, monotone=self.monotone)
        return epsilon_or_odds.rate(self.epsilon, self.odds) / span

    def _read(self, scores: Candidates) -> Scores:
        return read_scores(scores, step=self.step, sensitivity=self.sensitivity)

    @abstractmethod
    def _choose(self, scores: Scores) -> int:
        """Draws one index, exactly."""

    @abstractmethod
    def _probabilities(self, scores: Scores) -> NDArray[np.float64]:
        """All probabilities, as floats."""

    @abstractmethod
    def _enclose(self, scores: Scores, index: int, bits: int) -> Enclosure:
        """Encloses one probability."""

    @abstractmethod
    def _least_gap(self, scores: Scores, candidates: int, miss: Fraction) -> int:
        """The least g >= 1 such that, if all candidates except the best lie g units behind it,
        one of them is chosen with probability at most `miss`."""


def exponents(scores: Scores, rate: Fraction) -> NDArray[np.float64]:
    """How far each candidate lies behind the best, as a float exponent."""
    gaps = scores.gaps_to_best()
    if gaps.dtype == object:
        return np.array([float(rate * int(gap)) for gap in gaps])
    return np.asarray(gaps * float(rate), dtype=np.float64)
