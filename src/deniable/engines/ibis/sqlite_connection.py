"""SQLite through Ibis: the second witness, an engine that has few of DuckDB's types.

A column of SQLite may hold any value in any row, whatever type it declares. So each column is
read as its declared type, and a value of another type is NULL.
"""

import contextlib
import math
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import ibis
import ibis.expr.operations as ops
import pyarrow as pa
from ibis.backends.sql.datatypes import SQLiteType

from deniable.engines.dialect.statement_writer import write_statement
from deniable.engines.dialect.typed_sql import Kind, WrittenRelation
from deniable.engines.handover.written_plan import WrittenStatement
from deniable.engines.ibis import connection, sqlite_functions, sqlite_moments
from deniable.engines.ibis.connection import IbisConnection, interrupt_after
from deniable.engines.ibis.sqlite_writer import SQLITE
from deniable.errors import InvalidPolicy, Unsupported
from deniable.query.plan.plan import Plan, Statement
from deniable.query.plan.quoting import quote_name

_OLDEST = (3, 39, 0)  # the first with FULL JOIN
_REPLACED = """
SELECT name FROM pragma_function_list WHERE NOT builtin AND name IN ('abs', 'char',
'coalesce', 'count', 'dense_rank', 'max', 'min', 'nullif', 'replace', 'row_number', 'sum',
'typeof')
"""
_TEXT = "CASE typeof({0}) WHEN 'text' THEN deniable_{1}(CAST({0} AS BLOB)) END"
_DOUBLE = (
    "CASE typeof({0}) WHEN 'real' THEN {0} WHEN 'integer' THEN CAST({0} AS REAL) "
    "WHEN 'text' THEN CASE CAST({0} AS BLOB) WHEN x'4E614E' THEN 'NaN' END END"
)
# DuckDB's type, the writer's kind, and how the column enters a statement.
_READ: dict[str, tuple[str, Kind, str]] = {
    "integer": ("BIGINT", "bigint", "CASE typeof({0}) WHEN 'integer' THEN {0} END"),
    "boolean": ("BOOLEAN", "boolean", "CASE typeof({0}) WHEN 'integer' THEN {0} <> 0 END"),
    "floating": ("DOUBLE", "double", _DOUBLE),
    "decimal": ("DOUBLE", "double", _DOUBLE),
    "string": ("VARCHAR", "text", _TEXT.format("{0}", "read_text")),
    "timestamp": ("TIMESTAMP", "timestamp", _TEXT.format("{0}", "read_moment")),
    "date": ("DATE", "date", f"deniable_day({_TEXT.format('{0}', 'read_moment')})"),
}
_ARROW: dict[str, Any] = {
    "int": pa.int64(),
    "bigint": pa.int64(),
    "wide": pa.decimal128(38, 0),
    "double": pa.float64(),
    "text": pa.large_string(),
    "opaque": pa.large_string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "null": pa.null(),
}


def open_file(path: str) -> Any:
    """Opens a database for reading, in Ibis; any thread may ask it."""
    address = f"{Path(path).resolve().as_uri()}?mode=ro"
    driver = sqlite3.connect(address, uri=True, check_same_thread=False)
    return ibis.sqlite.from_connection(driver)


