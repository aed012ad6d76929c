"""PostgreSQL: the Plan runs on the server, in a read-only transaction with a time limit.

    postgresql://reader@db.example.org/hospital?timeout=600#public.visits

`timeout` is the number of seconds that one statement may take. Everything else is as for any
PostgreSQL program, including passwords: PGPASSWORD, a password file, or the whole address from
the environment. Only groups are transferred, row by row, and the noise is drawn here.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa

from deniable.engines.dialect.statement_writer import write_statement
from deniable.engines.dialect.typed_sql import LISTS, Kind, WrittenRelation
from deniable.engines.handover.exact_groups import ExactGroups
from deniable.engines.handover.long_texts import LONGEST_LIST, LONGEST_TEXT
from deniable.engines.handover.plan_runner import PlanRunner
from deniable.engines.handover.time_limits import split_time_limit
from deniable.engines.handover.written_plan import WrittenPlan, WrittenStatement
from deniable.engines.postgresql.source_definitions import check_database, check_definition
from deniable.engines.postgresql.writer import POSTGRESQL
from deniable.errors import InvalidPolicy, MissingExtra
from deniable.policy.source_addresses import SourceAddress, read_address
from deniable.query.plan.plan import Plan, Statement
from deniable.query.plan.quoting import quote_name

_BATCH = 1 << 16  # groups
# Only PostgreSQL's own functions can be called, and the role's settings make no difference.
_SETTINGS = {
    "search_path": "pg_catalog, pg_temp",
    "TimeZone": "'UTC'",
    "DateStyle": "ISO, YMD",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "client_encoding": "'UTF8'",
    "jit": "off",  # compiling our long expressions would take longer than running them
}
_ENCODINGS = ("UTF8", "LATIN1")  # each of their texts can be written in UTF8
_COLLATION = ' COLLATE "C"'
_LIMITED = f"CASE WHEN OCTET_LENGTH({{0}}) <= {LONGEST_TEXT} THEN {{1}} END"
_TEXT = _LIMITED.format("({0})::text", "({0})::text") + _COLLATION
_TEXT_IN_LATIN1 = (
    _LIMITED.format(
        "({0})::text", _LIMITED.format("CONVERT_TO(({0})::text, 'UTF8')", "({0})::text")
    )
    + _COLLATION
)
# PostgreSQL's type, DuckDB's, the writer's kind, and how the column enters a statement.
_TYPES: dict[str, tuple[str, Kind, str]] = {
    "int2": ("SMALLINT", "int", "({0})::bigint"),
    "int4": ("INTEGER", "int", "({0})::bigint"),
    "int8": ("BIGINT", "bigint", "{0}"),
    "oid": ("BIGINT", "bigint", "({0})::bigint"),
    "float4": ("FLOAT", "double", "({0})::float8"),
    "float8": ("DOUBLE", "double", "{0}"),
    "numeric": ("DECIMAL(38,9)", "decimal", "{0}"),
    "bool": ("BOOLEAN", "boolean", "{0}"),
    "date": ("DATE", "date", "{0}"),
    "timestamp": ("TIMESTAMP", "timestamp", "{0}"),
    "timestamptz": ("TIMESTAMP", "timestamp", "({0} AT TIME ZONE 'UTC')"),
    "text": ("VARCHAR", "text", _TEXT),
    "varchar": ("VARCHAR", "text", _TEXT),
    "bpchar": ("VARCHAR", "text", _TEXT),
    "name": ("VARCHAR", "text", "({0})::text" + _COLLATION),
    "uuid": ("VARCHAR", "text", "({0})::text" + _COLLATION),
    "enum": ("VARCHAR", "text", "(ENUM_OUT({0}))::text" + _COLLATION),
    "bytea": ("BLOB", "opaque", "{0}"),
}
# Types of the owner's may have the names of PostgreSQL's own, but not their numbers. Only their
# enumerations are read, by PostgreSQL's own function. PostgreSQL 18 may compute a column when
# it is read; such a column is left out.
_COLUMNS = """
SELECT c.oid, c.oid::regclass::text, a.attname,
       CASE WHEN t.oid < 16384 AND t.typtype = 'b' THEN t.typname
            WHEN t.typtype = 'e' THEN 'enum' END,
       CASE WHEN t.typname = 'numeric' AND a.atttypmod > 3
       THEN (a.atttypmod - 4) & 65535 END AS scale, NOT k.collisdeterministic
FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
JOIN pg_type AS t ON t.oid = a.atttypid LEFT JOIN pg_collation AS k ON k.oid = a.attcollation
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attgenerated <> 'v'
  AND c.oid = COALESCE(to_regclass(%(t)s), CASE WHEN %(t)s NOT LIKE '%%.%%'
                      THEN to_regclass('public.' || %(t)s) END)
  AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_TABLES = """
SELECT format('%I.%I', n.nspname, c.relname)
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND has_table_privilege(c.oid, 'SELECT')
  AND has_schema_privilege(n.oid, 'USAGE') AND NOT c.relispartition
  AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' ORDER BY 1
"""
_ARROW = {
    "int": pa.int64(),
    "bigint": pa.int64(),
    "wide": pa.decimal128(38, 0),
    "text": pa.large_string(),
    "boolean": pa.bool_(),
    "null": pa.null(),
}


class PostgreSQL(PlanRunner):
    """PostgreSQL over the tables of a policy, all in one database."""

    name = "PostgreSQL"

    def __init__(self, sources: Mapping[str, Any]) -> None:
        super().__init__(sources)
        self._places = {name: read_address(source) for name, source in sources.items()}
        if len({address.address for address in self._places.values()}) > 1:
            raise InvalidPolicy("All tables of a policy must be in one PostgreSQL database.")
        self._connection: Any = None
        self._utf8 = True
        self._types: dict[str, dict[str, str]] = {}
        self._collated: dict[str, set[str]] = {}
        self._relations: dict[str, WrittenRelation] = {}
        self._connect()

    @classmethod
    def list_tables(cls, source: str) -> list[str]:
        """The tables and views that the role may read, with their schemas."""
        with _open_connection(read_address(source)) as connection:
            return [name for (name,) in connection.execute(_TABLES).fetchall()]

    def close(self) -> None:
        """Closes the connection."""
        with self._lock:
            self._recover()

    def _columns(self, table: str) -> dict[str, str]:
        return dict(self._types[table])

    def _has_collation(self, table: str, column: str) -> bool:
        return column in self._collated[table]

    def _write_statement(self, plan: Plan, statement: Statement) -> WrittenStatement:
        return write_statement(
            POSTGRESQL, self._relations, plan, statement, self._salt, utf8=self._utf8
        )

    def _read_groups(self, written: WrittenPlan) -> Iterator[ExactGroups]:
        """All statements of a plan run in one transaction, so they see the same rows."""
        with self._connect().transaction():
            yield from super()._read_groups(written)

    def _run_statement(self, statement: WrittenStatement) -> "Iterator[pa.RecordBatch]":
        from psycopg import RawCursor  # runs a text as it is, with $1, $2, ... as parameters

        schema = pa.schema([(name, _ARROW[kind]) for name, kind in statement.columns.items()])
        with RawCursor(self._connection) as cursor:
            parameters = list(statement.parameters.values())
            rows = cursor.stream(statement.sql, parameters, binary=True)
            yield _to_batch(list(islice(rows, _BATCH)), schema)
            while more := list(islice(rows, _BATCH)):
                yield _to_batch(more, schema)

    def _recover(self) -> None:
        broken, self._connection = self._connection, None
        if broken is not None:
            broken.close()

    def _connect(self) -> Any:
        if self._connection is None:
            self._connection = _open_connection(next(iter(self._places.values())))
            encoding = self._connection.info.parameter_status("server_encoding")
            self._utf8 = encoding == "UTF8"
            try:
                check_database(self._connection)
                for name, where in self._places.items():
                    self._add_source(name, where)
            except BaseException:
                self._recover()
                raise
        return self._connection

    def _add_source(self, name: str, where: SourceAddress) -> None:
        """Reads a table's columns: names and types, no value."""
        table = where.table or quote_name(name)
        try:
            with self._connection.transaction():
                columns = self._connection.execute(_COLUMNS, {"t": table}).fetchall()
        except Exception:  # not a valid name, or a name in another database
            columns = []
        converted = {
            column: conversion
            for _, _, column, type_, scale, _ in columns
            if (conversion := _convert_type(type_, scale, utf8=self._utf8))
        }
        if not converted:
            raise InvalidPolicy(
                f"There is no table {table} in this database, or the role may not read it. "
                "Name it with its schema after #, as in   #public.visits",
                where=("tables", name, "source"),
            )
        oid, relation = columns[0][:2]
        try:
            check_definition(self._connection, oid)
        except InvalidPolicy as problem:
            raise InvalidPolicy(str(problem), where=("tables", name, "source")) from None
        self._collated[name] = {column for _, _, column, *_, unequal in columns if unequal}
        selected = ", ".join(
            f"{expression.format(quote_name(column))} AS {quote_name(column)}"
            for column, (_, _, expression) in converted.items()
        )
        self._types[name] = {column: type_ for column, (type_, _, _) in converted.items()}
        self._relations[name] = WrittenRelation(
            f"(SELECT {selected} FROM {relation})",
            {column: kind for column, (_, kind, _) in converted.items()},
        )


