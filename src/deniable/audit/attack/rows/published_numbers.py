"""The numbers that answers publish, and what each row adds to them. Private."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]
ITS_COUNT = "its count"
MOST_NUMBERS = 1 << 28  # in the vectors of one attack: 2 GB


@dataclass(frozen=True, slots=True)
class PublishedNumber:
    """One number of one answer: `question` is the place of its question in the list. With
    `times` it is a product of two: an average times its count, which is a sum. With `less` it
    is an average as an equation: the values less the average add up to zero. `plus` is what the
    question adds to the sum of its rows."""

    question: int
    output: str
    keys: tuple[Any, ...]
    times: str | None = None
    less: bool = False
    plus: Fraction = Fraction(0)

    def __str__(self) -> str:
        where = ", ".join(map(str, self.keys))
        name = self.output if self.times is None else f"{self.output} × {self.times}"
        name = f"sum of values less {name}" if self.less else name
        return f"question {self.question + 1}, {name}" + (f" of {where}" if where else "")

    @property
    def place(self) -> tuple[int, str, tuple[Any, ...]]:
        """Where it stands in the answers, whatever it is multiplied by."""
        return self.question, self.output, self.keys


@dataclass(frozen=True, slots=True, repr=False)
class AverageParts:
    """An average, or another ratio of two sums: `scale * sum(above) / sum(below)`."""

    number: PublishedNumber
    above: Integers  # what each row adds
    below: Integers
    scale: Fraction


@dataclass(frozen=True, slots=True, repr=False)
class LoneParts:
    """A number that is not linear, such as a quantile: it is looked at alone. `parts` is what
    it takes from each row that it reads."""

    number: PublishedNumber
    rows: Integers  # the places of these rows
    parts: NDArray[Any]  # one line for each of them

    def spread(self, many: int) -> NDArray[Any]:
        """The parts of all rows of the table; zeros for the rows that it does not read."""
        spread = np.zeros((many, self.parts.shape[1]), dtype=object)
        spread[self.rows] = self.parts
        return spread


@dataclass(frozen=True, slots=True, repr=False)
class Contributions:
    """The exact contribution of each row to each number: `vectors[i] * scales[i]`. Private."""

    numbers: tuple[PublishedNumber, ...]
    vectors: Integers  # a row for each number, a column for each row of the table
    scales: tuple[Fraction, ...]
    skipped: tuple[tuple[str, str], ...]  # what is not attacked, and why
    averages: tuple[AverageParts, ...] = ()
    lone: tuple[LoneParts, ...] = ()

    def values(self) -> NDArray[np.float64]:
        """The contributions in the numbers' own units."""
        factors = np.array([float(scale) for scale in self.scales])
        return np.asarray(self.vectors * factors[:, None], dtype=np.float64)
