"""Arrow columns as values of a declared kind. What cannot be read is missing; nothing fails.

The type of the result depends only on the kind. What a value becomes depends on no other value,
and not on the type that other values gave the column: an integer is the same number, and has
the same text, in a column of integers, doubles, decimals or objects.
"""

import atexit
import os
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, TypeAlias

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from deniable.engines.duckdb.python_values import LARGEST_DOUBLE_INTEGER, to_text

FrameKind: TypeAlias = Literal["number", "integer", "text", "boolean", "date"]
Chunks: TypeAlias = "pa.ChunkedArray[Any]"

TYPES: dict[str, Any] = {
    "number": pa.float64(),
    "integer": pa.int64(),
    "text": pa.large_string(),
    "boolean": pa.bool_(),
    "date": pa.timestamp("us"),
}

FARTHEST = 2**62  # microseconds from 1970: the year 148,108
_WRITTEN_INTEGER = r"regexp_extract(value, '^\s*([+-]?[0-9]+)([.]0*)?\s*$', 1)"
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def can_read(type_: "pa.DataType", kind: FrameKind) -> bool:
    """Whether values of an Arrow type can be of a kind. Otherwise all of them are missing.

    >>> can_read(pa.bool_(), "number"), can_read(pa.date32(), "number")
    (True, False)
    """
    type_ = _plain_type(type_)
    simple = is_number(type_) or is_text(type_) or _is_any(type_, "null", "boolean")
    if kind in ("number", "integer"):
        return simple
    return simple or is_date(type_) or _is_binary(type_)


def read_as(column: Any, kind: FrameKind) -> Chunks:
    """A column as values of a kind, in that kind's type.

    >>> read_as(pa.array(["1", "x", None]), "number").to_pylist()
    [1.0, None, None]
    >>> read_as(pa.array([1.0, 2.5]), "text").to_pylist()
    ['1', '2.5']
    """
    plain = decode(to_chunks(column))
    if not can_read(plain.type, kind) or pa.types.is_null(plain.type):
        return pa.chunked_array([pa.nulls(len(plain), TYPES[kind])])
    return _READERS[kind](plain)


def read_identifiers(column: Any, kind: FrameKind) -> Chunks:
    """The same for privacy units: different values stay different, or are missing. So integers
    are read exactly, those beyond 64 bits and fractions are missing, and the kind "number" is
    read as text.

    >>> read_identifiers(pa.array(["9007199254740993", "7.0", "7.5"]), "integer").to_pylist()
    [9007199254740993, 7, None]
    """
    plain = decode(to_chunks(column))
    if kind != "integer" or not can_read(plain.type, kind) or pa.types.is_null(plain.type):
        return read_as(plain, "text" if kind == "number" else kind)
    if pa.types.is_floating(plain.type):
        doubles = _to_doubles(plain)
        exact = pc.and_(pc.equal(doubles, pc.round(doubles)), pc.less(pc.abs(doubles), 2.0**63))
        return pc.if_else(exact, doubles, pa.scalar(None, pa.float64())).cast(pa.int64())
    if pa.types.is_boolean(plain.type) or pa.types.is_signed_integer(plain.type):
        return plain.cast(pa.int64())
    return _try_cast(_to_texts(plain), "BIGINT", _WRITTEN_INTEGER)


def to_chunks(column: Any) -> Chunks:
    """A column in chunks, as a table has it."""
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def decode(column: Chunks) -> Chunks:
    """A column without dictionaries, runs and extension types."""
    type_ = column.type
    if pa.types.is_dictionary(type_):
        return decode(expand(column))
    if pa.types.is_run_end_encoded(type_):
        decoded = [pc.run_end_decode(chunk) for chunk in column.chunks]
        return decode(pa.chunked_array(decoded, type_.value_type))
    if isinstance(type_, pa.BaseExtensionType):
        return decode(column.cast(type_.storage_type))
    return column


def expand(column: Chunks) -> Chunks:
    """The values that a column of categories stands for. Texts get offsets of 64 bits: repeated
    for many rows, one long text does not fit into 2 GB.

    >>> expand(pa.chunked_array([pa.array(["a", "a"]).dictionary_encode()])).type
    DataType(large_string)
    """
    type_ = column.type.value_type
    if pa.types.is_string(type_):
        type_ = pa.large_string()
    elif pa.types.is_binary(type_):
        type_ = pa.large_binary()
    chunks = [chunk.dictionary.cast(type_).take(chunk.indices) for chunk in column.chunks]
    return pa.chunked_array(chunks, type_)


def _plain_type(type_: Any) -> Any:
    if pa.types.is_dictionary(type_) or pa.types.is_run_end_encoded(type_):
        return _plain_type(type_.value_type)
    if isinstance(type_, pa.BaseExtensionType):
        return _plain_type(type_.storage_type)
    return type_


def is_number(type_: Any) -> bool:
    return _is_any(type_, "integer", "floating", "decimal")


def is_text(type_: Any) -> bool:
    return _is_any(type_, "string", "large_string", "string_view")


def is_list(type_: Any) -> bool:
    """Whether a type is one of lists, of any length."""
    return _is_any(type_, "list", "large_list", "list_view", "large_list_view")


def is_date(type_: Any) -> bool:
    return _is_any(type_, "date", "timestamp")


def _is_binary(type_: Any) -> bool:
    return _is_any(type_, "binary", "large_binary", "fixed_size_binary", "binary_view")


