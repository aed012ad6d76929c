"""What a watch shows: a number with its margin for every step, and their sum so far."""

import datetime
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

from deniable.exact.suggestions import pluralize
from deniable.exact.text_formats import align_columns, percent
from deniable.public_methods import implementation
from deniable.release.answer.formatting import format_with_margin

MOST_ROWS = 20  # the last steps are printed
SHOWN_BESIDE = ("margin", "total", "total_margin", "protects")  # columns with names of ours


@dataclass(frozen=True, slots=True)
class WatchedSteps:
    """The numbers of all steps that were read. They are public, and never change."""

    column: str  # the time column
    output: str  # the name of the number
    days: tuple[datetime.date, ...]  # the first day of each step
    values: tuple[int | float, ...]  # each step's own number
    margins: tuple[int | float, ...]
    totals: tuple[int | float, ...]  # after each step: the sum so far, or of the window
    total_margins: tuple[int | float, ...]
    window: int | None
    confidence: Fraction
    promise: str
    remaining: str

    @property
    def total(self) -> int | float | None:
        """The last sum; None before the first step is over."""
        return self.totals[-1] if self.totals else None

    @property
    def total_margin(self) -> int | float | None:
        """The margin of the last sum."""
        return self.total_margins[-1] if self.total_margins else None

    def rows(self) -> list[dict[str, Any]]:
        """One row for each step, as in `to_arrow`."""
        rows: list[dict[str, Any]] = self.to_arrow().to_pylist()
        return rows

    def to_arrow(self) -> "pa.Table":
        """The first day of each step, its number, the sum after it, and both margins. The
        metadata says what is protected, and the confidence of the margins."""
        columns: dict[str, Any] = {
            self.column: pa.array(self.days, pa.date32()),
            self.output: self.values,
            "margin": self.margins,
            "total": self.totals,
            "total_margin": self.total_margins,
        }
        about = {"protects": self.promise, "confidence": percent(self.confidence)}
        return pa.table(columns, metadata=about)

    def to_csv(self, file: Path) -> None:
        """Writes the columns of `to_arrow`, and beside each number what is protected."""
        table = self.to_arrow()
        promises = pa.array([self.promise] * table.num_rows, pa.string())
        csv.write_csv(table.append_column("protects", promises), file)

    def plot(self) -> Any:
        """A picture of all steps with their bands, and of the sum.

        >>> WatchedSteps.plot.__name__
        'plot'
        """
        return implementation("WatchedSteps.plot")(self)

    def __str__(self) -> str:
        shows = "total" if self.window is None else f"last {pluralize(self.window, 'step')}"
        rows = [[self.column, self.output, shows]]
        numbers = zip(
            self.days,
            self.values,
            self.margins,
            self.totals,
            self.total_margins,
            strict=True,
        )
        for day, value, margin, total, total_margin in list(numbers)[-MOST_ROWS:]:
            own, all_ = (
                format_with_margin(value, margin),
                format_with_margin(total, total_margin),
            )
            rows.append([day.isoformat(), own, all_])
        lines = align_columns(rows, [False, True, True])
        more = max(0, len(self.days) - MOST_ROWS)
        left_out = [f"({pluralize(more, 'earlier step')} not shown)"] if more else []
        level = percent(self.confidence)
        said = f"margins at {level}; protects {self.promise}; {self.remaining} left"
        return "\n".join([*lines, *left_out, said])
