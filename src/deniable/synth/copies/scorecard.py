"""How far the delivered rows are from the table: every pair of columns, with intervals.

The error of a pair is the sum over its cells of |rows of the table - rows of the copy|, the
copy scaled to the noisy number of rows, over that number: 0 is equal, 2 has nothing in common.
The table is the one within the limits of the policy. The intervals hold for all pairs at once,
so the worst pairs may be named.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

from deniable.exact.html_tables import html_table
from deniable.exact.text_formats import percent

_SHOWN = 10  # tables in a notebook


@dataclass(frozen=True, slots=True)
class PairError:
    """The error of one table of the copy, and its interval."""

    columns: tuple[str, ...]
    error: float
    low: float
    high: float

    def __str__(self) -> str:
        return (
            f"{', '.join(self.columns)}: {self.error:.3f} ({self.low:.3f} to {self.high:.3f})"
        )


@dataclass(frozen=True, slots=True)
class Scorecard:
    """The errors of all scored tables. All intervals hold together at `confidence`."""

    errors: tuple[PairError, ...]
    confidence: Fraction
    weights: tuple[int, ...] = ()  # of the tables; none: all alike

    @classmethod
    def read(
        cls,
        tables: Sequence[tuple[str, ...]],
        distances: Sequence[float],
        *,
        deviation: float,
        rounding: Sequence[float],
        total: float,
        confidence: Fraction,
        weights: Sequence[int] = (),
    ) -> "Scorecard":
        """From noisy distances in rows; `rounding` is how far each may be off for rounding."""
        each = float(confidence) ** (1 / len(tables))
        half = NormalDist().inv_cdf((1 + each) / 2) * deviation
        rows = max(total, 1.0)
        errors = [
            PairError(
                columns,
                min(2.0, max(0.0, distance / rows)),
                min(2.0, max(0.0, (distance - half - slack) / rows)),
                max(0.0, (distance + half + slack) / rows),
            )
            for columns, distance, slack in zip(tables, distances, rounding, strict=True)
        ]
        return cls(tuple(errors), confidence, tuple(weights))

    @property
    def mean(self) -> float:
        """The mean error, by the weights of the tables."""
        weights = self.weights or (1,) * len(self.errors)
        pairs = zip(weights, self.errors, strict=True)
        return sum(weight * pair_error.error for weight, pair_error in pairs) / sum(weights)

    def worst(self, count: int = 5) -> tuple[PairError, ...]:
        """The tables with the largest errors."""
        return tuple(sorted(self.errors, key=lambda pair_error: -pair_error.error)[:count])

    def __str__(self) -> str:
        lines = [
            self._about(),
            "The worst:",
            *(f"  {pair_error}" for pair_error in self.worst()),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            [
                ", ".join(pair_error.columns),
                *(f"{end:.3f}" for end in (pair_error.error, pair_error.low, pair_error.high)),
            ]
            for pair_error in self.worst(_SHOWN)
        ]
        headings, numeric = ["worst tables", "error", "low", "high"], [False, True, True, True]
        return html_table(headings, rows, numeric, len(self.errors) - len(rows), self._about())

    def _about(self) -> str:
        many = len(self.errors)
        return (
            f"Errors of {many} table{'' if many == 1 else 's'} of the copy (0: equal, 2: "
            f"nothing in common). Mean: {self.mean:.3f}. All intervals hold together at "
            f"{percent(self.confidence)}."
        )
