"""What each report says about its answer, without bias: one row of numbers a report.

Every design of this house can be *read*: there is a vector r(report) whose mean over the coins
is that of the answer behind it. For choices that is 1 at the answer and 0 elsewhere; a number
counts as a share t at its high end and 1 - t at its low end, where t is how far it lies from
low to high; a multiple choice has 1 at each box that is ticked. Coins of different reports are
independent, so products of readings of two questions are unbiased for the products of the
answers: that is all that tables of two questions need, whatever the two designs are.

| design | reading |
|---|---|
| `RandomizedResponse`, `Ordinal` | the report's column of the inverse channel |
| `OUE`, `OLH`, `HadamardResponse`, `SubsetSelection` | (supported - q) / (p - q) |
| `Duchi`, `Piecewise`, `Hybrid`, `SquareWave` | the line of mean reports, inverted |
| `NumberOrNot` | that of the randomized response among low, high and not said |
| a multiple choice | (ticked - q) / (p - q), box by box |
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms import NumberOrNot
from deniable.mechanisms.local.answers import read_answers
from deniable.mechanisms.local.frequency_oracle import FrequencyOracle
from deniable.mechanisms.local.numbers.numeric_design import NumericDesign
from deniable.surveys.estimate.simplex import channel_of
from deniable.surveys.questionnaire.designs import DesignedQuestion

Matrix = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class ReportReader:
    """How the reports of a design are read.

    `careless` is the mean reading of people who pick their answer blindly. `adds_up` says
    whether an answer's numbers add up to 1. `ends` are a number's, else None.
    """

    of: Callable[[Any], Matrix]
    answers: int
    careless: Matrix
    adds_up: bool = True
    ends: tuple[float, float] | None = None

    def __call__(self, reports: Any) -> Matrix:
        """The readings, a row a report."""
        return self.of(reports)


def reader_for(design: Any) -> ReportReader:
    """How a design, or a question with its design, is read. A whole number stands for a column
    without coins that has so many answers.

    >>> from deniable.mechanisms import OUE, RandomizedResponse
    >>> reader_for(RandomizedResponse(odds=3))([True]).tolist()
    [[-0.5, 1.5]]
    >>> oue = OUE(odds=3, categories=4)
    >>> reader_for(oue)(oue.randomize([2, 2, 1])).shape
    (3, 4)
    """
    if isinstance(design, DesignedQuestion):
        return reader_for(design.design) if design.options == 1 else _box_reader(design)
    if isinstance(design, int):
        return _numbered_reader(np.eye(design))
    if isinstance(design, NumberOrNot):
        return _numbered_reader(np.linalg.inv(channel_of(design.response)), _ends(design))
    if hasattr(design, "matrix"):
        return _numbered_reader(np.linalg.inv(channel_of(design)))
    if isinstance(design, FrequencyOracle):
        p, q, k = float(design.p), float(design.q), design.categories
        return ReportReader(
            lambda reports: (design.supports(reports) - q) / (p - q), k, np.full(k, 1 / k)
        )
    if isinstance(design, NumericDesign) and hasattr(design, "readings"):
        low, high = _ends(design)
        part = (design.readings() - low) / (high - low)
        return _numbered_reader(np.stack([1 - part, part]), (low, high))
    raise InvalidParameter(
        f"Reports of {type(design).__name__} cannot be read one by one. For text, see `decode`."
    )


def _numbered_reader(columns: Matrix, ends: tuple[float, float] | None = None) -> ReportReader:
    """Reports that are numbered: a column each."""
    many, k = columns.shape[1], columns.shape[0]
    return ReportReader(
        lambda reports: columns[:, _report_numbers(reports, many)].T,
        k,
        np.full(k, 1 / k),
        True,
        ends,
    )


def _report_numbers(reports: Any, many: int) -> NDArray[np.int64]:
    return read_answers(reports, many).numbers


def _box_reader(asked: DesignedQuestion) -> ReportReader:
    """A box is ticked by a coin, if blindly; the one to decline with empties the others."""
    p, q = (
        np.array([float(getattr(one, side)) for one in asked.channels]) for side in ("p", "q")
    )
    blindly = np.full(asked.options, 0.5)
    if asked.question.prefer_not_to_say:
        blindly[:-1] = 0.25
    return ReportReader(
        lambda reports: (asked.boxes(reports) - q) / (p - q), asked.options, blindly, False
    )


def _ends(design: NumericDesign) -> tuple[float, float]:
    return float(design.low), float(design.high)


def count_pairs(first: Any, second: Any) -> int:
    """How many people there are, if both questions have as many reports.

    >>> count_pairs([1, 0], [0, 0])
    2
    """
    if len(first) != len(second):
        raise InvalidData(
            f"Both questions need as many reports. Found {len(first)} and {len(second)}."
        )
    return len(first)
