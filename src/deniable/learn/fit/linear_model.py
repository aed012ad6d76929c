"""A linear model in the units of the table, from a fit on scaled terms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.learn.fit.cell_model import CellModel
from deniable.learn.fit.feature_cells import FeatureCells
from deniable.learn.fit.linear_fit import LinearFit
from deniable.learn.fit.scaled_terms import ScaledTerm, read_terms

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LineModel:
    """The prediction is `intercept` plus each coefficient times its term's own number.

    Coefficients are in the units of the columns: what one more year changes. A number outside
    of its bounds is clipped to them first, as it was in training; so is a prediction.
    """

    terms: tuple[ScaledTerm, ...]
    target: ScaledTerm
    coefficients: Vector
    intercept: float

    @property
    def limits(self) -> tuple[float, float]:
        """The target's bounds, within which predictions are."""
        return self.target.middle - self.target.half, self.target.middle + self.target.half

    def predict(self, columns: Mapping[str, Sequence[Any]]) -> Vector:
        """The predicted number of each row, within the target's bounds."""
        halves = np.array([term.half for term in self.terms])
        middles = np.array([term.middle for term in self.terms])
        rows = read_terms(self.terms, columns) * halves + middles
        predictions = np.asarray(rows @ self.coefficients + self.intercept)
        return np.asarray(np.clip(predictions, *self.limits))

    def as_cells(self, points: int = 32) -> CellModel:
        """About the same model on cells: numbers are cut into `points` intervals, and stand
        for the middle of theirs. A charged score uses it, because it is sums of whole numbers.
        """
        features, tables = [], []
        for name in dict.fromkeys(term.column for term in self.terms):
            own = [place for place, term in enumerate(self.terms) if term.column == name]
            term = self.terms[own[0]]
            if term.cells is not None:
                table = np.zeros(term.cells.size)
                for place in own:
                    table[self.terms[place].code] = self.coefficients[place]
                features.append(term.cells)
            else:
                low, width = term.middle - term.half, 2 * term.half / points
                cuts = tuple(low + i * width for i in range(1, points))
                middles = [low + (i + 0.5) * width for i in range(points)]
                table = np.array([*middles, term.middle]) * self.coefficients[own[0]]
                labels = (*(f"cell {i}" for i in range(points)), None)
                ends = (low, low + points * width)
                features.append(FeatureCells(name, "number", labels, cuts, ends))
            tables.append(table[:, None])
        start = np.array([self.intercept])
        return CellModel(tuple(features), tuple(tables), start, "identity")


@dataclass(frozen=True, slots=True)
class LinearModel(LineModel):
    """A model from noisy moments, whose coefficients have intervals."""

    fit: LinearFit  # on scaled terms; its first coefficient is the intercept

    @classmethod
    def of(
        cls, fit: LinearFit, terms: Sequence[ScaledTerm], target: ScaledTerm
    ) -> "LinearModel":
        """From a fit whose first coefficient is the intercept."""
        scaled = fit.coefficients[1:]
        own = scaled * target.half / np.array([term.half for term in terms])
        middles = np.array([term.middle for term in terms])
        intercept = target.middle + target.half * fit.coefficients[0] - float(own @ middles)
        return cls(tuple(terms), target, own, float(intercept), fit)

    def agrees_with(self, other: LineModel) -> bool:
        """Whether another line has the coefficients of this one, except for rounding: another
        machine may add up in another order."""
        own = np.array([*self.coefficients, self.intercept])
        given = np.array([*other.coefficients, other.intercept])
        halves = np.array([term.half for term in self.terms])
        units = np.array([*self.target.half / halves, self.target.half])
        return bool(np.allclose(given / units, own / units, rtol=1e-6, atol=1e-6))

    def intervals(
        self, confidence: float = 0.95, *, together: bool = False
    ) -> dict[str, tuple[float, float]]:
        """The interval of each coefficient, in the columns' units, and of the intercept."""
        fit, target = self.fit, self.target
        pairs = fit.intervals_together(confidence) if together else fit.intervals(confidence)
        intervals = {}
        for term, (low, high) in zip(self.terms, pairs[1:], strict=True):
            unit = target.half / term.half
            intervals[term.name] = (low * unit, high * unit)
        direction = [1.0, *(-term.middle / term.half for term in self.terms)]
        ends = fit.interval_along(direction, confidence)
        low, high = (target.middle + target.half * end for end in ends)
        return intervals | {"intercept": (low, high)}
