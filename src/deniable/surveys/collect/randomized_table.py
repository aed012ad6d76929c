"""A randomized table: chosen columns are randomized, cell by cell, so that it may be published.

Every cell goes through its column's design with fresh coins. The loss of one row is the sum of
the designs' losses. Columns that are not named stay as they are and become public, so name all
private columns. The estimators of `surveys` take the randomized columns.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms import Tally
from deniable.mechanisms.local.answers import read_answers
from deniable.mechanisms.local.numbers.numeric_design import NumericDesign
from deniable.privacy import Loss, PureLoss
from deniable.surveys.estimate.crosstab import CrossTab, crosstab


@dataclass(frozen=True, slots=True)
class RandomizedTable:
    """A table whose columns in `designs` are randomized; `frame` has the type of the original.

    `loss` is what the randomized cells of one row cost together. `estimate` is for one column,
    `crosstab` for two.
    """

    frame: Any = field(repr=False)
    designs: Mapping[str, Any]
    loss: Loss
    public: tuple[str, ...]

    def __getitem__(self, column: str) -> Any:
        return self.frame[column]

    def tally(self, column: str) -> Tally:
        """The reports of a column, counted."""
        tally: Tally = self._design(column).aggregate(self.frame[column])
        return tally

    def estimate(self, column: str, **options: Any) -> Any:
        """The share of yeses, or of each answer, in a randomized column."""
        return self._design(column).estimate(counts=self.tally(column), **options)

    def crosstab(self, rows: str, columns: str) -> CrossTab:
        """The table of two columns. One of them may be public (answers 0, 1, 2, ...)."""
        pair = self.designs.get(rows), self.designs.get(columns)
        if any(isinstance(design, NumericDesign) for design in pair):
            raise InvalidParameter(
                "A cross-tab needs columns of categories, and one of these holds numbers. For "
                "the mean of the numbers use `estimate`."
            )
        return crosstab(*pair, reports=(self.frame[rows], self.frame[columns]))

    def _design(self, column: str) -> Any:
        if column not in self.designs:
            raise InvalidParameter(
                f"Column {column!r} was not randomized: count it directly. "
                f"Randomized columns: {', '.join(self.designs)}."
            )
        return self.designs[column]


def randomize(frame: Any, *, columns: Mapping[str, Any]) -> RandomizedTable:
    """Randomizes columns of a table: a dict of columns, or a pandas or polars frame.

    `columns` maps each column to its design. Reports must be single numbers: answers are
    booleans or numbers of categories (`RandomizedResponse`, `Ordinal`), or numbers (`Hybrid`,
    `Duchi`, `Piecewise`, `SquareWave`, `NumberOrNot`).

    >>> from deniable.mechanisms import RandomizedResponse
    >>> people = {"age": [31, 45, 28], "dopes": [True, False, False]}
    >>> copy = randomize(people, columns={"dopes": RandomizedResponse(odds=3)})
    >>> copy.loss.epsilon(), copy.public
    (1.0986122886681098, ('age',))
    """
    names = list(frame.columns) if hasattr(frame, "columns") else list(frame)
    unknown = [name for name in columns if name not in names]
    if unknown or not columns:
        raise InvalidParameter(
            "`columns` must name one or more columns of the table "
            f"({', '.join(map(str, names))}). Found {unknown or 'none'}."
        )
    if len({len(frame[name]) for name in names}) > 1:
        raise InvalidData("All columns of a table must have the same length.")
    reports, loss = {}, PureLoss(0) + PureLoss(0)
    for name, design in columns.items():
        if not hasattr(design, "matrix") and not isinstance(design, NumericDesign):
            raise InvalidParameter(
                f"A cell of {name!r} must stay one number, but a report of "
                f"{type(design).__name__} is not. Use RandomizedResponse or Ordinal for "
                "categories, Hybrid for numbers."
            )
        loss = loss + design.loss
        reports[name] = _randomize_column(design, name, frame[name])
    public = tuple(str(name) for name in names if name not in columns)
    return RandomizedTable(_replace_columns(frame, reports), dict(columns), loss, public)


def _randomize_column(design: Any, name: str, answers: Any) -> Any:
    """The reports of one column, as a list if the answers are a list."""
    numeric = isinstance(design, NumericDesign)
    axes = np.ndim(answers) if numeric else len(read_answers(answers, design.categories).shape)
    if axes != 1:
        raise InvalidData(f"Column {name!r} must hold one answer per row.")
    if not numeric:
        return design.randomize(answers)
    reports = design.randomize(answers if isinstance(answers, list) else np.asarray(answers))
    return reports.tolist() if isinstance(answers, list) else reports


def _replace_columns(frame: Any, columns: Mapping[str, Any]) -> Any:
    """A table of the same type, with these columns in place of the old ones."""
    if hasattr(frame, "with_columns"):  # polars
        kind = type(next(iter(frame.iter_columns())))
        return frame.with_columns([kind(name, values) for name, values in columns.items()])
    if hasattr(frame, "assign"):  # pandas
        return frame.assign(**columns)
    if isinstance(frame, Mapping):
        return {name: columns.get(name, values) for name, values in frame.items()}
    raise InvalidData("The table must be a dict of columns, or a pandas or polars frame.")
