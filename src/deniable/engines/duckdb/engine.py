"""DuckDB, embedded and locked down: runs a Plan's statements and returns integers.

Sources are named before the lock; after it the database reads those files and nothing else,
loads nothing, and its configuration cannot change. The only text that it runs is the Plan's,
which our own trees wrote.
"""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import duckdb
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet

from deniable.engines.duckdb import cell_counting, csv_files, frames
from deniable.engines.duckdb.source_files import find_files
from deniable.engines.duckdb.spill import Spill
from deniable.engines.handover.exact_groups import CellCounts
from deniable.engines.handover.plan_runner import PlanRunner
from deniable.errors import InvalidPolicy
from deniable.policy import Policy, Table
from deniable.query.plan.plan import Plan, Statement

# Beyond the lock: a quotient by zero is NULL, a day begins at midnight UTC, the order of rows
# is nobody's business (the release sorts), and long keys may have more than 2**31 bytes.
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

    def __init__(self, sources: Mapping[str, Any], *, memory: int | None = None) -> None:
        super().__init__(sources)
        self._memory = memory
        self._spill = Spill()
        self._connection: duckdb.DuckDBPyConnection | None = self._connect()

    @classmethod
    def open(cls, tables: Policy | Mapping[str, Any]) -> Self:
        """The engine over a policy's sources, or over sources by name: paths and frames."""
        if isinstance(tables, Policy):
            sources = {name: table.source for name, table in tables.tables.items()}
            opened = cls(sources, memory=tables.memory)
            try:
                for table in tables.tables.values():
                    opened._check_unit(table)
                csv_files.check_csv_files(tables)
            except BaseException:
                opened.close()
                raise
            return opened
        return cls(tables)

    @classmethod
    def list_tables(cls, source: str) -> list[str]:
        return list_tables(source)

    def close(self) -> None:
        """Lets go of the sources and of what was spilt to disk."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            self._spill.remove()

    def _check_unit(self, table: Table) -> None:
        """Refuses a unit by which a database takes 'a' for 'A', or not, by rules of its own."""
        files = find_files(str(table.source)) if isinstance(table.source, str | Path) else None
        if table.unit is None or files is None or files.format != "duckdb":
            return
        place = list(self._sources).index(table.name)
        inner = _attached_table(place, files.inner or table.name)
        texts = [name for name, kind in self.schema(table.name).items() if kind == "VARCHAR"]
        unit = next((one for one in texts if one.lower() == table.unit.lower()), None)
        if unit is not None and _has_collation(self._connected(), inner, unit):
            raise InvalidPolicy(
                f"Table {table.name!r} tells people apart by {unit}, and the database compares "
                "that column by a collation, such as NOCASE, in which 'a' and 'A' are one: "
                "who is whom would hang on the order of rows. Store it without a collation, "
                f"as in   CREATE TABLE ... AS SELECT lower({unit}) AS {unit}, ...",
                where=("tables", table.name, "unit"),
            )

    def _columns(self, table: str) -> dict[str, str]:
        found = self._connected().execute(f"DESCRIBE {_quote_name(table)}").fetchall()
        # The values of an ENUM are a list of keys, so they are no part of the type here.
        return {row[0]: "ENUM" if row[1].startswith("ENUM(") else row[1] for row in found}

    def _mend(self) -> None:
        """Lets go of a database that may be unusable, and of what it has spilt."""
        broken, self._connection = self._connection, None
        with contextlib.suppress(Exception):
            if broken is not None:
                broken.close()
        self._spill.clear()

    def _cells(self, plan: Plan, statement: Statement) -> CellCounts:
        """Where there are very many, the rows are counted as they come."""
        size = cell_counting.cells_to_count(plan, statement)
        rows = cell_counting.without_counting(statement.sql) if size else None
        if rows is None:
            return super()._cells(plan, statement)
        return cell_counting.count_cells(self._rows(rows), size)

    def _rows(self, sql: str) -> "Iterator[pa.RecordBatch]":
        """What one statement finds, with the salt where it asks for it: a batch or more."""
        connection = self._connected()
        (statement,) = connection.extract_statements(sql)
        salt = {"salt": self._salt} if "salt" in statement.named_parameters else {}
        with self._spill.private():
            reader: Any = connection.sql(statement, params=salt).to_arrow_reader(_BATCH)
            try:
                yield _first_batch(reader)
                yield from reader
            finally:
                reader.close()  # the connection is free, also where nobody wants the rest

    def _connected(self) -> duckdb.DuckDBPyConnection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect(":memory:")
        for name, value in _SETTINGS.items():
            connection.execute(f"SET {name} = '{value}'")
        connection.execute(f"SET temp_directory = {_quote_text(self._spill.path)}")
        if self._memory is not None:
            connection.execute(f"SET memory_limit = '{self._memory} B'")
        readable: list[str] = []
        for place, (name, source) in enumerate(self._sources.items()):
            try:
                readable += _add_source(connection, name, source, place)
            except InvalidPolicy as problem:
                where = ("tables", name, "source")
                raise InvalidPolicy(str(problem), where=where) from None
        connection.execute(f"SET allowed_paths = [{', '.join(map(_quote_text, readable))}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        return connection


def list_tables(source: str) -> list[str]:
    """The tables that a source holds: those of a database, by name; else none to choose from.

    >>> list_tables("visits.parquet")
    []
    """
    if not source.lower().endswith((".duckdb", ".db")):
        return []
    with duckdb.connect(":memory:") as connection:
        try:
            connection.execute(
                f"ATTACH {_quote_text(find_files(source).paths[0])} AS it (READ_ONLY)"
            )
        except duckdb.Error:
            raise _unreadable_source(source) from None
        found = connection.execute(
            "SELECT table_name FROM information_schema.tables "
            "WHERE table_catalog = 'it' AND table_schema = 'main' ORDER BY table_name"
        ).fetchall()
    return [name for (name,) in found]


def _add_source(
    connection: duckdb.DuckDBPyConnection, name: str, source: Any, place: int
) -> tuple[str, ...]:
    """Makes a source a table of that name; the files that must stay readable."""
    if not isinstance(source, str | Path):
        connection.register(name, frames.to_arrow(source))
        return ()
    files = find_files(str(source))
    listed = f"[{', '.join(map(_quote_text, files.paths))}]"
    if files.format == "csv":
        _create_view(connection, name, csv_files.csv_relation(files))
    elif files.format == "parquet":
        schema = _read_parquet_schema(name, files.paths[0])
        if any(map(_in_milliseconds, schema)):
            connection.register(name, _arrow_dataset(files.paths, schema))
            return ()
        # Parquet's statistics pass over NaN. Unless told so, DuckDB believes them and drops
        # the very comparison that clips a NaN, as long as no other row exceeds the bound.
        # Bytes that are no text become question marks; left alone, they would be an error.
        options = "can_have_nan = true, utf8_validation = 'replace'"
        _create_view(connection, name, f"read_parquet({listed}, {options})")
    else:
        try:
            connection.execute(
                f"ATTACH {_quote_text(files.paths[0])} AS source{place} (READ_ONLY)"
            )
        except duckdb.Error:
            raise _unreadable_source(name) from None
        _create_view(connection, name, _attached_table(place, files.inner or name), plain=True)
    return files.paths


def _attached_table(place: int, name: str) -> str:
    """A table of the database that is the source at some place."""
    return f"source{place}.{_quote_name(name)}"


def _has_collation(connection: duckdb.DuckDBPyConnection, relation: str, column: str) -> bool:
    """Whether a column of text has a collation; two different ones cannot be compared."""
    for other in ("nocase", "nfc"):
        test = f"SELECT {_quote_name(column)} = ('' COLLATE {other}) FROM {relation} LIMIT 0"
        try:
            connection.execute(test)
        except duckdb.BinderException:
            return True
    return False


def _create_view(
    connection: duckdb.DuckDBPyConnection, name: str, relation: str, *, plain: bool = False
) -> None:
    """`plain` takes collations away: which of 'a' and 'A' a group is called by, if they are
    one, hangs on the order of rows, and a declared key would be found or not."""
    try:
        how = ""
        if plain:
            found = connection.execute(f"DESCRIBE {relation}").fetchall()
            texts = [_quote_name(row[0]) for row in found if row[1] == "VARCHAR"]
            replaced = ", ".join(f'{one} COLLATE "binary" AS {one}' for one in texts)
            how = f" REPLACE ({replaced})" if texts else ""
        connection.execute(f"CREATE VIEW {_quote_name(name)} AS SELECT *{how} FROM {relation}")
    except duckdb.CatalogException:
        raise InvalidPolicy(
            f"The database of table {name!r} has no such table. Name the one inside it after "
            f'a #, as in   source = "hospital.duckdb#visits"'
        ) from None
    except duckdb.Error:
        raise _unreadable_source(name) from None


def _unreadable_source(name: str) -> InvalidPolicy:
    return InvalidPolicy(
        f"The source of table {name!r} cannot be opened: it is not what its ending says, or "
        "not all of it is there."
    )


def _read_parquet_schema(name: str, path: str) -> "pa.Schema":
    try:
        return pyarrow.parquet.read_schema(path)
    except (OSError, pa.ArrowException):
        raise _unreadable_source(name) from None


def _in_milliseconds(field: "pa.Field[Any]") -> bool:
    """Whether DuckDB's own Parquet reader raises on far values of such a column."""
    return pa.types.is_timestamp(field.type) and field.type.unit in ("s", "ms")


def _arrow_dataset(files: tuple[str, ...], schema: "pa.Schema") -> "pyarrow.dataset.Dataset":
    """Parquet files as Arrow reads them, with timestamps that have no zone."""
    plain = [
        field.with_type(pa.timestamp(field.type.unit))
        if pa.types.is_timestamp(field.type)
        else field
        for field in schema
    ]
    return pyarrow.dataset.dataset(list(files), schema=pa.schema(plain), format="parquet")


def _first_batch(reader: Any) -> "pa.RecordBatch":
    """The next batch; where there is none, an empty one."""
    try:
        return reader.read_next_batch()
    except StopIteration:
        return pa.RecordBatch.from_pylist([], schema=reader.schema)


def _quote_text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _quote_name(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'
