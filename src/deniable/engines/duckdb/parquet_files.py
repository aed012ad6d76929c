"""Parquet files as sources: one table, if they all have the same columns."""

import re
from typing import Any

import duckdb
import pyarrow as pa

from deniable.engines.duckdb.column_kinds import FARTHEST, is_list, is_text
from deniable.errors import InvalidPolicy
from deniable.query.plan.quoting import quote_name, quote_text

# Parquet's statistics ignore NaN. Without the first option, DuckDB trusts them and drops the
# comparison that clips a NaN, if no other row exceeds the bound. With the second, bytes that
# are not text become question marks instead of an error.
_OPTIONS = "can_have_nan = true, utf8_validation = 'replace'"
_LIMITS = {  # of timestamps in each unit: how to make one of an integer, and the farthest
    "s": ("make_timestamp({} * 1000000)", FARTHEST // 10**6),
    "ms": ("make_timestamp({} * 1000)", FARTHEST // 10**3),
    "us": ("make_timestamp({})", FARTHEST),
    "ns": ("make_timestamp_ns({})", 2**63 - 3),
}


def add_parquet_files(
    connection: duckdb.DuckDBPyConnection, table: str, paths: tuple[str, ...]
) -> tuple[str, ...]:
    """Adds the files as a table; returns the paths that must stay readable."""
    schema = _read_schema(table, paths[0])
    for path in paths[1:]:
        if _list_types(_read_schema(table, path)) != _list_types(schema):
            # DuckDB would convert the values, and fail where one cannot be converted.
            raise InvalidPolicy(
                f"The columns of {paths[0]!r} and {path!r} differ. Files that are read "
                "together must have the same columns, of the same types and in the same order."
            )
    patterns = tuple(map(_escape_pattern, paths))
    relation = f"read_parquet([{', '.join(map(quote_text, patterns))}], {_OPTIONS})"
    try:
        if any(map(_in_milliseconds, schema)):
            _add_by_arrow(connection, table, paths, schema)
            return ()
        connection.execute(f"CREATE VIEW {quote_name(table)} AS SELECT * FROM {relation}")
    except duckdb.Error:
        raise unreadable_source(table) from None
    return tuple({*paths, *patterns})


def unreadable_source(table: str) -> InvalidPolicy:
    """The error for a file that is not what its name says."""
    return InvalidPolicy(
        f"The source of table {table!r} cannot be opened: its content does not match its file "
        "extension, or it is incomplete."
    )


def _read_schema(table: str, path: str) -> "pa.Schema":
    from pyarrow.parquet import read_schema  # slow to import

    try:
        return read_schema(path)
    except (OSError, pa.ArrowException):
        raise unreadable_source(table) from None


def _list_types(schema: "pa.Schema") -> list[tuple[str, Any]]:
    """Names and types; categories are stored as what they stand for."""
    return [(field.name, _value_type(field.type)) for field in schema]


def _in_milliseconds(field: "pa.Field[Any]") -> bool:
    """Whether DuckDB's own Parquet reader raises on extreme values of such a column."""
    return pa.types.is_timestamp(field.type) and field.type.unit in ("s", "ms")


def _add_by_arrow(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    paths: tuple[str, ...],
    schema: "pa.Schema",
) -> None:
    """Adds the files as Arrow reads them, in plain types from which DuckDB makes each value.

    Arrow does not check text, and DuckDB fails on bytes that are not text. Arrow also compares
    values for DuckDB, and fails on timestamps with a zone, so it gets only integers.
    """
    plain = [field.with_type(_stored_type(field.type)) for field in schema]
    from pyarrow.dataset import dataset as open_dataset  # it loads pandas

    dataset = open_dataset(list(paths), schema=pa.schema(plain), format="parquet")
    stored = f"(files of {table})"
    connection.register(stored, dataset)
    expressions = (
        _make_value(quote_name(field.name), _value_type(field.type)) for field in schema
    )
    replaced = ", ".join(filter(None, expressions))
    connection.execute(
        f"CREATE VIEW {quote_name(table)} AS SELECT * REPLACE ({replaced}) "
        f"FROM {quote_name(stored)}"
    )


def _value_type(type_: Any) -> Any:
    return type_.value_type if pa.types.is_dictionary(type_) else type_


def _stored_type(type_: Any) -> Any:
    """The type in which Arrow hands a column over."""
    value = _value_type(type_)
    if pa.types.is_timestamp(value):
        return pa.int64()
    if is_text(value):
        return pa.large_binary()
    if is_list(value) and is_text(value.value_type):
        return pa.large_list(pa.large_binary())
    if pa.types.is_float16(value):
        return pa.float32()
    return pa.float64() if pa.types.is_decimal256(value) else value


def _make_value(column: str, type_: Any) -> str | None:
    """A timestamp or a text from what is stored; None for a column of another type.

    >>> print(_make_value("ward", pa.string()))
    decode(ward, 'replace') AS ward
    """
    if is_text(type_):
        return f"decode({column}, 'replace') AS {column}"
    if is_list(type_) and is_text(type_.value_type):
        return f"list_transform({column}, lambda e: decode(e, 'replace')) AS {column}"
    if not pa.types.is_timestamp(type_):
        return None
    make, farthest = _LIMITS[type_.unit]
    near = f"CASE WHEN {column} BETWEEN {-farthest} AND {farthest} THEN {column} END"
    return f"{make.format(near)} AS {column}"


def _escape_pattern(path: str) -> str:
    """A path as a pattern that matches only this path.

    >>> _escape_pattern("visits*.parquet")
    'visits[*].parquet'
    """
    return re.sub(r"([*?[])", r"[\1]", path)
