"""DuckDB, embedded and locked down: runs a Plan's statements and returns integers.

Sources are added before the lock. After it the database reads only those files, loads no
extension, and its configuration cannot change. It runs only the Plan's SQL, which our own
syntax trees wrote.
"""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import duckdb
import pyarrow as pa

from deniable.engines.dialect.duckdb_collations import has_collation
from deniable.engines.dialect.duckdb_types import shorten, type_name
from deniable.engines.dialect.duckdb_views import check_definition
from deniable.engines.duckdb import cell_counting, csv_files
from deniable.engines.duckdb.csv_header import read_header
from deniable.engines.duckdb.parquet_files import add_parquet_files, unreadable_source
from deniable.engines.duckdb.source_files import SourceFiles, find_files
from deniable.engines.duckdb.spill import Spill
from deniable.engines.duckdb.stored_rows import StoredRows
from deniable.engines.handover.declared_keys import keys_beside
from deniable.engines.handover.exact_groups import CellCounts, ExactGroups
from deniable.engines.handover.plan_runner import PlanRunner
from deniable.engines.handover.unit_columns import (
    add_unit_columns,
    not_unique,
    select_with_unit,
    tables_to_complete,
)
from deniable.engines.handover.written_plan import WrittenPlan, WrittenStatement
from deniable.errors import InvalidPolicy
from deniable.policy import Column, Policy
from deniable.policy.table import Malformed
from deniable.query.plan.plan import Plan, Statement
from deniable.query.plan.quoting import quote_name, quote_text

# Besides the lock: division by zero is NULL, a day begins at midnight UTC, the order of rows is
# not kept (the release sorts), and a batch of long keys may have more than 2**31 bytes.
_SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "error_on_division_by_zero": "false",
    "preserve_insertion_order": "false",
    "arrow_large_buffer_size": "true",
    "enable_progress_bar": "false",
    "TimeZone": "UTC",
}


_BATCH = 1 << 17  # groups


