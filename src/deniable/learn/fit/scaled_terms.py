"""How a row becomes numbers between -1 and 1, by public facts alone.

A number is clipped to its declared bounds and scaled to [-1, 1]. A text, or any other column
with listed values, has terms for values: 1 where the row has the value and 0 elsewhere.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.learn.fit.feature_cells import FeatureCells

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ScaledTerm:
    """One number of a row: a scaled column, or whether a column has a value.

    >>> age = ScaledTerm("age", middle=50.0, half=50.0)
    >>> age.read([0, 75, 300, None]).tolist()
    [-1.0, 0.5, 1.0, 0.0]
    """

    column: str
    middle: float = 0.0
    half: float = 1.0
    cells: FeatureCells | None = None  # of a column with listed values
    code: int = 0  # then: the cell that this term is about

    @property
    def name(self) -> str:
        """The column, and the value if the term is about one."""
        if self.cells is None:
            return self.column
        return f"{self.column}={self.cells.labels[self.code]}"

    def read(self, values: Iterable[Any]) -> Matrix:
        """The term of each value. A missing number is taken as the middle of its bounds."""
        if self.cells is not None:
            return np.asarray(self.cells.codes(values) == self.code, dtype=np.float64)
        numbers = np.array([_to_float(value) for value in values], dtype=np.float64)
        scaled = np.clip((numbers - self.middle) / self.half, -1.0, 1.0)
        return np.where(np.isnan(scaled), 0.0, scaled)


def read_terms(terms: Sequence[ScaledTerm], columns: Mapping[str, Sequence[Any]]) -> Matrix:
    """A row of terms for each row of the columns."""
    return np.stack([term.read(columns[term.column]) for term in terms], axis=1)


def _to_float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")
