"""Frames as sources: pandas, Polars, Arrow and all that narwhals reads, as Arrow tables.

How a column is converted depends on its declared type and never on its values, so no row can
change the schema or make reading fail. Categories become text, because their list is data.
Columns of Python objects and 128-bit integers become text. Times of day, durations and nested
columns cannot be queried and are left out. Timestamps are converted to microseconds; those
that are too far away become NULL.
"""

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from deniable.errors import InvalidData

_FARTHEST = 2**62  # microseconds from 1970: the year 148,108
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def is_frame(source: object) -> bool:
    """Whether `source` is a frame that can be read.

    >>> is_frame(pa.table({"a": [1]})), is_frame("visits.csv")
    (True, False)
    """
    return not isinstance(source, str) and (
        hasattr(source, "__arrow_c_stream__")
        or nw.from_native(source, eager_only=True, pass_through=True) is not source
    )


def to_arrow(frame: Any) -> "pa.Table":
    """The frame as an Arrow table; no value in it can make an engine fail.

    >>> to_arrow(pa.table({"a": [1.5], "b": [[1, 2]]})).column_names
    ['a']
    """
    if isinstance(frame, nw.DataFrame):
        frame = frame.to_native()
    columns = _column_readers(frame)
    readable: dict[str, Any] = {}
    for name, read in columns:
        if name.lower() in {other.lower() for other in readable}:
            raise InvalidData(
                f"The frame has the column {name!r} twice (upper and lower case are equal). "
                "Rename one of them."
            )
        converted = _to_safe_type(read())
        if converted is not None:
            readable[name] = converted
    if not readable:
        raise InvalidData("The frame has no column that can be queried.")
    return pa.table(readable)


def _column_readers(frame: Any) -> list[tuple[str, Callable[[], Any]]]:
    """Each column's name and how to read it as Arrow."""
    if isinstance(frame, pa.Table | pa.RecordBatch):
        return [
            (name, partial(frame.column, place))
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
        return [(str(name), partial(_series_to_arrow, read[name])) for name in read.columns]
    if hasattr(frame, "__arrow_c_stream__"):
        try:
            return _column_readers(pa.table(frame))
        except pa.ArrowInvalid:  # a single column
            raise InvalidData(
                f"A table must have named columns; a {type(frame).__name__} is a single "
                'column. Make a frame of it, for example with   series.to_frame("cost")'
            ) from None
    raise InvalidData(
        "A table must be a pandas, Polars or Arrow frame, or a path. "
        f"Found {type(frame).__name__}."
    )


def _check_names(names: Iterable[object]) -> None:
    """Refuses column names that are not text, which pandas allows."""
    for name in names:
        if not isinstance(name, str):
            raise InvalidData(
                f"The name of a column must be text, so that a query can use it. Found "
                f"{name!r} of type {type(name).__name__}. Rename them, for example with   "
                "frame.columns = [str(one) for one in frame.columns]"
            )


def _series_to_arrow(series: "nw.Series[Any]") -> Any:
    """One column of a frame as Arrow; any Python object becomes text."""
    dtype = str(getattr(series.to_native(), "dtype", ""))
    if dtype.lower() == "object":
        texts = [_object_to_text(value) for value in series.to_list()]
        return pa.array(texts, pa.large_string())
    if isinstance(series.dtype, nw.Int128 | nw.UInt128):
        series = series.cast(nw.String)  # as doubles, two large ids could become equal
    return series.to_arrow()


def _object_to_text(value: object) -> str | None:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, float) and math.isnan(value):
        return None
    try:
        return str(value).encode("utf-8", "replace").decode("utf-8")
    except Exception:  # an object without a text form is treated as missing
        return None


def _to_safe_type(column: Any) -> Any | None:
    """The column in a type in which no value can make an engine fail; None to leave it out."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return None
    if pa.types.is_dictionary(kind):
        return _to_safe_type(column.cast(kind.value_type))
    if pa.types.is_timestamp(kind):
        return _to_microseconds(column)
    if pa.types.is_float16(kind):
        return column.cast(pa.float32())
    return column if any(test(kind) for test in _READABLE) else None


def _to_microseconds(column: Any) -> Any:
    """Timestamps in UTC and microseconds; NULL if they are too far away."""
    per_second = _PER_SECOND[column.type.unit]
    count = column.cast(pa.timestamp(column.type.unit)).cast(pa.int64())
    if per_second > 10**6:
        count = pc.divide(count, per_second // 10**6)
    factor = max(1, 10**6 // per_second)
    near = pc.less(pc.abs(pc.if_else(pc.equal(count, -(2**63)), 0, count)), _FARTHEST // factor)
    near = pc.and_(near, pc.not_equal(count, -(2**63)))
    microseconds = pc.multiply(pc.if_else(near, count, pa.scalar(None, pa.int64())), factor)
    return microseconds.cast(pa.timestamp("us"))


_READABLE: Iterable[Callable[[Any], bool]] = (
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal32,
    pa.types.is_decimal64,
    pa.types.is_decimal128,
    pa.types.is_date,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_fixed_size_binary,
)
