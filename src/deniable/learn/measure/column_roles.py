"""How columns of a table become whole numbers: cells of features and classes, grids of numbers.

Nothing here reads a row: cells come from declared keys, bounds and cuts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from deniable.errors import InvalidParameter
from deniable.learn.fit.feature_cells import FeatureCells
from deniable.policy import Column, Table
from deniable.policy.column import kind_of_keys, to_tuple
from deniable.query.language.syntax_tree import Call, ColumnRef, Literal
from deniable.query.plan.plan import GroupKey
from deniable.query.planner.marginal_plans import CellColumn
from deniable.synth.domain.column_cells import ColumnCells, Cut, cells_of

_EVEN = 24  # intervals of equal width
_NARROWEST = Fraction(1, 10**20)  # range of a number on a grid
_LISTED = 40  # a number with fewer grid points has a cell for each


@dataclass(frozen=True, slots=True)
class CellRole:
    """A column by its cells: the number of a row is its cell's, from 0."""

    cells: FeatureCells
    counted: CellColumn

    @property
    def name(self) -> str:
        """The column."""
        return self.cells.name

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.cells.size

    @classmethod
    def of(cls, cells: ColumnCells, column: Column) -> "CellRole":
        """The same cells, with the public list that predictions need."""
        bounds = None
        if column.bounds is not None:
            bounds = (float(column.bounds[0]), float(column.bounds[1]))
        cuts = tuple(cut if isinstance(cut, str) else float(cut) for cut in cells.cuts)
        listed = FeatureCells(cells.column, cells.kind, cells.labels, cuts, bounds)
        return cls(listed, cells.counted)


@dataclass(frozen=True, slots=True)
class GridRole:
    """A number on a grid: the number of a row is how many steps it is above `low`. Rows where
    it is NULL do not count."""

    name: str
    low: Fraction
    step: Fraction
    size: int
    counted: CellColumn


def default_cuts(column: Column) -> list[Cut]:
    """Public cuts within the bounds: 24 intervals of equal width, and below the first of them
    cuts that double their distance from the lower bound. So a column with most of its values
    near its lower bound, such as a gain, is not all in one cell.

    >>> [int(cut) for cut in default_cuts(Column("gain", bounds=(0, 96), integer=True))][:5]
    [1, 2, 4, 8, 12]
    """
    assert column.bounds is not None
    low, high = column.bounds
    width = (high - low) / _EVEN
    least = column.step or (Fraction(1) if column.integer else width / 1024)
    cuts = [low + i * width for i in range(1, _EVEN)]
    distance = least
    while distance < width:
        cuts.append(low + distance)
        distance *= 2
    # Far from 0, several are one double, and so is every value between them.
    different = {float(cut): cut for cut in sorted(cuts) if float(low) < float(cut)}
    return list(different.values())


def feature_role(table: Table, name: str, cuts: Sequence[Any] | None = None) -> CellRole:
    """The cells of a feature, with one for NULL and for what is not declared."""
    column = table.columns.get(name)
    bounded = column is not None and column.kind == "number" and column.bounds is not None
    if column is not None and cuts is None and bounded and not isinstance(column.keys, tuple):
        assert column.bounds is not None
        low, high = column.bounds
        step = column.step or (Fraction(1) if column.integer else None)
        if step is None or (high - low) / step >= _LISTED:
            cells = ColumnCells.of_cuts(column, default_cuts(column), missing=True)
            return CellRole.of(cells, column)
    cells = cells_of(table, name, cuts=cuts)
    return CellRole.of(cells, table.columns[cells.column])


def class_role(table: Table, name: str, classes: Sequence[Any] | None = None) -> CellRole:
    """The classes of a target: declared keys, or those that are given. Rows with another value,
    or NULL, do not count."""
    columns = {column_name.lower(): column for column_name, column in table.columns.items()}
    column = columns.get(str(name).lower())
    if column is not None and classes is not None:
        cells = ColumnCells.of_values(column, _read_classes(classes), missing=False)
        return CellRole.of(cells, column)
    if column is not None and column.kind == "number" and not isinstance(column.keys, tuple):
        raise InvalidParameter(
            f"The classes of {name} are not declared. Give them, for example classes=[0, 1], "
            f"or declare keys of {name}. Nothing was spent."
        )
    cells = cells_of(table, name, missing=False)
    return CellRole.of(cells, table.columns[cells.column])