class SQLiteThroughIbis(IbisConnection):
    """Tables in SQLite, which Ibis opened."""

    def __init__(self, backend: Any) -> None:
        super().__init__(backend)
        self._relations: dict[str, WrittenRelation] = {}
        if sqlite3.sqlite_version_info < _OLDEST:
            raise InvalidPolicy(
                f"Deniable needs SQLite {'.'.join(map(str, _OLDEST))} or later. This Python "
                f"has {sqlite3.sqlite_version}."
            )
        if backend.con.row_factory is not None or backend.con.text_factory is not str:
            raise InvalidPolicy(
                "This connection to SQLite returns rows or text in a form of its own "
                "(row_factory, text_factory). Open one without."
            )
        ((encoding,),) = backend.con.execute("PRAGMA encoding").fetchall()
        if encoding != "UTF-8":
            raise InvalidPolicy(
                f"This database encodes its text as {encoding}. Copy it into a new database, "
                "which has UTF-8 unless you choose otherwise."
            )
        for name, function in sqlite_functions.FUNCTIONS.items():
            backend.con.create_function(name, -1, function, deterministic=True)
        backend.con.create_aggregate("deniable_sum", 1, sqlite_functions.WideSum)

    def add(self, name: str, table: Any) -> None:
        if not isinstance(table.op(), ops.DatabaseTable):
            raise InvalidPolicy(
                f"In SQLite the source of table {name!r} must be a stored table, not an "
                "expression: its functions could fail for a row. Store its rows in a table."
            )
        self._add_stored(name, table.op().namespace.database or "main", table.op().name)

    def add_named(self, name: str, table: str) -> None:
        """Ibis would look at a row to find the type of a column without one."""
        self._add_stored(name, "main", table)

    def _add_stored(self, name: str, place: str, table: str) -> None:
        declared = self._read_columns(place, table)
        row_number = {"rowid", "_rowid_", "oid"} - set(map(str.lower, declared))
        read = {column: how for column, type_ in declared.items() if (how := _read_as(type_))}
        if not read or not row_number:
            raise InvalidPolicy(
                f"Table {table!r} has no column whose type can be queried, or it has columns "
                "that are called rowid, _rowid_ and oid. Rename one, or copy the table."
            )
        relation = f"{quote_name(place)}.{quote_name(table)}"
        selected = [f'{max(row_number)} AS "(row)"']
        selected += [
            f"{expression.format(quote_name(column))} AS {quote_name(column)}"
            for column, (_, _, expression) in read.items()
        ]
        self.types[name] = {column: type_ for column, (type_, _, _) in read.items()}
        self.collated[name] = {
            column for column in read if self._has_collation(relation, column)
        }
        self._relations[name] = WrittenRelation(
            f"(SELECT {', '.join(selected)} FROM {relation})",
            {column: kind for column, (_, kind, _) in read.items()},
        )

    def _read_columns(self, place: str, table: str) -> dict[str, str]:
        """The columns of a stored table and their declared types; reads no row. A view, a
        virtual table and a generated column compute values when a row is read."""
        driver = self.backend.con
        row = driver.execute(
            "SELECT type = 'table' AND NOT wr FROM pragma_table_list "
            "WHERE schema = ? AND name = ? COLLATE NOCASE",
            (place, table),
        ).fetchone()
        if row is None:
            raise InvalidPolicy(f"There is no table {table!r} in this SQLite database.")
        columns = driver.execute(
            "SELECT name, type, hidden FROM pragma_table_xinfo(?, ?)", (table, place)
        ).fetchall()
        if row != (1,) or any(hidden for _, _, hidden in columns):
            raise InvalidPolicy(
                f"{table!r} is a view or a virtual table, has a generated column, or is "
                "WITHOUT ROWID. One row could make it fail, or its rows have no number. Store "
                f"it in a table:   CREATE TABLE ... AS SELECT * FROM {table}"
            )
        return {name: type_ for name, type_, _ in columns}

    def _has_collation(self, relation: str, column: str) -> bool:
        """Whether SQLite compares a column by another collation than BINARY, which its own
        program shows. An index is not used for a value that is selected."""
        steps = self.backend.con.execute(
            f"EXPLAIN SELECT {quote_name(column)} = 'a' FROM {relation}"
        ).fetchall()
        collations = [str(step[5]).partition("-")[0] for step in steps if step[1] == "Eq"]
        return collations != ["BINARY"]

    def write(self, plan: Plan, statement: Statement, salt: int) -> WrittenStatement:
        written = write_statement(SQLITE, self._relations, plan, statement, salt)
        try:
            replaced = self.backend.con.execute(_REPLACED).fetchone()
            self.backend.con.execute(f"EXPLAIN {written.sql}", written.parameters).close()
        except sqlite3.Error as problem:  # no row was read yet
            raise Unsupported(
                f"SQLite cannot run this query ({type(problem).__name__}): it is too long, or "
                "the connection was opened in another thread. Ask for fewer columns or keys at "
                "once, or open another connection. Nothing was spent."
            ) from None
        if replaced is not None:
            raise Unsupported(
                f"This connection replaces SQLite's function {replaced[0]}, which statements "
                "call. Open another one. Nothing was spent."
            )
        return written

    def run(self, statement: WrittenStatement, seconds: float) -> "Iterator[pa.RecordBatch]":
        driver = self.backend.con
        with interrupt_after(seconds, driver), contextlib.closing(driver.cursor()) as cursor:
            cursor.execute(statement.sql, statement.parameters)
            yield _to_batch(cursor.fetchmany(connection.BATCH), statement.columns)
            while rows := cursor.fetchmany(connection.BATCH):
                yield _to_batch(rows, statement.columns)

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """A transaction, unless the connection is in one."""
        driver = self.backend.con
        if driver.in_transaction:
            yield
            return
        driver.execute("BEGIN")
        try:
            yield
        finally:
            driver.rollback()


def _read_as(declared: str) -> tuple[str, Kind, str] | None:
    """How a column of a declared type is read; None if it is left out.

    >>> _read_as("VARCHAR(20)")[0], _read_as("BLOB"), _read_as("")
    ('VARCHAR', None, None)
    """
    type_ = SQLiteType.from_string(declared) if declared else None
    if type_ is None or getattr(type_, "timezone", None) is not None:
        return None
    return next((how for kind, how in _READ.items() if getattr(type_, f"is_{kind}")()), None)


def _to_batch(rows: list[tuple[Any, ...]], kinds: Mapping[str, str]) -> "pa.RecordBatch":
    columns = zip(*rows, strict=True) if rows else ([] for _ in kinds)
    arrays = [
        pa.array([_CONVERT[kind](value) for value in column], _ARROW[kind])
        if kind in _CONVERT
        else pa.array(column, _ARROW[kind])
        for column, kind in zip(columns, kinds.values(), strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=list(kinds))


_CONVERT: dict[str, Callable[[Any], Any]] = {
    "wide": lambda value: None if value is None else sqlite_functions.from_wide(value),
    "double": lambda value: math.nan if value == sqlite_functions.NAN else value,
    "boolean": lambda value: None if value is None else bool(value),
    "date": lambda value: None if value is None else value // sqlite_moments.DAY,
}
