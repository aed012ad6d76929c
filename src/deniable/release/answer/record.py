"""A released table as rows of JSON, as bytes for the ledger, and its hash.

The hash covers the columns in order. For each column it covers:

- one line of JSON: the name, the type, the number of rows and of missing values;
- if values are missing: one byte for every row, 1 if it has a value;
- the values. Integers, and numbers as IEEE doubles: eight bytes each, little-endian. Booleans:
  one byte each. Text and dates: all lengths in bytes (eight bytes each), then all the bytes.
  A missing value counts as zero or as empty text.
"""

import datetime
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deniable.errors import InvalidCertificate
from deniable.release.answer.answer_table import Answer

TYPES: Mapping[str, "pa.DataType"] = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("s"),
    "text": pa.string(),
}
_FLAT = {"integer": "<i8", "number": "<f8", "boolean": "u1"}


def columns(table: "pa.Table") -> list[dict[str, str]]:
    """The columns' names and types, in order.

    >>> columns(pa.table({"ward": ["A"], "n": [3]}))
    [{'name': 'ward', 'type': 'text'}, {'name': 'n', 'type': 'integer'}]
    """
    return [{"name": field.name, "type": _type_name(field.type)} for field in table.schema]


def rows(table: "pa.Table") -> list[dict[str, Any]]:
    """The rows, as values that JSON can hold.

    >>> rows(pa.table({"day": [datetime.date(2025, 1, 1)], "x": [math.inf]}))
    [{'day': '2025-01-01', 'x': 'inf'}]
    """
    names = table.column_names
    values = [_json_values(column) for column in table.columns]
    if not values:
        return [{} for _ in range(len(table))]
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


def read_table(listed: Any, written: Any) -> "pa.Table":
    """The table that `columns` and `rows` wrote, as far as it can be read from JSON.

    It does not notice fields that are too many: compare what `columns` and `rows` write.

    >>> table = pa.table({"ward": ["A", None], "n": [3, 4]})
    >>> read_table(columns(table), rows(table)) == table
    True
    """
    try:
        arrays = {
            column["name"]: pa.array(
                [_from_json(row[column["name"]], column["type"]) for row in written],
                type=TYPES[column["type"]],
            )
            for column in listed
        }
    except (KeyError, TypeError, ValueError, OverflowError, pa.ArrowException):
        raise InvalidCertificate(
            "The rows of this release do not match its list of columns."
        ) from None
    return pa.table(arrays)


def fingerprint(table: "pa.Table") -> str:
    """The SHA-256 of a table's columns, in hexadecimal.

    >>> three, four = pa.table({"n": [3]}), pa.table({"n": [4]})
    >>> fingerprint(three) == fingerprint(pa.table({"n": [3]})), fingerprint(three)[:8]
    (True, '449372aa')
    >>> fingerprint(three) == fingerprint(four)
    False
    """
    digest = hashlib.sha256()
    for field, column in zip(table.schema, table.columns, strict=True):
        kind = _type_name(field.type)
        head = [field.name, kind, len(column), column.null_count]
        digest.update(json.dumps(head, separators=(",", ":")).encode("ascii") + b"\n")
        if column.null_count:
            digest.update(np.asarray(column.is_valid()).astype("u1").tobytes())
        for part in _value_bytes(column, kind):
            digest.update(part)
    return digest.hexdigest()


def _value_bytes(column: "pa.ChunkedArray[Any]", kind: str) -> Iterator[Any]:
    """The bytes of a column's values."""
    if kind in _FLAT:
        flat = column.cast(TYPES[kind])
        if column.null_count:
            flat = flat.fill_null(pa.scalar(0).cast(TYPES[kind]))
        yield np.ascontiguousarray(np.asarray(flat), dtype=_FLAT[kind]).data
        return
    texts = _as_text(column)
    ends = np.frombuffer(texts.buffers()[1], "<i8")[texts.offset :][: len(texts) + 1]
    yield np.diff(ends).astype("<i8").tobytes()
    characters = texts.buffers()[2]
    if characters is not None:
        yield memoryview(characters)[int(ends[0]) : int(ends[-1])]


def to_bytes(answer: Answer) -> bytes:
    """An answer as bytes, to be stored in the ledger.

    >>> table = pa.table({"n": [3], "n_margin": [1], "n_low": [2], "n_high": [4]})
    >>> answer = Answer(table, {"n": "n_margin"}, {"n": ("n_low", "n_high")})
    >>> again = from_bytes(to_bytes(answer))
    >>> again.table["n"].to_pylist(), again.margins, again.ends
    ([3], {'n': 'n_margin'}, {'n': ('n_low', 'n_high')})
    """
    names = {b"margins": dict(answer.margins), b"ends": dict(answer.ends)}
    notes = {key: json.dumps(value).encode("ascii") for key, value in names.items()}
    table = answer.table.replace_schema_metadata(notes)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def from_bytes(stored: bytes) -> Answer:
    """The answer that `to_bytes` wrote. Version 1 of kept answers had no ends."""
    table = pa.ipc.open_stream(stored).read_all()
    margins = json.loads(table.schema.metadata[b"margins"])
    written = json.loads(table.schema.metadata.get(b"ends", b"{}"))
    ends = {name: (low, high) for name, (low, high) in written.items()}
    return Answer(table.replace_schema_metadata(None), margins, ends)


def _as_text(column: "pa.ChunkedArray[Any]") -> "pa.Array[Any]":
    """A column as one array of text, with empty text for NULL."""
    texts = column.cast(pa.large_string()).fill_null("").combine_chunks()
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.chunk(0) if texts.num_chunks else pa.array([], pa.large_string())
    return texts if len(texts) else pa.array([""], pa.large_string()).slice(0, 0)


def _type_name(kind: "pa.DataType") -> str:
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind):
        return "number"
    if pa.types.is_timestamp(kind):
        return "timestamp"
    return "date" if pa.types.is_date(kind) else "text"


def _json_values(column: "pa.ChunkedArray[Any]") -> list[Any]:
    """A column's values for JSON; whole columns are faster than values one by one."""
    values: list[Any] = column.to_pylist()
    kind, types = column.type, pa.types
    plain = types.is_integer(kind) or types.is_boolean(kind) or types.is_string(kind)
    if plain or (types.is_floating(kind) and pc.all(pc.is_finite(column)).as_py()):
        return values
    return [_to_json(value) for value in values]


def _to_json(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def _from_json(value: Any, kind: str) -> Any:
    if value is None:
        return None
    if kind == "number":
        if isinstance(value, bool):
            raise TypeError
        return float(value)
    if type(value) is not {"integer": int, "boolean": bool}.get(kind, str):
        raise TypeError
    read = {"date": datetime.date, "timestamp": datetime.datetime}.get(kind)
    return value if read is None else read.fromisoformat(str(value))
