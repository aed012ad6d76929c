"""Parquet files as sources: one table, if they all have the same columns."""

from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet

from deniable.engines.duckdb.quoting import escape_pattern, quote_name, quote_text
from deniable.errors import InvalidPolicy

# Parquet's statistics ignore NaN. Without the first option, DuckDB trusts them and drops the
# comparison that clips a NaN, if no other row exceeds the bound. With the second, bytes that
# are not text become question marks instead of an error.
_OPTIONS = "can_have_nan = true, utf8_validation = 'replace'"


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
    if any(map(_in_milliseconds, schema)):
        connection.register(table, _arrow_dataset(paths, schema))
        return ()
    patterns = tuple(map(escape_pattern, paths))
    relation = f"read_parquet([{', '.join(map(quote_text, patterns))}], {_OPTIONS})"
    try:
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
    try:
        return pyarrow.parquet.read_schema(path)
    except (OSError, pa.ArrowException):
        raise unreadable_source(table) from None


def _list_types(schema: "pa.Schema") -> list[tuple[str, Any]]:
    """Names and types; categories are stored as what they stand for."""
    return [
        (
            field.name,
            field.type.value_type if pa.types.is_dictionary(field.type) else field.type,
        )
        for field in schema
    ]


def _in_milliseconds(field: "pa.Field[Any]") -> bool:
    """Whether DuckDB's own Parquet reader raises on extreme values of such a column."""
    return pa.types.is_timestamp(field.type) and field.type.unit in ("s", "ms")


def _arrow_dataset(files: tuple[str, ...], schema: "pa.Schema") -> "pyarrow.dataset.Dataset":
    """Parquet files as Arrow reads them, with timestamps without a zone."""
    plain = [
        field.with_type(pa.timestamp(field.type.unit))
        if pa.types.is_timestamp(field.type)
        else field
        for field in schema
    ]
    return pyarrow.dataset.dataset(list(files), schema=pa.schema(plain), format="parquet")
