"""DuckDB through Ibis: runs our statements as they are, on the connection that Ibis opened.

The sources stand before the statement, as its first WITH. The settings that a statement's
meaning depends on are set while it runs, and set back afterwards, because the connection is not
ours alone.
"""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import ibis.expr.operations as ops
import pyarrow as pa
import sqlglot
from sqlglot import exp

from deniable.engines.dialect.duckdb_collations import has_collation
from deniable.engines.dialect.duckdb_types import shorten, type_name
from deniable.engines.dialect.duckdb_views import check_definition
from deniable.engines.handover.declared_keys import bare_name, keys_beside, type_of_keys
from deniable.engines.handover.written_plan import WrittenStatement
from deniable.engines.ibis import connection
from deniable.engines.ibis.connection import IbisConnection, interrupt_after
from deniable.errors import InvalidPolicy
from deniable.query.plan.plan import STORED, Plan, Statement
from deniable.query.plan.quoting import quote_name

_SETTINGS = {
    "error_on_division_by_zero": "false",
    "ieee_floating_point_ops": "true",
    "integer_division": "false",
    "default_collation": "",
    "arrow_large_buffer_size": "true",
    "TimeZone": "UTC",
}
# A macro may replace a function that our statements call, also one of an operator.
_REPLACED = """
SELECT function_name FROM duckdb_functions() WHERE NOT internal
INTERSECT SELECT function_name FROM duckdb_functions() WHERE internal ORDER BY 1 LIMIT 1
"""
_COLLATION = ' COLLATE "binary"'


class DuckDBThroughIbis(IbisConnection):
    """Tables in DuckDB, which Ibis opened."""

    runs_plan_text = True

    def __init__(self, backend: Any) -> None:
        super().__init__(backend)
        self._sources: dict[str, str] = {}
        replaced = backend.con.execute(_REPLACED).fetchall()
        if replaced:
            raise InvalidPolicy(
                f"This database defines a function {replaced[0][0]}, which DuckDB has too, and "
                "statements could call either. Drop it."
            )

    def list_tables(self) -> list[str]:
        """Ibis 12 cannot list the tables of DuckDB 2."""
        rows = self.backend.con.execute("SHOW TABLES").fetchall()
        return sorted(name for (name,) in rows)

    def add(self, name: str, table: Any) -> None:
        """An Ibis expression becomes DuckDB's SQL here, once; the owner vouches for it, but not
        for the views that it reads: they are stored, and anyone may have made them."""
        query = self.backend.compile(table)  # with the text of an expression that is SQL
        for read in sqlglot.parse_one(query, dialect="duckdb").find_all(exp.Table):
            self._check(read.name, read.catalog or None, read.db or None)
        if table.op().find(ops.InMemoryTable):
            self.backend.to_pyarrow(table.limit(0))  # registers it in DuckDB
        self._add_query(name, query)

    def add_named(self, name: str, table: str) -> None:
        self._check(table)
        self._add_query(name, f"SELECT * FROM {quote_name(table)}")

    def _check(
        self, table: str, database: str | None = None, schema: str | None = None
    ) -> None:
        """Refuses a stored view by which one row could fail or change other rows. A temporary
        one was made on this connection, as expressions are: frames and files are such views."""
        driver = self.backend.con
        defaults = driver.execute("SELECT current_database(), current_schema()").fetchone()
        check_definition(driver, database or defaults[0], table, schema or defaults[1])

    def _add_query(self, name: str, query: str) -> None:
        driver, relation = self.backend.con, f"({query}) AS source"
        self._sources[name] = query
        rows = driver.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        self.types[name] = {column: type_name(type_) for column, type_, *_ in rows}
        texts = (column for column, type_ in self.types[name].items() if type_ == "VARCHAR")
        self.collated[name] = {
            column for column in texts if has_collation(driver, relation, column)
        }

    def write(self, plan: Plan, statement: Statement, salt: int) -> WrittenStatement:
        """The statement that DuckDB's own engine runs, after its sources."""
        keys = keys_beside(plan.keys)
        values = {bare_name(name): listed.to_pylist() for name, listed in keys.items()}
        sources = self._with_sources(keys)
        if plan.stored and statement.kind != "stored":
            sources += f", {quote_name(STORED)} AS MATERIALIZED ({plan.stored})"
        sql = sources + _after_with(statement.sql)
        parameters = {"salt": salt, **values}
        return WrittenStatement(statement.kind, statement.name, sql, parameters, before=sources)

    def run(self, statement: WrittenStatement, seconds: float) -> "Iterator[pa.RecordBatch]":
        driver = self.backend.con
        with _settings(driver), interrupt_after(seconds, driver):
            (parsed,) = driver.extract_statements(statement.sql)
            parameters = statement.parameters
            used = {name: parameters[name] for name in parsed.named_parameters}
            reader: Any = driver.sql(parsed, params=used).to_arrow_reader(connection.BATCH)
            try:
                batch = next(reader, None)
                yield batch or pa.RecordBatch.from_pylist([], schema=reader.schema)
                yield from reader
            finally:
                reader.close()

    def _with_sources(self, keys: "Mapping[str, pa.Array[Any]]") -> str:
        """The sources and keys of a statement. All sources are read before any gets its name,
        so that one may be an expression about a table with another one's name."""
        stored = [
            f"{quote_name(f'(source {place})')} AS NOT MATERIALIZED ({source})"
            for place, source in enumerate(self._sources.values())
        ]
        named = [
            f"{quote_name(name)} AS NOT MATERIALIZED ({self._select_short_texts(place, name)})"
            for place, name in enumerate(self._sources)
        ]
        listed = [
            f"{quote_name(name)} AS (SELECT unnest(CAST(${bare_name(name)} "
            f"AS {type_of_keys(values)}[])) AS key)"
            for name, values in keys.items()
        ]
        return f"WITH {', '.join(stored + named + listed)}"

    def _select_short_texts(self, place: int, name: str) -> str:
        """A source without long texts and without collations."""
        columns = self.types[name].items()
        short = [shorten(quote_name(column), type_, _COLLATION) for column, type_ in columns]
        replaced = ", ".join(filter(None, short))
        replaced = f" REPLACE ({replaced})" if replaced else ""
        return f"SELECT *{replaced} FROM {quote_name(f'(source {place})')}"


def _after_with(sql: str) -> str:
    """A statement, to be written after a WITH.

    >>> _after_with("WITH a AS (SELECT 1) SELECT 2"), _after_with("SELECT 2")
    (', a AS (SELECT 1) SELECT 2', ' SELECT 2')
    """
    return f", {sql.removeprefix('WITH ')}" if sql.startswith("WITH ") else f" {sql}"


@contextlib.contextmanager
def _settings(driver: Any) -> Iterator[None]:
    """Our settings, and the connection's own again afterwards."""
    current = ", ".join(f"current_setting('{name}')" for name in _SETTINGS)
    (values,) = driver.execute(f"SELECT {current}").fetchall()
    before = dict(zip(_SETTINGS, values, strict=True))
    try:
        for name, value in _SETTINGS.items():
            driver.execute(f"SET {name} = '{value}'")
        yield
    finally:
        for name, value in before.items():
            with contextlib.suppress(Exception):  # the connection may be closed
                driver.execute(f"SET {name} = '{value}'")
