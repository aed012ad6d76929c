"""Frames as sources: pandas, Polars, Arrow and all that narwhals reads, as Arrow tables.

A column whose `kind` is declared has the type of that kind, whatever the frame holds; a value
that cannot be read is missing. Two privacy units never become one by that. Any other column is
converted by its type, and by what is declared about it, never by its values. So no value can
change the schema or make reading fail. Categories become text, because their list is data.
Columns of Python objects, of 128-bit integers and of nothing become text. Times of day,
durations and nested columns cannot be queried and are left out, except lists whose `length` is
declared. Timestamps are converted to microseconds; those that are too far away become NULL.
"""

import datetime
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeAlias

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from deniable.engines.duckdb.column_kinds import (
    FrameKind,
    can_read,
    clean_text,
    expand,
    is_date,
    is_list,
    is_number,
    is_text,
    read_as,
    read_identifiers,
    to_chunks,
    to_microseconds,
)
from deniable.engines.duckdb.frame_warnings import warn_inferred, warn_unreadable
from deniable.engines.duckdb.series import (
    ReadObjects,
    is_type_inferred,
    read_series,
    read_values,
)
from deniable.errors import InvalidData
from deniable.policy import Column
from deniable.policy.list_types import LONGEST_LIST

# A column's name, how to read it as Arrow, and whether pandas may have chosen its type by its
# values.
Reader: TypeAlias = tuple[str, Callable[[ReadObjects], Any], bool]


def is_frame(source: object) -> bool:
    """Whether `source` is a frame that can be read.

    >>> is_frame(pa.table({"a": [1]})), is_frame("visits.csv")
    (True, False)
    """
    return not isinstance(source, str) and (
        hasattr(source, "__arrow_c_stream__")
        or nw.from_native(source, eager_only=True, pass_through=True) is not source
    )


def to_arrow(
    frame: Any, declared: Mapping[str, Column] | None = None, *, unit: str | None = None
) -> "pa.Table":
    """The frame as an Arrow table; no value in it can make an engine fail.

    >>> to_arrow(pa.table({"a": [1.5], "b": [[1, 2]]})).column_names
    ['a']
    >>> to_arrow(pa.table({"a": [1.5]}), {"a": Column("a", kind="text")}).schema.field("a").type
    DataType(large_string)
    """
    if isinstance(frame, nw.DataFrame):
        frame = frame.to_native()
    columns = {name.lower(): column for name, column in (declared or {}).items()}
    readable: dict[str, Any] = {}
    chosen: list[str] = []
    for name, read, inferred in _column_readers(frame):
        if name.lower() in {other.lower() for other in readable}:
            raise InvalidData(
                f"The frame has the column {name!r} twice (upper and lower case are equal). "
                "Rename one of them."
            )
        column = columns.get(name.lower(), Column(name))
        kind = _declared_kind(column)
        identifies = unit is not None and name.lower() == unit.lower()
        objects = "text" if kind is None or identifies else kind
        values = to_chunks(read(partial(read_values, kind=objects)))
        if (inferred or pa.types.is_null(values.type)) and not _fixes_type(column):
            chosen.append(name)
        if kind is not None and not can_read(values.type, kind):
            warn_unreadable(f"column {name!r}", kind)
        converted = _convert(
            values, column, kind, inferred, read_identifiers if identifies else read_as
        )
        if converted is not None:
            readable[name] = converted
    if not readable:
        raise InvalidData("The frame has no column that can be queried.")
    if chosen and declared is not None:
        warn_inferred(chosen)
    return pa.table(readable)


