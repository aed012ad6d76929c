"""What a stream shows: a number with its margin, and the promise that it keeps."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor

from deniable.exact.text_formats import percent
from deniable.release.answer.formatting import format_with_margin
from deniable.streams.counting.spread import Spread

_ROUNDING = 1e-6  # grid steps: of the floats in an estimate


def shown(estimate: float | Fraction) -> int:
    """An estimate on the grid, in grid steps."""
    return floor(2 * estimate + 1) // 2


def shown_margin(spread: Spread, confidence: Fraction) -> int:
    """How far the shown number may be from the truth, in grid steps. The truth is on the grid,
    so the distance is a whole number."""
    return floor(spread.margin(confidence) + 0.5 + _ROUNDING)


@dataclass(frozen=True, slots=True)
class Reading:
    """A number of a stream after one of its steps.

    >>> reading = Reading(
    ...     3, 42, 5, "visits so far", "one event at one time (it may come or go)"
    ... )
    >>> reading.low, reading.high
    (37, 47)
    >>> print(reading)
    visits so far after step 3: 42 ± 5 at 95 %
    protects one event at one time (it may come or go)
    """

    step: int
    value: int | float
    margin: int | float
    about: str
    promise: str
    confidence: Fraction = Fraction(19, 20)

    @property
    def low(self) -> int | float:
        """The lower end of the interval."""
        return self.value - self.margin

    @property
    def high(self) -> int | float:
        """The upper end of the interval."""
        return self.value + self.margin

    def __str__(self) -> str:
        number = format_with_margin(self.value, self.margin)
        level = percent(self.confidence)
        return (
            f"{self.about} after step {self.step}: {number} at {level}\nprotects {self.promise}"
        )


def in_units(steps: int, grid: Fraction) -> int | float:
    """A number of grid steps in the value's own unit.

    >>> in_units(7, Fraction(1)), in_units(7, Fraction(1, 2))
    (7, 3.5)
    """
    exact = steps * grid
    return int(exact) if grid.denominator == 1 else float(exact)
