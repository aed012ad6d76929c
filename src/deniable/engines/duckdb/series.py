"""One array, or one column of a frame, as Arrow. No value can make reading fail.

NumPy arrays and columns of pandas, Polars and Arrow are read by their types. Python objects are
read one by one; which values they give, the caller decides.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deniable.engines.duckdb.column_kinds import (
    TYPES,
    Chunks,
    FrameKind,
    can_read,
    read_as,
    to_chunks,
)
from deniable.engines.duckdb.frame_warnings import warn_unreadable
from deniable.engines.duckdb.python_values import is_missing, to_double, to_integer, to_text
from deniable.errors import InvalidData

ReadObjects: TypeAlias = Callable[[Iterable[object]], "pa.Array[Any]"]

_PLAIN_MOMENTS = [(unit, 1) for unit in ("s", "ms", "us", "ns")]


def read_array(values: Any, kind: FrameKind) -> Chunks:
    """The values of an array, a Series or a list, as a column of a kind.

    >>> read_array([True, "2", None], "number").to_pylist()
    [1.0, 2.0, None]
    """
    column = _to_arrow(values, partial(read_values, kind=kind))
    if not can_read(column.type, kind):
        warn_unreadable("the array", kind)
    return read_as(column, kind)


def read_presence(values: Any) -> Chunks:
    """True for each value that is there, and NULL for each that is missing.

    >>> read_presence([0, None, float("nan"), "x"]).to_pylist()
    [True, None, None, True]
    """
    column = _to_arrow(values, _find_present)
    there = column.is_valid()
    if pa.types.is_floating(column.type):
        wide = column.cast(pa.float32()) if pa.types.is_float16(column.type) else column
        there = pc.and_(there, pc.invert(pc.fill_null(pc.is_nan(wide), False)))
    return pc.if_else(there, pa.scalar(True), pa.scalar(None, pa.bool_()))


def _find_present(values: Iterable[object]) -> "pa.Array[Any]":
    return pa.array([None if is_missing(value) else True for value in values], pa.bool_())


def _to_arrow(values: Any, read_objects: ReadObjects) -> Chunks:
    """An array of any make as Arrow; whether it is one depends on its type alone."""
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise InvalidData(f"The array must have one dimension. Found {values.ndim}.")
        return to_chunks(read_numpy(values, read_objects))
    known = nw.from_native(values, allow_series=True, pass_through=True)
    if isinstance(known, nw.Series):
        return to_chunks(read_series(known, read_objects))
    if isinstance(known, nw.DataFrame | nw.LazyFrame) or isinstance(values, pa.RecordBatch):
        raise InvalidData('A frame has several columns. Give one of them, as in frame["cost"].')
    if hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values)
    if hasattr(values, "__arrow_c_array__"):
        return to_chunks(pa.array(values))
    if isinstance(values, Iterable) and not isinstance(values, str | bytes | dict):
        return to_chunks(read_objects(values))
    raise InvalidData(
        f"Give an array, a Series or a list of values. Found {type(values).__name__}."
    )


def read_values(values: Iterable[object], kind: FrameKind) -> "pa.Array[Any]":
    """Python objects as a column of a kind. Texts are read as DuckDB reads them.

    >>> read_values([1, "2", None, object()], "number").to_pylist()
    [1.0, 2.0, None, None]
    """
    listed = list(values)
    if kind in ("number", "integer"):
        return _read_numbers(listed, kind)
    texts = pa.array([to_text(value) for value in listed], TYPES["text"])
    return texts if kind == "text" else read_as(texts, kind).combine_chunks()


def _read_numbers(values: list[object], kind: FrameKind) -> "pa.Array[Any]":
    if kind == "number" and {*map(type, values)} <= {float, type(None)}:
        return pa.array(values, pa.float64(), from_pandas=True)  # the same, but faster
    read: Callable[[object], float | None] = to_double if kind == "number" else to_integer
    numbers = pa.array([read(value) for value in values], TYPES[kind])
    if not any(issubclass(type(value), str) for value in values):
        return numbers
    texts = [to_text(value) if issubclass(type(value), str) else None for value in values]
    parsed = read_as(pa.array(texts, TYPES["text"]), kind).combine_chunks()
    return pc.coalesce(numbers, parsed)


def read_numpy(source: "np.ndarray[Any, Any]", read_objects: ReadObjects) -> "pa.Array[Any]":
    """A NumPy array of one dimension. NaN and masked values are missing."""
    mask = np.ma.getmaskarray(source) if isinstance(source, np.ma.MaskedArray) else None
    array = np.ma.getdata(source)
    if array.dtype.kind == "c":
        array = np.where(array.imag == 0, array.real, np.nan)
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            array = array.astype(f"f{max(4, min(8, array.dtype.itemsize))}", copy=False)
    moments = array.dtype.kind == "M" and np.datetime_data(array.dtype) in _PLAIN_MOMENTS
    if array.dtype.kind in "biuf" or moments:
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        return pa.array(native, mask=mask, from_pandas=True)
    hidden = [False] * len(array) if mask is None else mask
    return read_objects(
        None if off else value for value, off in zip(array, hidden, strict=True)
    )


def read_series(series: "nw.Series[Any]", read_objects: ReadObjects) -> Any:
    """A column of a frame. The categories of pandas are objects."""
    native = series.to_native()
    dtype = getattr(native, "dtype", None)
    if isinstance(dtype, np.dtype):
        return read_numpy(np.asarray(series.to_numpy()), read_objects)
    if str(dtype) == "category":
        return _read_categories(native, read_objects)
    in_python = getattr(dtype, "storage", None) == "python"  # text of pandas
    if in_python or isinstance(series.dtype, nw.Object | nw.Unknown):
        return read_objects(series.to_list())
    if isinstance(series.dtype, nw.Int128 | nw.UInt128):
        series = series.cast(nw.String)  # as doubles, two large ids could become equal
    return series.to_arrow()


def _read_categories(native: Any, read_objects: ReadObjects) -> "pa.Array[Any]":
    """Categories of pandas: a list of any objects, and for each row its place in it."""
    categories = read_objects(native.cat.categories.tolist())
    codes = pa.array(native.cat.codes.to_numpy().astype(np.int64))
    return categories.take(pc.if_else(pc.less(codes, 0), pa.scalar(None, pa.int64()), codes))


def read_typed(values: Any, kind: FrameKind) -> tuple[Chunks, bool]:
    """A column by its type, Python objects as values of a kind; and whether values may have
    chosen its type, as they do in pandas, in NumPy and in lists.

    >>> column, inferred = read_typed([1, "x"], "text")
    >>> column.to_pylist(), inferred
    (['1', 'x'], True)
    """
    known = nw.from_native(values, allow_series=True, pass_through=True)
    inferred = not isinstance(known, nw.Series) or is_type_inferred(known)
    return _to_arrow(values, partial(read_values, kind=kind)), inferred


def is_type_inferred(series: "nw.Series[Any]") -> bool:
    """Whether pandas may have chosen the column's type by looking at its values."""
    dtype = getattr(series.to_native(), "dtype", None)
    return series.implementation.is_pandas_like() and (
        isinstance(dtype, np.dtype) or str(dtype) == "str"
    )