def _convert_type(
    name: str | None, scale: int | None, *, utf8: bool
) -> tuple[str, Kind, str] | None:
    """DuckDB's type, the kind and the expression for a column of PostgreSQL's type."""
    if name in ("text", "varchar", "bpchar") and not utf8:
        return "VARCHAR", "text", _TEXT_IN_LATIN1
    if name is not None and name.startswith("_"):  # PostgreSQL's own names of arrays
        return _convert_list(_convert_type(name[1:], None, utf8=utf8))
    if name == "numeric" and scale == 0:
        return "DECIMAL(38,0)", "wide", "{0}"
    return _TYPES.get(name or "")


def _convert_list(element: tuple[str, Kind, str] | None) -> tuple[str, Kind, str] | None:
    """The same for arrays of elements of a type: their beginnings, whatever dimensions and
    first places they have."""
    if element is None or element[1] not in LISTS:
        return None
    type_, kind, expression = element
    order = f"WHERE i <= {LONGEST_LIST} ORDER BY i"
    inside = f"SELECT {expression.format('e')} FROM UNNEST({{0}}) WITH ORDINALITY AS u(e, i)"
    return f"{type_}[]", LISTS[kind], f"ARRAY({inside} {order})"


def _open_connection(where: SourceAddress) -> Any:
    """Opens a read-only connection, with our settings and a time limit."""
    try:
        import psycopg
    except ImportError:
        raise MissingExtra(
            "PostgreSQL needs the package psycopg. Add it with   "
            "pip install 'deniable[postgresql]'"
        ) from None
    address, seconds = split_time_limit(where.address)
    try:
        connection = psycopg.connect(address, autocommit=True, connect_timeout=30)
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        for name, value in _SETTINGS.items():
            connection.execute(f"SET {name} = {value}")
        connection.execute(f"SET statement_timeout = '{seconds}s'")
        encoding = connection.info.parameter_status("server_encoding")
    except psycopg.Error as problem:
        # The server's own message is left out: it may repeat the address.
        host = urlsplit(address).hostname or "the default socket"
        raise InvalidPolicy(
            f"Cannot connect to PostgreSQL at {host} "
            f"({type(problem).__name__}). Check that it runs, and that the role and its "
            "password (in PGPASSWORD or a password file) are correct."
        ) from None
    if encoding not in _ENCODINGS:
        connection.close()
        raise InvalidPolicy(
            f"This database encodes its text as {encoding}, in which a row can have bytes that "
            "are no letter in UTF8; reading it would fail. Use a database with the encoding "
            f"{' or '.join(_ENCODINGS)}."
        )
    return connection


def _to_batch(rows: list[tuple[Any, ...]], schema: "pa.Schema") -> "pa.RecordBatch":
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    arrays = [
        pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
