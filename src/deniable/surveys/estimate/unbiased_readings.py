"""Unbiased readings: one row of numbers per report, whose mean is the vector of the answer.

Every design of this package can be *read*: there is a vector r(report) whose mean over the
coins is the vector of the true answer. For choices the vector is 1 at the answer and 0
elsewhere. For a number it is 1 - t at the low end and t at the high end, where t is the
position between low and high. For a multiple choice it is 1 at each ticked box. Coins of
different reports are independent, so products of readings of two questions are unbiased for the
products of the answers. Tables of two questions need no more than that, for any two designs.

| design | reading |
|---|---|
| `RandomizedResponse`, `Ordinal` | the report's column of the inverse channel |
| `OUE`, `OLH`, `HadamardResponse`, `SubsetSelection` | (supported - q) / (p - q) |
| `Duchi`, `Piecewise`, `Hybrid`, `SquareWave` | the inverse of the line of mean reports |
| `NumberOrNot` | as for randomized response among low, high and not said |
| a multiple choice | (ticked - q) / (p - q) for each box |
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
    """Computes the readings of a design's reports.

    `careless` is the mean reading of people who answer at random. `reach` holds the least and
    the greatest reading of each answer, and `spread` a guess at its variance, both from the
    design alone. `adds_up` says whether the numbers of an answer add up to 1. `ends` are the
    low and high end of a number, else None.
    """

    of: Callable[[Any], Matrix]
    answers: int
    careless: Matrix
    reach: tuple[Matrix, Matrix]
    spread: Matrix
    adds_up: bool = True
    ends: tuple[float, float] | None = None

    def __call__(self, reports: Any) -> Matrix:
        """The readings, one row per report."""
        return self.of(reports)


def reader_for(design: Any) -> ReportReader:
    """The reader of a design or of a `DesignedQuestion`; a reader is its own. A whole number k
    stands for a column with k answers that was not randomized.

    >>> from deniable.mechanisms import OUE, RandomizedResponse
    >>> reader_for(RandomizedResponse(odds=3))([True]).tolist()
    [[-0.5, 1.5]]
    >>> oue = OUE(odds=3, categories=4)
    >>> reader_for(oue)(oue.randomize([2, 2, 1])).shape
    (3, 4)
    """
    if isinstance(design, ReportReader):
        return design
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
            lambda reports: (design.supports(reports) - q) / (p - q),
            k,
            np.full(k, 1 / k),
            *_two_values(np.full(k, p), np.full(k, q)),
        )
    if isinstance(design, NumericDesign) and hasattr(design, "readings"):
        low, high = _ends(design)
        part = (design.readings() - low) / (high - low)
        return _numbered_reader(np.stack([1 - part, part]), (low, high))
    raise InvalidParameter(
        f"Reports of {type(design).__name__} have no unbiased readings. For text use `decode`."
    )


def scale_reader(design: Any, points: int) -> ReportReader:
    """The reader of a scale from 1 to `points` as of a number, for its mean. Answers after the
    points decline.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> reader_of_points = scale_reader(RandomizedResponse(odds=3, categories=2), 2)
    >>> reader_of_points([1]).tolist(), reader_of_points.ends
    ([[-0.5, 1.5]], (1.0, 2.0))
    """
    columns = np.linalg.inv(channel_of(design))
    part = np.linspace(0, 1, points)
    said = columns[:points]
    ends = np.stack([(1 - part) @ said, part @ said])
    return _numbered_reader(np.concatenate([ends, columns[points:]]), (1.0, float(points)))


def _numbered_reader(columns: Matrix, ends: tuple[float, float] | None = None) -> ReportReader:
    """A reader of numbered reports, from one column of readings for each report."""
    many, k = columns.shape[1], columns.shape[0]
    return ReportReader(
        lambda reports: columns[:, _report_numbers(reports, many)].T,
        k,
        np.full(k, 1 / k),
        (columns.min(axis=1), columns.max(axis=1)),
        columns.var(axis=1),
        True,
        ends,
    )


def _two_values(p: Matrix, q: Matrix) -> tuple[tuple[Matrix, Matrix], Matrix]:
    """Reach and spread of readings that are (supported - q) / (p - q)."""
    values = np.stack([-q, 1 - q]) / (p - q)
    return (values.min(axis=0), values.max(axis=0)), q * (1 - q) / (p - q) ** 2


def _report_numbers(reports: Any, many: int) -> NDArray[np.int64]:
    return read_answers(reports, many).numbers


def _box_reader(designed: DesignedQuestion) -> ReportReader:
    """A reader of boxes. A careless person ticks each box with probability 1/2, and "prefer not
    to say" clears the others."""
    p, q = (
        np.array([float(getattr(channel, side)) for channel in designed.channels])
        for side in ("p", "q")
    )
    careless = np.full(designed.options, 0.5)
    if designed.question.prefer_not_to_say:
        careless[:-1] = 0.25
    return ReportReader(
        lambda reports: (designed.boxes(reports) - q) / (p - q),
        designed.options,
        careless,
        *_two_values(p, q),
        False,
    )


def _ends(design: NumericDesign) -> tuple[float, float]:
    return float(design.low), float(design.high)


def count_pairs(first: Any, second: Any) -> int:
    """How many people answered both questions. Both must have the same number of reports.

    >>> count_pairs([1, 0], [0, 0])
    2
    """
    if len(first) != len(second):
        raise InvalidData(
            "Both questions must have the same number of reports. Found "
            f"{len(first)} and {len(second)}."
        )
    return len(first)
