"""Arrays, lists and frames as columns of Arrow.

In a training, no value decides what another one is read as: columns have declared kinds, and
numbers without one are doubles, whether a type for integers would have done or not. Units are
read exactly: as integers, or as text, never as doubles, in which two ids could become one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from deniable.engines.duckdb.column_kinds import (
    Chunks,
    FrameKind,
    is_date,
    is_number,
    read_as,
    to_chunks,
)
from deniable.engines.duckdb.frame_warnings import warn_inferred
from deniable.engines.duckdb.python_values import to_text
from deniable.engines.duckdb.series import read_typed
from deniable.errors import InvalidParameter
from deniable.policy.column import kind_of_keys, to_tuple


def declared_kinds(keys: Mapping[str, Any] | None) -> dict[str, FrameKind]:
    """The kinds of columns with declared keys, by their names in lower case.

    >>> declared_kinds({"Ward": ["A", "B"], "level": [1, 2]})
    {'ward': 'text', 'level': 'number'}
    """
    return {name.lower(): _kind_of(own) for name, own in (keys or {}).items()}


def _kind_of(keys: Any) -> FrameKind:
    listed = () if isinstance(keys, str) else to_tuple(keys) or ()
    return kind_of_keys(listed) or "text"


def named_values(features: Any) -> dict[str, Any]:
    """The columns of a frame by its names, or of a matrix as x0, x1, ..., as they are."""
    if hasattr(features, "tocsr"):
        raise InvalidParameter("Sparse input is not supported: give an array or a frame.")
    if isinstance(features, pa.Table):
        return _named(features.column_names, features)
    if isinstance(features, Mapping):
        return _named(list(features), features)
    if hasattr(features, "columns"):
        return _named(list(features.columns), features)
    if isinstance(features, list | tuple):
        columns = _columns_of_rows(features)
    else:
        columns = _columns_of_matrix(np.asarray(features))
    if not columns:
        shape = (len(features), 0)
        raise InvalidParameter(
            f"0 feature(s) (shape={shape}) while a minimum of 1 is required."
        )
    return {f"x{i}": column for i, column in enumerate(columns)}


def _named(names: Sequence[Any], frame: Any) -> dict[str, Any]:
    """The columns of a frame. Names that are written alike are refused: one would be lost."""
    known = [str(name) for name in names]
    if twice := next((name for i, name in enumerate(known) if name in known[:i]), None):
        raise InvalidParameter(f"X has two columns {twice!r}. Rename one. Nothing was spent.")
    return {text: frame[name] for text, name in zip(known, names, strict=True)}


def _columns_of_matrix(matrix: Any) -> list[Any]:
    if np.iscomplexobj(matrix):
        raise InvalidParameter("Complex data not supported: give real numbers.")
    if matrix.ndim != 2:
        raise InvalidParameter(
            "X must be a frame, or an array of two dimensions: rows and features. Expected 2D "
            f"array, got {matrix.ndim}D array instead. Reshape your data."
        )
    return [matrix[:, i] for i in range(matrix.shape[1])]


def _columns_of_rows(rows: Sequence[Any]) -> list[Any]:
    """Lists of rows, value by value: as one array, a text in one row would make all text."""
    lists = all(isinstance(row, list | tuple | np.ndarray) for row in rows)
    if not rows or not lists:
        return _columns_of_matrix(np.empty(len(rows)))  # says that it has one dimension
    if len({len(row) for row in rows}) > 1:
        raise InvalidParameter("The rows of X have different lengths. Nothing was spent.")
    return [list(column) for column in zip(*rows, strict=True)]


def python_values(values: Any) -> list[Any]:
    """The values of one column as objects of Python, each as it is."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return list(values.to_pylist())
    if isinstance(values, np.ndarray):
        return list(values.ravel().tolist())
    return list(values.to_list() if hasattr(values, "to_list") else values)


def written_alike(value: Any) -> str | None:
    """A value by itself: equal numbers are written alike, whatever type other rows gave them,
    and what is missing is None. Engines that read ids as text see the same text.

    >>> written_alike(7), written_alike(7.0), written_alike(-0.0), written_alike(float("nan"))
    ('7', '7', '0', None)
    """
    truth = isinstance(value, bool | np.bool_)
    return to_text(int(value) if truth else value)


def read_columns(
    features: Any, kinds: Mapping[str, FrameKind], unit: str | None = None
) -> dict[str, Any]:
    """The columns of a training, each in its declared kind; others by their type, and objects
    as numbers.

    >>> read_columns([[1, "x"], [2, "y"]], {"x1": "text"})["x1"].to_pylist()
    ['x', 'y']
    """
    own = None if unit is None else str(unit).lower()
    columns: dict[str, Any] = {}
    for name, values in named_values(features).items():
        if name.lower() == own:
            columns[name] = _read_unit(values, name)
        else:
            columns[name] = read_column(values, kinds.get(name.lower()), name)
    return columns


def read_column(values: Any, kind: FrameKind | None, name: str) -> Any:
    """A column of a training. Numbers are doubles where a value may have chosen the type."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    column, inferred = _to_arrow(values, kind or "number")
    if not inferred or (kind == "text" and is_date(column.type)):
        return column
    if kind is None and pa.types.is_boolean(column.type):
        warn_inferred([name])
        return column
    if kind is None and _is_text_array(values):
        return _to_arrow(values, "text")[0]
    if kind is None and not is_number(column.type) and is_date(column.type):
        return column
    return read_as(column, kind or "number")


def _read_unit(values: Any, name: str) -> Any:
    """The ids of units: integers exactly, objects and texts as text."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    column, inferred = _to_arrow(values, "text")
    if inferred and pa.types.is_floating(column.type):
        raise InvalidParameter(
            f"The unit {name} has a type for decimals, in which two large ids can become one. "
            f"Convert it to integers or to text, for example with   astype(str). Nothing was "
            "spent."
        )
    return column


def _is_text_array(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.dtype.kind in "US"


def _to_arrow(values: Any, kind: FrameKind) -> tuple[Chunks, bool]:
    """A column, and whether values may have chosen its type. A matrix is one column."""
    listed = isinstance(values, list | tuple) or hasattr(values, "to_numpy")
    return read_typed(values if listed else np.asarray(values).ravel(), kind)


def read_new_column(values: Any, kind: FrameKind) -> Chunks:
    """A column of rows to predict, in the kind of its feature, as it is in a training: whether
    pandas wrote a ward as 1 or as 1.0, it is "1".

    >>> read_new_column(np.array([1.0, np.nan]), "text").to_pylist()
    ['1', None]
    """
    column = values
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        column, _ = _to_arrow(values, kind)
    if kind == "number" and is_number(column.type):
        return to_chunks(column)
    return read_as(column, kind)
