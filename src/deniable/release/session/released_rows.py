"""The rows of a release as frames, columns and dictionaries, and its only number."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pyarrow as pa

from deniable.errors import InvalidParameter
from deniable.exact.suggestions import pluralize, suggest
from deniable.release.answer.answer_table import Answer


class ReleasedRows:
    """What can be read from an answer's table, in the manner of frames."""

    __slots__ = ()
    answer: Answer

    @property
    def columns(self) -> tuple[str, ...]:
        """Keys and numbers, without the columns of margins and ends."""
        return self.answer.shown

    def to_arrow(self) -> "pa.Table":
        """An Arrow table. Beside column `n` are `n_margin`, `n_low` and `n_high`: the interval
        reaches from low to high, and the margin to the farther end."""
        return self.answer.table

    def to_pandas(self) -> Any:
        """A pandas frame."""
        return self.answer.table.to_pandas()

    def to_polars(self) -> Any:
        """A Polars frame."""
        return import_module("polars").from_arrow(self.answer.table)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.answer.table.__arrow_c_stream__(requested_schema)

    def __getitem__(self, column: str) -> list[Any]:
        """The values of one column, such as release["n"] or release["n_margin"]."""
        names = self.answer.table.column_names
        if column not in names:
            listed = suggest(str(column), names, "The columns are")
            raise InvalidParameter(f"This answer has no column {column!r}. {listed}")
        return list(self.answer.table[column].to_pylist())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows, as dictionaries."""
        return iter(self.answer.table.to_pylist())

    def __len__(self) -> int:
        return int(self.answer.table.num_rows)

    @property
    def value(self) -> Any:
        """The number, if the answer is a single number."""
        return self.answer.table[self._only_number()][0].as_py()

    def __float__(self) -> float:
        """The number, if the answer is a single number: float(release)."""
        return float(self._number())

    def __int__(self) -> int:
        """The number without what is behind its point, if the answer is a single number."""
        return int(self._number())

    def __format__(self, form: str) -> str:
        """The answer as text; with a format such as ".1f", its single number."""
        return format(self._number(), form) if form else str(self)

    def _number(self) -> int | float:
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            shown = "unknown (NULL)" if value is None else f"{value!r}, which is not a number"
            raise InvalidParameter(f"float() and int() need a number. This answer is {shown}.")
        return value

    def _only_number(self) -> str:
        numbers = len(self.answer.margins)
        if len(self) != 1 or numbers != 1:
            raise InvalidParameter(
                "`value`, `margin`, `low` and `high` need an answer with one number. This "
                f"answer has {pluralize(len(self), 'row')} and {pluralize(numbers, 'number')} "
                "in each: use to_pandas(), to_polars() or to_arrow()."
            )
        return next(iter(self.answer.margins))
