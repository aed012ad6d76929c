"""Shared by designs for numbers: a grid, clipping, and numbered reports.

An answer is clipped to [low, high] and rounded to a multiple of `step`, exactly, before any
coin is flipped. After that it is one of a few whole numbers, and no float is used.
"""

from abc import abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.bits import SYSTEM, BitSource
from deniable.exact.enclosures import Enclosure
from deniable.exact.rationals import Number, positive, rational
from deniable.mechanisms import epsilon_or_odds
from deniable.mechanisms.grid import Numbers, put_on_grid
from deniable.mechanisms.local.answers import read_reports
from deniable.mechanisms.local.tally import Tally, check_not_empty
from deniable.mechanisms.named_arguments import check_arguments
from deniable.privacy import PureLoss

_MOST_STEPS = 1 << 20


class NumericDesign:
    """Subclasses define `outputs`, `_probability` and `_randomize`."""

    __slots__ = ()

    odds: Fraction
    low: Fraction
    high: Fraction
    step: Fraction

    @check_arguments
    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        odds: Number | None = None,
        low: Number,
        high: Number,
        step: Number = 1,
    ) -> None:
        bottom, top, unit = rational(low, "low"), rational(high, "high"), positive(step, "step")
        if bottom >= top:
            raise InvalidParameter(f"`low` must be below `high`. Found {low} and {high}.")
        if (bottom / unit).denominator != 1 or (top / unit).denominator != 1:
            raise InvalidParameter(
                f"`low` and `high` must be multiples of `step`. Found {low}, {high} and {step}."
            )
        if (top - bottom) / unit > _MOST_STEPS:
            raise InvalidParameter(
                f"There may be at most {_MOST_STEPS:,} steps from `low` to `high`. "
                "Choose a larger `step`: noise hides such fine digits."
            )
        for name, value in (("low", bottom), ("high", top), ("step", unit)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "odds", epsilon_or_odds.odds_of(epsilon, odds))

    @property
    def steps(self) -> int:
        """How many steps lie between `low` and `high`."""
        low, high, step = self.low, self.high, self.step
        across = high.numerator * low.denominator - low.numerator * high.denominator
        unit = high.denominator * low.denominator * step.numerator
        return across * step.denominator // unit

    @property
    @abstractmethod
    def outputs(self) -> int:
        """How many different reports there are: 0 to outputs - 1."""

    @abstractmethod
    def _probability(self, report: int, place: int) -> Fraction:
        """P(report | the answer lies `place` steps above `low`)."""

    @abstractmethod
    def _randomize(self, places: NDArray[np.int64], source: BitSource) -> NDArray[np.int64]: ...

    @property
    def loss(self) -> PureLoss:
        """What one report costs, as exact odds."""
        return PureLoss(odds=self.odds)

    def pmf(self, report: int, answer: Any) -> Fraction:
        """P(report | answer), exactly."""
        (place,) = self._places(answer)
        if not 0 <= int(report) < self.outputs:
            return Fraction(0)
        return self._probability(int(report), int(place))

    def pmf_bounds(self, report: int, answer: Any, bits: int = 256) -> Enclosure:
        """2**bits * pmf(report, answer), rounded down and up to integers."""
        scaled = self.pmf(report, answer) * (1 << bits)
        return scaled.__floor__(), scaled.__ceil__()

    def randomize(self, answers: Numbers, *, source: BitSource = SYSTEM) -> NDArray[np.int64]:
        """One report for each answer, on one axis."""
        return self._randomize(self._places(answers), source)

    def aggregate(self, reports: Any) -> Tally:
        """How often each report came; tallies of batches add up."""
        numbers = read_reports(reports).ravel()
        if numbers.dtype.kind not in "iu" or not numbers.size:
            raise InvalidData(
                "Reports must be one or more whole numbers, as `randomize` returns them."
            )
        if int(numbers.min()) < 0 or int(numbers.max()) >= self.outputs:
            raise InvalidData(
                f"Reports must be numbers from 0 to {self.outputs - 1}. Some are not, so they "
                "cannot come from this design."
            )
        counts = np.bincount(numbers, minlength=self.outputs)
        return Tally(self, tuple(counts.tolist()), numbers.size)

    def _tally(self, responses: Any, counts: Tally | None) -> Tally:
        if (responses is None) == (counts is None):
            raise InvalidParameter("Give either the responses or `counts=`, and not both.")
        if counts is None:
            return self.aggregate(responses)
        if not isinstance(counts, Tally) or counts.design != self:
            raise InvalidParameter(f"`counts` must be a tally made by `aggregate` of {self!r}.")
        return check_not_empty(counts)

    def _places(self, answers: Numbers) -> NDArray[np.int64]:
        """How many steps above `low` each answer lies, after clipping and rounding."""
        steps = put_on_grid(answers, self.step).steps
        bottom, top = int(self.low / self.step), int(self.high / self.step)
        clipped: NDArray[np.int64] = np.clip(steps, bottom, top).astype(np.int64)
        return clipped - bottom

    def _from_places(self, places: float) -> float:
        """The number that lies `places` steps above `low`."""
        return float(self.low) + places * float(self.step)