def _read_classes(classes: Sequence[Any]) -> tuple[Any, ...]:
    """The classes of a list or an array as plain values, as model files hold them."""
    listed = () if isinstance(classes, str) else to_tuple(classes) or ()
    plain = tuple(label.item() if isinstance(label, np.generic) else label for label in listed)
    if kind_of_keys(plain) is None or len(set(plain)) < len(plain):
        raise InvalidParameter(
            "`classes` must be a list of distinct values of one kind, for example [0, 1]. "
            f"Found {classes!r}. Nothing was spent."
        )
    return plain


def role_like(table: Table, cells: FeatureCells) -> CellRole:
    """A column with the cells that a model's feature has."""
    columns = {name.lower(): column for name, column in table.columns.items()}
    column = columns.get(cells.name.lower())
    if column is None:
        raise InvalidParameter(
            f"{table.name} has no column {cells.name!r}, which is a feature of the model. "
            "Nothing was spent."
        )
    if cells.cuts:
        cuts = [cut if isinstance(cut, str) else Fraction(cut) for cut in cells.cuts]
        column_cells = ColumnCells.of_cuts(column, cuts, missing=cells.missing)
    else:
        values = [label for label in cells.labels if label is not None]
        column_cells = ColumnCells.of_values(column, values, missing=cells.missing)
    return CellRole(cells, column_cells.counted)


def grid_role(table: Table, name: str, points: int = 256) -> GridRole:
    """A number within its declared bounds, rounded to a grid of about that many points."""
    columns = {column_name.lower(): column for column_name, column in table.columns.items()}
    column = columns.get(str(name).lower())
    if column is None or column.kind not in ("number", "boolean"):
        cells_of(table, name)  # says what is wrong with the name
        raise InvalidParameter(f"{name} is not a number: it cannot be added up.")
    if column.kind == "boolean":
        counted = cells_of(table, name, missing=False).counted
        return GridRole(column.name, Fraction(0), Fraction(1), 2, counted)
    if column.bounds is None:
        raise InvalidParameter(
            f"{name} has no limit: one person could change a sum by any amount. Declare its "
            f"bounds, for example   {name} = {{ bounds = [0, 100] }}. Nothing was spent."
        )
    low, high = column.bounds
    per_unit = Fraction(1)
    if 0 < high - low < _NARROWEST:
        raise InvalidParameter(
            f"The bounds of {name} are less than 1e-20 apart: it cannot be put on a grid. Give "
            "it in a smaller unit. Nothing was spent."
        )
    if high > low and not (column.integer and high - low < points):
        per_unit = _dyadic_below((points - 1) / (high - low))
    above = Call("-", (ColumnRef(column.name), Literal(low)))
    size = floor((high - low) * per_unit + Fraction(1, 2)) + 1
    key = GroupKey(column.name, "number", tuple(range(size)), Fraction(1))
    counted = CellColumn(key, Call("*", (above, Literal(per_unit))))
    return GridRole(column.name, low, 1 / per_unit, size, counted)


def _dyadic_below(value: Fraction) -> Fraction:
    """A fraction just below a number that is written with few digits, and exactly, as a
    decimal."""
    scale = Fraction(1)
    while value * scale < 1 << 12:
        scale *= 2
    return Fraction(floor(value * scale)) / scale


def read_features(
    table: Table,
    target: str | None,
    features: Sequence[str] | None,
    cuts: Mapping[str, Sequence[Any]] | None = None,
) -> tuple[CellRole, ...]:
    """The cells of all features: every column but the unit and the target, unless given."""
    cuts_by_name = {name.lower(): values for name, values in (cuts or {}).items()}
    taken = {
        column_name.lower() for column_name in (table.unit, target) if column_name is not None
    }
    names = [column_name for column_name in table.columns if column_name.lower() not in taken]
    if features is not None:
        names = list(features)
    unknown = [
        name
        for name in cuts_by_name
        if name not in {column_name.lower() for column_name in names}
    ]
    if unknown or not names or len({name.lower() for name in names}) < len(names):
        raise InvalidParameter(
            "`features` names different columns, and `cuts` are of these. Found "
            f"features={names!r}, cuts of {sorted(cuts_by_name)!r}. Nothing was spent."
        )
    if target is not None and target.lower() in {name.lower() for name in names}:
        raise InvalidParameter(f"The target {target} cannot be a feature too.")
    return tuple(feature_role(table, name, cuts_by_name.get(name.lower())) for name in names)
