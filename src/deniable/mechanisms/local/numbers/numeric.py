"""What designs for numbers share: a grid, clipping, and reports that are numbered.

An answer is clipped to [low, high] and rounded to a multiple of `step`, exactly, before any
coin is flipped; from there on it is one of a few whole numbers, and no float takes part.
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
from deniable.mechanisms import strength
from deniable.mechanisms.grid import Numbers, gridded
from deniable.mechanisms.local.answers import reported
from deniable.mechanisms.local.tally import Tally, some
from deniable.privacy import PureLoss

_MOST_STEPS = 1 << 20


class NumericDesign:
    """Subclasses give `outputs`, `_weight` and `_randomize`."""

    __slots__ = ()

    odds: Fraction
    low: Fraction
    high: Fraction
    step: Fraction

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
                "Choose a larger `step`: noise hides such fine digits anyway."
            )
        for name, value in (("low", bottom), ("high", top), ("step", unit)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "odds", strength.odds_of(epsilon, odds))

    @property
    def steps(self) -> int:
        """How many steps lie between `low` and `high`."""
        return int((self.high - self.low) / self.step)

    @property
    @abstractmethod
    def outputs(self) -> int:
        """How many different reports there are: 0 to outputs - 1."""

    @abstractmethod
    def _chance(self, report: int, place: int) -> Fraction:
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
        return self._chance(int(report), int(place))

    def pmf_bounds(self, report: int, answer: Any, bits: int = 256) -> Enclosure:
        """2**bits * pmf(report, answer), rounded down and up to integers."""
        scaled = self.pmf(report, answer) * (1 << bits)
        return scaled.__floor__(), scaled.__ceil__()

    def randomize(self, answers: Numbers, *, source: BitSource = SYSTEM) -> NDArray[np.int64]:
        """One report for each answer, on one axis."""
        return self._randomize(self._places(answers), source)

    def aggregate(self, reports: Any) -> Tally:
        """How often each report came; tallies of batches add up."""
        found = reported(reports).ravel()
        if found.dtype.kind not in "iu" or not found.size:
            raise InvalidData(
                "Reports must be whole numbers, one or more, as `randomize` gives."
            )
        if int(found.min()) < 0 or int(found.max()) >= self.outputs:
            raise InvalidData(
                f"Reports must lie from 0 to {self.outputs - 1}. Some cannot come from here."
            )
        counts = np.bincount(found, minlength=self.outputs)
        return Tally(self, tuple(counts.tolist()), found.size)

    def _tally(self, responses: Any, counts: Tally | None) -> Tally:
        if (responses is None) == (counts is None):
            raise InvalidParameter("Give either the responses or `counts=`, and not both.")
        if counts is None:
            return self.aggregate(responses)
        if not isinstance(counts, Tally) or counts.design != self:
            raise InvalidParameter(f"`counts` must be a tally made by `aggregate` of {self!r}.")
        return some(counts)

    def _places(self, answers: Numbers) -> NDArray[np.int64]:
        """How many steps above `low` each answer lies, once clipped and rounded."""
        steps = gridded(answers, self.step).steps
        bottom, top = int(self.low / self.step), int(self.high / self.step)
        clipped: NDArray[np.int64] = np.clip(steps, bottom, top).astype(np.int64)
        return clipped - bottom

    def _scaled(self, places: float) -> float:
        """A number of steps above `low`, in the answers' own units."""
        return float(self.low) + places * float(self.step)