def _is_any(type_: Any, *names: str) -> bool:
    return any(getattr(pa.types, f"is_{name}")(type_) for name in names)


def _to_doubles(column: Chunks) -> Chunks:
    type_ = column.type
    if is_text(type_):
        column = _try_cast(clean_text(column), "DOUBLE")
    elif pa.types.is_boolean(type_):
        column = column.cast(pa.uint8())
    elif pa.types.is_float16(type_):
        column = column.cast(pa.float32())
    doubles = column.cast(pa.float64(), safe=False)
    return pc.if_else(pc.is_nan(doubles), pa.scalar(None, pa.float64()), doubles)


def _to_integers(column: Chunks) -> Chunks:
    if pa.types.is_uint64(column.type):
        return pc.min_element_wise(
            column, pa.scalar(2**63 - 1, pa.uint64()), skip_nulls=False
        ).cast(pa.int64())
    if pa.types.is_integer(column.type):
        return column.cast(pa.int64())
    rounded = pc.round(_to_doubles(column), round_mode="half_to_even")
    above = pc.max_element_wise(rounded, -(2.0**63), skip_nulls=False)
    return pc.min_element_wise(above, LARGEST_DOUBLE_INTEGER, skip_nulls=False).cast(pa.int64())


def _to_texts(column: Chunks) -> Chunks:
    type_ = column.type
    if is_text(type_):
        return clean_text(column).cast(pa.large_string())
    if _is_binary(type_):
        return _map_chunks(column, lambda value: value.decode("utf-8", "replace"))
    if is_date(type_):
        days = pa.types.is_date32(type_)
        written = _try_cast(column if days else to_microseconds(column), "VARCHAR")
        return written.cast(pa.large_string())
    if pa.types.is_float16(type_):
        column = column.cast(pa.float32())
    elif pa.types.is_decimal32(type_) or pa.types.is_decimal64(type_):
        column = column.cast(pa.decimal128(type_.precision, type_.scale))
    return _map_chunks(column, to_text)


def _map_chunks(column: Chunks, write: Callable[[Any], str | None]) -> Chunks:
    """The text of each value; equal values are written once."""
    texts = []
    for chunk in column.chunks:
        encoded = chunk.dictionary_encode()
        written = [
            None if value is None else write(value) for value in encoded.dictionary.to_pylist()
        ]
        texts.append(pa.array(written, pa.large_string()).take(encoded.indices))
    return pa.chunked_array(texts, pa.large_string())


def _to_booleans(column: Chunks) -> Chunks:
    if pa.types.is_boolean(column.type):
        return column
    return _try_cast(_to_texts(column), "BOOLEAN")


def _to_moments(column: Chunks) -> Chunks:
    if is_date(column.type):
        return to_microseconds(column)
    return to_microseconds(_try_cast(_to_texts(column), "TIMESTAMP"))


_READERS: dict[str, Callable[[Chunks], Chunks]] = {
    "number": _to_doubles,
    "integer": _to_integers,
    "text": _to_texts,
    "boolean": _to_booleans,
    "date": _to_moments,
}


def clean_text(column: Chunks) -> Chunks:
    """Texts in which bytes that are not UTF-8 are replaced. Arrow does not check them."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        wide = column.cast(
            pa.binary_view() if pa.types.is_string_view(column.type) else pa.large_binary()
        )
        return _map_chunks(wide, lambda value: value.decode("utf-8", "replace"))
    return column


def to_microseconds(column: Chunks) -> Chunks:
    """Days and timestamps in UTC and microseconds; NULL if they are too far away."""
    if pa.types.is_date32(column.type):
        column = column.cast(pa.timestamp("s"))
    elif pa.types.is_date64(column.type):
        column = column.cast(pa.int64()).cast(pa.timestamp("ms"))
    per_second = _PER_SECOND[column.type.unit]
    count = column.cast(pa.timestamp(column.type.unit)).cast(pa.int64())
    if per_second > 10**6:
        count = _floor_divide(count, per_second // 10**6)
    factor = max(1, 10**6 // per_second)
    near = pc.less(pc.abs(pc.if_else(pc.equal(count, -(2**63)), 0, count)), FARTHEST // factor)
    near = pc.and_(near, pc.not_equal(count, -(2**63)))
    microseconds = pc.multiply(pc.if_else(near, count, pa.scalar(None, pa.int64())), factor)
    return microseconds.cast(pa.timestamp("us"))


def _floor_divide(count: Chunks, by: int) -> Chunks:
    """Rounded down, as Python rounds a moment with nanoseconds; Arrow rounds towards zero."""
    quotient = pc.divide(count, by)
    below = pc.less(count, pc.multiply(quotient, by))
    return pc.subtract(quotient, below.cast(pa.int64()))


def _try_cast(column: Chunks, type_: str, sql: str = "value") -> Chunks:
    """DuckDB's own reading, so that a frame's text means the same as a file's."""
    with _database(os.getpid()).cursor() as database:
        database.register("given", pa.table({"value": column}))
        cast = database.sql(f"SELECT TRY_CAST({sql} AS {type_}) AS value FROM given")
        return cast.to_arrow_table()["value"]


@cache
def _database(process: int) -> duckdb.DuckDBPyConnection:
    """An empty database for casts, one per process. One thread keeps the order of rows."""
    database = duckdb.connect(":memory:", config={"threads": 1})
    atexit.register(_database.cache_clear)  # DuckDB complains if it is still open then
    return database
