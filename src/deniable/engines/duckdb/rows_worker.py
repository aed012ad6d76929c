"""A process that runs SQL over rows that it is given, and can do nothing else.

This file runs alone, as a process of its own. It gets released rows and the SQL of an analyst.
After it has started it can open no file and no socket, start no process and write no file:
the operating system refuses it. Its memory is limited, too. Inside it DuckDB has no access to
files, extensions and Python's variables, and its settings are locked. Its parent ends it when
it takes too long.

A message is a length in eight bytes, and that many bytes: JSON, or a table in Arrow's format.
The process reads a request (`statements`, `most_rows`, the names of `tables`, and `views`:
names for some columns of a table), then each table. For each statement it writes an answer
(`error`, or null), and then the rows if there is no error. It writes an answer before it runs
the next statement, so the next one cannot take it away.
"""

import json
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

import duckdb
import pyarrow as pa

try:
    import resource
except ImportError:  # Windows has no such limits; DuckDB's own ones remain
    resource = None  # type: ignore[assignment]

MEMORY_BYTES = 768 << 20  # in addition to what the started process has
_LARGEST_MESSAGE = 1 << 31
_LENGTH = struct.Struct("<q")
CONFIG: Mapping[str, Any] = {
    "allow_community_extensions": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "enable_external_access": False,
    "error_on_division_by_zero": False,  # it is NULL
    "ieee_floating_point_ops": False,  # x / 0 is NULL, too
    "max_temp_directory_size": "0KB",
    "memory_limit": "256MB",
    "python_enable_replacements": False,
    "temp_directory": "",
    "threads": 1,
}


def connect_locked() -> duckdb.DuckDBPyConnection:
    """An empty database without files, extensions and Python's variables, settings locked.

    >>> with connect_locked() as database:
    ...     database.sql("SELECT * FROM read_text('/etc/passwd')")
    Traceback (most recent call last):
    _duckdb.PermissionException: Permission Error: ...
    """
    database = duckdb.connect(config=dict(CONFIG))
    database.execute("SET disabled_filesystems = 'LocalFileSystem'")
    database.execute("SET lock_configuration = true")
    return database


Views = Mapping[str, tuple[str, Sequence[str]]]


@contextmanager
def fill_tables(
    database: duckdb.DuckDBPyConnection, tables: Mapping[str, "pa.Table"], views: Views
) -> "Iterator[duckdb.DuckDBPyConnection]":
    """A connection to the tables and to views of their columns.

    They are temporary and of one connection, so nothing stays in the database.

    >>> rows = {"more": pa.table({"x": [1], "y": [2]})}
    >>> with connect_locked() as database:
    ...     with fill_tables(database, rows, {"t": ("more", ["y"])}) as connection:
    ...         answer = run_sql(connection, "SELECT * FROM t", 9)
    >>> answer.to_pylist()
    [{'y': 2}]
    """
    source_name = "".join(tables) + "_"  # no table is called like this
    with database.cursor() as connection:
        for name, rows in tables.items():
            connection.register(source_name, rows)
            connection.execute(
                f"CREATE TEMP TABLE {_quote(name)} AS FROM {_quote(source_name)}"
            )
        for name, (table, columns) in views.items():
            listed = ", ".join(map(_quote, columns))
            connection.execute(
                f"CREATE TEMP VIEW {_quote(name)} AS SELECT {listed} FROM {_quote(table)}"
            )
        yield connection


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def run_sql(connection: duckdb.DuckDBPyConnection, sql: str, most_rows: int) -> "pa.Table":
    """The rows that a SELECT makes; a ValueError if there are too many."""
    batches, count = [], 0
    with connection.sql(sql).to_arrow_reader(10_000) as reader:
        for batch in reader:
            batches.append(batch)
            count += batch.num_rows
            if count > most_rows:
                raise ValueError(f"it makes more than {most_rows:,} rows")
        return pa.Table.from_batches(batches, reader.schema)