def _column_readers(frame: Any) -> list[Reader]:
    """The frame's columns."""
    if isinstance(frame, pa.Table | pa.RecordBatch):
        return [
            (name, partial(_take, frame.column(place)), False)
            for place, name in enumerate(frame.schema.names)
        ]
    try:
        read = nw.from_native(frame, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise InvalidData(
            "The frame has two columns with the same name. Rename one of them."
        ) from None
    if isinstance(read, nw.DataFrame):
        _check_names(read.columns)
        return [
            (str(name), partial(read_series, read[name]), is_type_inferred(read[name]))
            for name in read.columns
        ]
    if hasattr(frame, "__arrow_c_stream__"):
        try:
            return _column_readers(pa.table(frame))
        except pa.ArrowInvalid:  # a single column
            raise InvalidData(
                f"A table must have named columns; a {type(frame).__name__} is a single "
                'column. Make a frame of it, for example with   series.to_frame("cost")'
            ) from None
    build = "pyarrow.Table.from_pylist" if isinstance(frame, list) else "pyarrow.table"
    remedy = (
        f" Make a frame of it with   {build}(rows)" if isinstance(frame, dict | list) else ""
    )
    raise InvalidData(
        "A table must be a pandas, Polars or Arrow frame, or a path. "
        f"Found {type(frame).__name__}.{remedy}"
    )


def _take(column: Any, _: ReadObjects) -> Any:
    return column


def _check_names(names: Iterable[object]) -> None:
    """Refuses column names that are not text, which pandas allows."""
    for name in names:
        if not isinstance(name, str):
            raise InvalidData(
                f"The name of a column must be text, so that a query can use it. Found "
                f"{name!r} of type {type(name).__name__}. Rename them, for example with   "
                "frame.columns = [str(one) for one in frame.columns]"
            )


def _declared_kind(column: Column) -> FrameKind | None:
    """The kind that is declared by `kind`, `bounds` or `keys`."""
    return "integer" if column.kind == "number" and column.integer else column.kind


def _fixes_type(column: Column) -> bool:
    """Whether the policy alone decides the type of a column that pandas made."""
    if column.has_declared_kind or column.kind == "boolean":
        return True
    if column.kind == "text":
        return not _are_dates(column.keys)
    return column.kind == "number" and column.step is not None


def _are_dates(keys: object) -> bool:
    """Whether all keys are dates in text, so that the column may hold dates."""
    try:
        return isinstance(keys, tuple) and all(map(datetime.datetime.fromisoformat, keys))
    except ValueError:
        return False


def _convert(
    values: Any,
    column: Column,
    kind: FrameKind | None,
    inferred: bool,
    read: Callable[[Any, FrameKind], Any],
) -> Any | None:
    """A column in a type in which no value can make an engine fail; None to leave it out."""
    if column.elements is not None and is_list(values.type):
        return _to_safe_lists(values)
    by_type = kind is None or not (
        column.has_declared_kind or (inferred and _fixes_type(column))
    )
    if kind is not None and by_type:  # bounds allow all types of numbers, keys may be dates
        dates = kind == "text" and is_date(values.type) and _are_dates(column.keys)
        by_type = dates or (kind == "number" and is_number(values.type))
    safe = _to_safe_type(values) if by_type else None
    return read(values, kind) if safe is None and kind is not None else safe


def _to_safe_type(column: Any) -> Any | None:
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return None
    if pa.types.is_dictionary(kind):
        return _to_safe_type(expand(column))
    if pa.types.is_timestamp(kind):
        return to_microseconds(column)
    if pa.types.is_float16(kind):
        return column.cast(pa.float32())
    if pa.types.is_null(kind):
        return column.cast(pa.string())
    if is_text(kind):
        return clean_text(column)
    if pa.types.is_decimal(kind) and kind.scale < 0:
        return column.cast(pa.float64())
    return column if any(test(kind) for test in _READABLE) else None


def _to_safe_lists(column: Any) -> Any | None:
    """Lists of elements of a safe type, at most the longest that count; None for lists of lists
    and of other values that are left out."""
    long = pa.large_list(column.type.value_type)
    chunks = []
    for chunk in column.chunks:
        lists = pc.list_slice(chunk, 0, LONGEST_LIST, return_fixed_size_list=False).cast(long)
        elements = None if is_list(long.value_type) else _to_safe_type(to_chunks(lists.values))
        if elements is None:
            return None
        values = elements.combine_chunks()
        chunks.append(
            pa.LargeListArray.from_arrays(lists.offsets, values, mask=lists.is_null())
        )
    return pa.chunked_array(chunks) if chunks else None


_READABLE: Iterable[Callable[[Any], bool]] = (
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal32,
    pa.types.is_decimal64,
    pa.types.is_decimal128,
    pa.types.is_date,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_fixed_size_binary,
)