class DuckDB(PlanRunner):
    """The embedded engine over the tables of a policy.

    >>> engine = DuckDB.open({"visits": pa.table({"ward": ["A", "B"], "cost": [10, 20]})})
    >>> engine.schema("visits")
    {'ward': 'VARCHAR', 'cost': 'BIGINT'}
    """

    name = "DuckDB"
    runs_plan_text = True

    def __init__(
        self,
        sources: Mapping[str, Any],
        *,
        memory: int | None = None,
        malformed: Mapping[str, Malformed] | None = None,
        declared: Mapping[str, Mapping[str, Column]] | None = None,
        units: Mapping[str, str | None] | None = None,
        policy: Policy | None = None,
    ) -> None:
        # Frames are read once: a stream cannot be read again after a failure.
        columns, identifying = declared or {}, units or {}
        self._policy = policy
        super().__init__(
            {
                name: source
                if isinstance(source, str | Path)
                else _read_frame(source, columns.get(name), identifying.get(name))
                for name, source in sources.items()
            }
        )
        self._memory = memory
        self._spill = Spill()
        self._copies: dict[str, pa.Table] = {}
        self._stored = StoredRows()
        self._connection: duckdb.DuckDBPyConnection | None = None
        try:
            self._copy_csv_files(malformed or {})
            self._connection = self._open_connection()
        except BaseException:
            self.close()
            raise

    @classmethod
    def _open_policy(cls, policy: Policy) -> Self:
        tables = policy.tables
        return cls(
            {name: table.source for name, table in tables.items()},
            memory=policy.memory,
            malformed={name: table.malformed for name, table in tables.items()},
            declared={name: table.columns for name, table in tables.items()},
            units={name: table.id_column for name, table in tables.items()},
            policy=policy,
        )

    @classmethod
    def read_schemas(cls, sources: Mapping[str, Any]) -> dict[str, dict[str, str]]:
        """The columns of each source. Of a CSV file only the first line is read."""
        headers: dict[str, Any] = {}
        for name, source in sources.items():
            with _at_source(name):
                files = _csv_files(source)
                if files is not None:
                    headers[name] = read_header(files.paths[0], files.delimiter)
        with cls({name: sources[name] for name in sources if name not in headers}) as engine:
            return {
                name: dict.fromkeys(headers[name].names, "VARCHAR")
                if name in headers
                else engine.schema(name)
                for name in sources
            }

    @classmethod
    def list_tables(cls, source: str) -> list[str]:
        return list_tables(source)

    def close(self) -> None:
        """Closes the sources and deletes what was spilled to disk."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            self._copies = {}
            self._spill.remove()

    def _has_collation(self, table: str, column: str) -> bool:
        source = self._sources[table]
        files = find_files(str(source)) if isinstance(source, str | Path) else None
        if files is None or files.format != "duckdb" or self.schema(table)[column] != "VARCHAR":
            return False
        place = list(self._sources).index(table)
        inner = _attached_table(place, files.inner or table)
        return has_collation(self._connect(), inner, column)

    def _columns(self, table: str) -> dict[str, str]:
        return _describe(self._connect(), table)

    def _check_policy(self, policy: Policy) -> None:
        super()._check_policy(policy)
        for table in policy.tables.values():
            for column in table.unique:
                if self._has_doubles(table.name, column):
                    raise not_unique(table.name, column)

    def _has_doubles(self, table: str, column: str) -> bool:
        """Whether several rows have the same value of a column. Only the owner may know."""
        name, rows = quote_name(column), quote_name(table)
        doubled = (
            f"SELECT 1 FROM {rows} WHERE {name} IS NOT NULL GROUP BY {name} HAVING COUNT(*) > 1"
        )
        try:
            with self._spill.private():
                return bool(self._connect().execute(f"{doubled} LIMIT 1").fetchall())
        except duckdb.Error:
            raise unreadable_source(table) from None

    def _recover(self) -> None:
        """Closes a database that may be unusable, and deletes what it has spilled."""
        broken, self._connection, self._stored = self._connection, None, StoredRows()
        with contextlib.suppress(Exception):
            if broken is not None:
                broken.close()
        self._spill.clear()

    def _write_statement(self, plan: Plan, statement: Statement) -> WrittenStatement:
        """The plan's own text. If there are many cells, it returns each row's, which are
        counted here as they arrive."""
        written = super()._write_statement(plan, statement)
        size = cell_counting.cells_to_count(plan, statement)
        rows = cell_counting.without_counting(statement.sql) if size else None
        return written if rows is None else replace(written, sql=rows, cells=size)

    def _read_groups(self, written: WrittenPlan) -> Iterator[ExactGroups]:
        """The groups, while the plan's keys are tables that its statements can read."""
        connection, beside = self._connect(), keys_beside(written.plan.keys)
        try:
            for name, values in beside.items():
                connection.register(name, pa.table({"key": values}))
            if written.stored is not None:
                with self._spill.private():
                    self._stored.keep(connection, written.stored, self._given)
            yield from super()._read_groups(written)
        finally:
            with contextlib.suppress(duckdb.Error):  # closed after a failure
                for name in beside:
                    connection.unregister(name)

    def forget_stored(self) -> None:
        """Drops the rows that a plan has stored."""
        with self._lock, contextlib.suppress(Exception):  # it may be broken
            self._stored.drop(self._connection)

    def _given(self, parsed: Any) -> dict[str, int]:
        """The salt, if a statement has that parameter."""
        return {"salt": self._salt} if "salt" in parsed.named_parameters else {}

    def _count_cells(self, plan: Plan, statement: WrittenStatement) -> CellCounts:
        if not statement.cells:
            return super()._count_cells(plan, statement)
        return cell_counting.count_cells(self._run_statement(statement), statement.cells)

    def _run_statement(self, statement: WrittenStatement) -> "Iterator[pa.RecordBatch]":
        """Runs one statement."""
        connection = self._connect()
        (parsed,) = connection.extract_statements(statement.sql)
        with self._spill.private():
            reader: Any = connection.sql(parsed, params=self._given(parsed)).to_arrow_reader(
                _BATCH
            )
            try:
                yield _first_batch(reader)
                yield from reader
            finally:
                reader.close()  # frees the connection, even if the rest is never read

    def _copy_csv_files(self, malformed: Mapping[str, Malformed]) -> None:
        """Reads each CSV source once, before any question; the copies stay until the end."""
        for place, (name, source) in enumerate(self._sources.items()):
            with _at_source(name), self._spill.private():
                files = _csv_files(source)
                if files is not None:
                    self._copies[name] = csv_files.copy_csv_files(
                        name, files, malformed.get(name, "refuse"), self._spill.keep(place)
                    )

    def _connect(self) -> duckdb.DuckDBPyConnection:
        if self._connection is None:
            self._connection = self._open_connection()
        return self._connection

    def _open_connection(self) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect(":memory:")
        for name, value in _SETTINGS.items():
            connection.execute(f"SET {name} = '{value}'")
        connection.execute(f"SET temp_directory = {quote_text(self._spill.path)}")
        if self._memory is not None:
            connection.execute(f"SET memory_limit = '{self._memory} B'")
        readable: list[str] = []
        for place, (name, source) in enumerate(self._sources.items()):
            with _at_source(name):
                readable += _add_source(connection, name, self._copies.get(name, source), place)
                _leave_out_long_texts(connection, name, place)
        if self._policy is not None:
            _add_units(connection, self._policy)
        connection.execute(f"SET allowed_paths = [{', '.join(map(quote_text, readable))}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        return connection


def list_tables(source: str) -> list[str]:
    """The tables of a DuckDB database, by name; empty for any other source.

    >>> list_tables("visits.parquet")
    []
    """
    if not source.lower().endswith((".duckdb", ".db")):
        return []
    with duckdb.connect(":memory:") as connection:
        try:
            connection.execute(
                f"ATTACH {quote_text(find_files(source).paths[0])} AS it (READ_ONLY)"
            )
        except duckdb.Error:
            raise unreadable_source(source) from None
        rows = connection.execute(
            "SELECT table_name FROM information_schema.tables "
            "WHERE table_catalog = 'it' AND table_schema = 'main' ORDER BY table_name"
        ).fetchall()
    return [name for (name,) in rows]


def _read_frame(
    frame: Any, declared: Mapping[str, Column] | None, unit: str | None
) -> "pa.Table":
    from deniable.engines.duckdb.frames import to_arrow  # files need no narwhals

    return to_arrow(frame, declared, unit=unit)


def _add_source(
    connection: duckdb.DuckDBPyConnection, name: str, source: Any, place: int
) -> tuple[str, ...]:
    """Adds a source as a table of that name; returns the files that must stay readable."""
    if not isinstance(source, str | Path):
        connection.register(name, source)
        return ()
    files = find_files(str(source))
    if files.format == "parquet":
        return add_parquet_files(connection, name, files.paths)
    try:
        connection.execute(f"ATTACH {quote_text(files.paths[0])} AS source{place} (READ_ONLY)")
    except duckdb.Error:
        raise unreadable_source(name) from None
    check_definition(connection, f"source{place}", files.inner or name)
    _create_view(connection, name, _attached_table(place, files.inner or name))
    return files.paths


def _describe(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    rows = connection.execute(f"DESCRIBE {quote_name(table)}").fetchall()
    return {name: type_name(type_) for name, type_, *_ in rows}


def _add_units(connection: duckdb.DuckDBPyConnection, policy: Policy) -> None:
    """Puts views with the unit's column in the place of tables whose sources lack it."""
    add_unit_columns(policy, {name: _describe(connection, name) for name in policy.tables})
    for table in tables_to_complete(policy):
        stored = f"(rows of {table.name})"
        connection.execute(
            f"ALTER VIEW {quote_name(table.name)} RENAME TO {quote_name(stored)}"
        )
        rows = select_with_unit(table, stored, policy)
        connection.execute(f"CREATE VIEW {quote_name(table.name)} AS {rows}")


def _leave_out_long_texts(connection: duckdb.DuckDBPyConnection, name: str, place: int) -> None:
    """Puts a view without long texts, and with the beginnings of lists, in the place of a
    source."""
    columns = connection.execute(f"DESCRIBE {quote_name(name)}").fetchall()
    shortened = [shorten(quote_name(column), type_) for column, type_, *_ in columns]
    replaced = ", ".join(filter(None, shortened))
    if replaced:
        stored = quote_name(f"(source {place})")
        connection.execute(f"ALTER VIEW {quote_name(name)} RENAME TO {stored}")
        connection.execute(
            f"CREATE VIEW {quote_name(name)} AS SELECT * REPLACE ({replaced}) FROM {stored}"
        )


def _csv_files(source: Any) -> SourceFiles | None:
    """The CSV files of a source; None if it is something else."""
    files = find_files(str(source)) if isinstance(source, str | Path) else None
    return files if files is not None and files.format == "csv" else None


@contextlib.contextmanager
def _at_source(table: str) -> Iterator[None]:
    """Names the table's source as the place of errors that name no place."""
    try:
        yield
    except InvalidPolicy as problem:
        where = problem.where or ("tables", table, "source")
        raise InvalidPolicy(str(problem), where=where) from None


def _attached_table(place: int, name: str) -> str:
    """A table of the attached database with this number."""
    return f"source{place}.{quote_name(name)}"


def _create_view(connection: duckdb.DuckDBPyConnection, name: str, relation: str) -> None:
    """Creates a view without collations. If 'a' and 'A' are equal, the name of their group
    depends on the order of rows, and a declared key may or may not be found."""
    try:
        columns = connection.execute(f"DESCRIBE {relation}").fetchall()
        texts = [quote_name(column[0]) for column in columns if column[1] == "VARCHAR"]
        replaced = ", ".join(f'{text} COLLATE "binary" AS {text}' for text in texts)
        how = f" REPLACE ({replaced})" if texts else ""
        connection.execute(f"CREATE VIEW {quote_name(name)} AS SELECT *{how} FROM {relation}")
    except duckdb.CatalogException:
        raise InvalidPolicy(
            f"The database of table {name!r} has no such table. Name one of its tables after "
            f'a #, as in   source = "hospital.duckdb#visits"'
        ) from None
    except duckdb.Error:
        raise unreadable_source(name) from None


def _first_batch(reader: Any) -> "pa.RecordBatch":
    """The first batch, or an empty one at the end of the stream."""
    try:
        return reader.read_next_batch()
    except StopIteration:
        return pa.RecordBatch.from_pylist([], schema=reader.schema)