def write_message(pipe: IO[bytes], message: bytes) -> None:
    """Writes the length of a message, and the message."""
    pipe.write(with_length(message))


def with_length(message: bytes) -> bytes:
    """A message as it is sent: its length, and then itself."""
    return _LENGTH.pack(len(message)) + message


def read_message(pipe: IO[bytes]) -> bytes:
    """The next message; EOFError at the end of the pipe."""
    head = pipe.read(_LENGTH.size)
    length = _LENGTH.unpack(head)[0] if len(head) == _LENGTH.size else -1
    if not 0 <= length <= _LARGEST_MESSAGE:
        raise EOFError
    body = pipe.read(length)
    if len(body) < length:
        raise EOFError
    return body


def table_to_bytes(table: "pa.Table") -> bytes:
    """A table in Arrow's format for streams."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def table_from_bytes(message: bytes) -> "pa.Table":
    """The table that `table_to_bytes` wrote."""
    with pa.ipc.open_stream(message) as stream:
        return stream.read_all()


def _lock_process(database: duckdb.DuckDBPyConnection) -> None:
    """From here on: no new file, socket or process, no writing, and little memory."""
    warm = {"t": pa.table({"x": [1.5], "y": ["a"]})}  # libraries load their last parts now
    with fill_tables(database, warm, {"v": ("t", ["x", "y"])}) as connection:
        run_sql(connection, "SELECT y, SUM(x) OVER () FROM v", 9)
    table_from_bytes(table_to_bytes(pa.table({"x": [1]})))
    if resource is None:
        return
    size = _virtual_bytes()
    limits = [
        (resource.RLIMIT_AS, None if size is None else size + MEMORY_BYTES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_NOFILE, 3),  # standard input, output and error are open already
    ]
    for name, most in limits:
        if most is not None:
            resource.setrlimit(name, (most, most))


def _virtual_bytes() -> int | None:
    """The size of this process's memory map, where the system tells it."""
    try:
        with open("/proc/self/statm") as file:  # noqa: PTH123 (pathlib starts slowly)
            return int(file.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):
        return None


_FAULTS = (duckdb.Error, ValueError, pa.ArrowException, MemoryError, RuntimeError)


def answer_request(
    database: duckdb.DuckDBPyConnection,
    request: Mapping[str, Any],
    tables: Mapping[str, "pa.Table"],
) -> Iterator[tuple[str | None, bytes]]:
    """For each statement of a request what is wrong with it, or None, and its rows.

    >>> request = {"statements": ["SELECT y FROM t", "SELECT x FROM t"], "most_rows": 9}
    >>> with connect_locked() as database:
    ...     (wrong, _), (fine, rows) = answer_request(
    ...         database, request, {"t": pa.table({"x": [1]})}
    ...     )
    >>> wrong[:12], fine, table_from_bytes(rows).to_pylist()
    ('Binder Error', None, [{'x': 1}])
    """
    answered = 0
    try:
        with fill_tables(database, tables, request.get("views", {})) as connection:
            for sql in request["statements"]:
                error, rows = None, b""
                try:
                    rows = table_to_bytes(run_sql(connection, sql, request["most_rows"]))
                except _FAULTS as why:
                    error = str(why) or type(why).__name__
                answered += 1
                yield error, rows
    except _FAULTS as why:
        for _ in request["statements"][answered:]:
            yield str(why) or type(why).__name__, b""


def main() -> None:
    """Answers each request until the input ends."""
    database = connect_locked()
    _lock_process(database)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    write_message(sink, b"ready")
    sink.flush()
    while True:
        try:
            request = json.loads(read_message(source))
            tables = {
                name: table_from_bytes(read_message(source)) for name in request["tables"]
            }
        except EOFError:
            return
        for error, rows in answer_request(database, request, tables):
            write_message(sink, json.dumps({"error": error}).encode())
            if error is None:
                write_message(sink, rows)
            sink.flush()


if __name__ == "__main__":
    main()
