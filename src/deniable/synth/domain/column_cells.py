"""The cells of a column: a public list of values or intervals, and which of them a row is in.

Nothing here depends on a row. A value outside of all cells, such as NULL or a key that is not
declared, is in a cell of its own, whose label is None; or its row is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from deniable.errors import InvalidParameter
from deniable.exact.rationals import decimal_text, rational
from deniable.exact.suggestions import suggest
from deniable.policy import Column, KeyValue, Table
from deniable.query.language.syntax_tree import Call, ColumnRef, Expression, Literal
from deniable.query.plan.key_list import is_consecutive
from deniable.query.plan.plan import GroupKey
from deniable.query.planner.marginal_plans import CellColumn

MOST_CELLS = 1000  # of one column
_MOST_LISTED = 40  # grid points that are cells of their own
_BINS = 10  # of a number with more grid points
Label: TypeAlias = KeyValue | None
Cut: TypeAlias = Fraction | str  # where the next interval begins: a number, or a date


@dataclass(frozen=True, slots=True)
class ColumnCells:
    """The cells of one column. An interval holds its lower end, and not its upper one.

    >>> ward = ColumnCells.of_values(Column("ward", keys=["A", "B"]), ("A", "B"), missing=True)
    >>> ward.labels
    ('A', 'B', None)
    """

    column: str
    kind: str
    labels: tuple[Label, ...]
    cuts: tuple[Cut, ...]  # inside of the column's range; empty for a list of values
    counted: CellColumn  # the column as a plan counts it
    listed: bool = False  # whether every cell is one declared value, except the last

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.labels)

    @classmethod
    def of_values(
        cls, column: Column, values: Sequence[KeyValue], *, missing: bool
    ) -> "ColumnCells":
        """A cell for each value, and one for all others if `missing`."""
        labels = (*values, *([None] if missing else []))
        this = ColumnRef(column.name)
        if column.kind == "text":
            counted = _texts(column, [str(value) for value in values], missing=missing)
        elif column.integer and is_consecutive(np.array(values)):
            counted = _integers(column, int(values[0]), int(values[-1]), missing=missing)
        else:
            tests = [Call("=", (this, _literal(value))) for value in values]
            counted = number_places(column, tests, missing=missing)
        return cls(column.name, column.kind or "text", labels, (), counted, listed=True)

    @classmethod
    def of_found(cls, column: Column, keys: Sequence[str], *, missing: bool) -> "ColumnCells":
        """Texts that were found, one cell for all others, and one for NULL if `missing`."""
        this, other = ColumnRef(column.name), _unused("other", keys)
        known = Call("not", (Call("is null", (this,)),))
        parts: list[Expression] = [known, Literal(other)]
        if keys:
            parts = [Call("in", (this, *map(Literal, keys))), this, *parts]
        values = (*keys, other)
        null = _unused("(missing)", values)
        parts += [Literal(null)] if missing else []
        counted = (*values, null) if missing else values
        key = GroupKey(column.name, "text", counted)
        labels: tuple[Label, ...] = (*values, None) if missing else values
        return cls(column.name, "text", labels, (), CellColumn(key, Call("case", tuple(parts))))

    @classmethod
    def of_cuts(cls, column: Column, cuts: Sequence[Cut], *, missing: bool) -> "ColumnCells":
        """An interval below the first cut, one between each two cuts, one from the last cut."""
        this = ColumnRef(column.name)
        tests = [Call("<", (this, _literal(cut))) for cut in cuts]
        tests.append(Call(">=", (this, _literal(cuts[-1]))))
        inner = [f"{_text(low)} to {_text(high)}" for low, high in pairwise(cuts)]
        below, above = f"below {_text(cuts[0])}", f"{_text(cuts[-1])} and above"
        if column.bounds is not None:
            ends = [decimal_text(end) for end in column.bounds]
            below, above = f"{ends[0]} to {_text(cuts[0])}", f"{_text(cuts[-1])} to {ends[1]}"
        labels = (below, *inner, above, *([None] if missing else []))
        counted = number_places(column, tests, missing=missing)
        return cls(column.name, column.kind or "number", labels, tuple(cuts), counted)


def cells_of(
    table: Table, name: str, *, cuts: Sequence[Any] | None = None, missing: bool = True
) -> ColumnCells:
    """The cells of a column: at `cuts` if given, else its declared values, or ten intervals.

    >>> table = Table.declare("t", bounds={"age": (0, 100)}).with_schema({"age": "DOUBLE"})
    >>> cells_of(table, "age", cuts=[18, 65]).labels
    ('0 to 18', '18 to 65', '65 to 100', None)
    """
    column = _find_column(table, name)
    if cuts is not None:
        return ColumnCells.of_cuts(column, _read_cuts(column, cuts), missing=missing)
    if isinstance(column.keys, tuple):
        _check_count(column, len(column.keys))
        return ColumnCells.of_values(column, column.keys, missing=missing)
    if column.kind == "boolean":
        return ColumnCells.of_values(column, (False, True), missing=missing)
    if column.kind == "number" and column.bounds is not None:
        return _cells_within(column, *column.bounds, missing=missing)
    raise InvalidParameter(
        f"The cells of {name} are not known before a row is read. Declare its values, for "
        f'example   {name} = {{ keys = ["A", "B"] }},   or the bounds of a number, or give '
        f'cuts={{"{name}": [...]}}. Nothing was spent.'
    )


def _cells_within(
    column: Column, low: Fraction, high: Fraction, *, missing: bool
) -> ColumnCells:
    """Every grid point, if they are few; else intervals of equal width."""
    step = column.step or (Fraction(1) if column.integer else None)
    if step is not None and (high - low) / step < _MOST_LISTED:
        first, last = -(-low // step), high // step
        values = [_number(i * step) for i in range(int(first), int(last) + 1)]
        return ColumnCells.of_values(column, values, missing=missing)
    width = (high - low) / _BINS
    return ColumnCells.of_cuts(
        column, [low + i * width for i in range(1, _BINS)], missing=missing
    )


def _find_column(table: Table, name: str) -> Column:
    spellings = {column.lower(): column for column in table.columns}
    if not isinstance(name, str) or name.lower() not in spellings:
        hint = suggest(str(name), table.columns, "Its columns are")
        raise InvalidParameter(f"Table {table.name!r} has no column {name!r}. {hint}")
    column = table.columns[spellings[name.lower()]]
    if table.unit is not None and column.name.lower() == table.unit.lower():
        raise InvalidParameter(
            f"{column.name} is the privacy unit: its values identify people, so they are not "
            "counted. Leave it out."
        )
    return column


def _read_cuts(column: Column, cuts: Sequence[Any]) -> list[Cut]:
    """Increasing cuts within the bounds: numbers, or dates as text."""
    if isinstance(cuts, str) or not isinstance(cuts, Sequence) or not cuts:
        raise InvalidParameter(
            f"`cuts` of {column.name} must be a list, such as [18, 65]. Found {cuts!r}."
        )
    _check_count(column, len(cuts) + 1)
    read: list[Any] = [str(cut) for cut in cuts]
    if column.kind == "number":
        read = [rational(cut, f"cuts of {column.name}") for cut in cuts]
    elif column.kind != "date":
        raise InvalidParameter(f"{column.name} is neither a number nor a date: it has no cuts.")
    if any(low >= high for low, high in pairwise(read)):
        raise InvalidParameter(f"The cuts of {column.name} must increase. Found {cuts!r}.")
    low, high = column.bounds or (None, None)
    if low is not None and high is not None and not (low < read[0] and read[-1] <= high):
        raise InvalidParameter(
            f"The cuts of {column.name} must lie within its bounds, {decimal_text(low)} to "
            f"{decimal_text(high)}. Found {cuts!r}."
        )
    return read


def _check_count(column: Column, count: int) -> None:
    if count > MOST_CELLS:
        raise InvalidParameter(
            f"{column.name} has {count:,} cells. At most {MOST_CELLS:,} of one column can be "
            "counted: leave it out, or declare coarser values. Nothing was spent."
        )


def _numbered(column: Column, count: int, expression: Expression, *, total: bool) -> CellColumn:
    key = GroupKey(column.name, "number", tuple(range(count)), Fraction(1))
    return CellColumn(key, expression, total)


def number_places(column: Column, tests: Sequence[Expression], *, missing: bool) -> CellColumn:
    """Cells by the number of the first test that holds."""
    parts: list[Expression] = []
    for place, test in enumerate(tests):
        parts += [test, Literal(Fraction(place))]
    parts += [Literal(Fraction(len(tests)))] if missing else []
    places = Call("case", tuple(parts))
    numbered = _numbered(column, len(tests) + missing, places, total=missing)
    return replace(numbered, tests=tuple(tests))


def _integers(column: Column, first: int, last: int, *, missing: bool) -> CellColumn:
    """Consecutive integers: one subtraction, which is faster than a test for each of them."""
    this, low, high = ColumnRef(column.name), _literal(first), _literal(last)
    if not missing:
        key = GroupKey(column.name, "number", tuple(range(first, last + 1)), Fraction(1))
        return CellColumn(key, this)
    inside = Call("and", (Call(">=", (this, low)), Call("<=", (this, high))))
    count = last - first + 1
    places = Call("case", (inside, Call("-", (this, low)), _literal(count)))
    return _numbered(column, count + 1, places, total=True)


def _texts(column: Column, values: Sequence[str], *, missing: bool) -> CellColumn:
    """Texts are their own cells; all others have a text of their own."""
    this = ColumnRef(column.name)
    tests = tuple(Call("=", (this, Literal(value))) for value in values)
    if not missing:
        return CellColumn(GroupKey(column.name, "text", tuple(values)), this, tests=tests)
    others = _unused("(other)", values)
    listed = Call("in", (this, *map(Literal, values)))
    expression = Call("case", (listed, this, Literal(others)))
    key = GroupKey(column.name, "text", (*values, others))
    return CellColumn(key, expression, total=True, tests=tests)


def _unused(text: str, values: Sequence[str]) -> str:
    """The text, or one like it that differs from all values."""
    while text in values:
        text += "'"
    return text


def _literal(value: KeyValue | Fraction) -> Literal:
    if isinstance(value, bool | str):
        return Literal(value)
    return Literal(rational(value))


def _text(cut: Cut) -> str:
    return cut if isinstance(cut, str) else decimal_text(cut)


def _number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
