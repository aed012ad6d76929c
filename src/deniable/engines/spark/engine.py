"""Apache Spark, in this process or through Spark Connect: the Plan runs on its executors.

Each source becomes a view with plain types. The statements are written for Spark (`writer`)
so that ANSI mode, time zone and other settings make no difference. Only groups reach the
driver, as a stream of Arrow batches, and the noise is drawn here, once.

If the driver dies during a query, the next query starts a new one. Frames belong to the
session that made them; a new session cannot read them.
"""

import contextlib
import logging
import re
import secrets
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa

from deniable.engines.dialect.statement_writer import write_statement
from deniable.engines.dialect.typed_sql import LISTS, Kind, WrittenRelation
from deniable.engines.handover.declared_keys import keys_beside
from deniable.engines.handover.exact_groups import ExactGroups
from deniable.engines.handover.long_texts import LONGEST_LIST, LONGEST_TEXT
from deniable.engines.handover.plan_runner import PlanRunner
from deniable.engines.handover.written_plan import WrittenPlan, WrittenStatement
from deniable.engines.spark.progress import report_progress
from deniable.engines.spark.session import add_view, check_functions, session_of, stop_session
from deniable.engines.spark.stream import stream_batches
from deniable.engines.spark.writer import SPARK, key_view
from deniable.errors import InvalidPolicy
from deniable.policy.source_addresses import read_address
from deniable.query.plan.plan import STORED, Plan, Statement
from deniable.query.plan.quoting import quote_with_backticks as quote_name

_UTC = "TIMESTAMPADD(MICROSECOND, UNIX_MICROS({0}), TIMESTAMP_NTZ'1970-01-01 00:00:00')"
_TEXT = f"CASE WHEN OCTET_LENGTH({{0}}) <= {LONGEST_TEXT} THEN MAKE_VALID_UTF8({{0}}) END"
# Spark's type, DuckDB's, the writer's kind, and how the column enters the view.
_TYPES: dict[str, tuple[str, Kind, str]] = {
    "tinyint": ("TINYINT", "int", "{0}"),
    "smallint": ("SMALLINT", "int", "{0}"),
    "int": ("INTEGER", "int", "{0}"),
    "bigint": ("BIGINT", "bigint", "{0}"),
    "float": ("FLOAT", "double", "CAST({0} AS DOUBLE)"),
    "double": ("DOUBLE", "double", "{0}"),
    "boolean": ("BOOLEAN", "boolean", "{0}"),
    "date": ("DATE", "date", "{0}"),
    "timestamp_ntz": ("TIMESTAMP", "timestamp", "{0}"),
    "timestamp": ("TIMESTAMP", "timestamp", _UTC),
    "string": ("VARCHAR", "text", _TEXT),
    "binary": ("BLOB", "opaque", "{0}"),
}
_QUIET = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


class Spark(PlanRunner):
    """Spark over the tables of a policy: addresses, or frames of one session."""

    name = "Spark"

    def __init__(self, sources: Mapping[str, Any]) -> None:
        super().__init__(sources)
        self._prefix = f"deniable_{secrets.token_hex(6)}"
        self._session: Any = None
        self._ours = False
        self._stored: tuple[tuple[str, str], Any] | None = None  # text, values, and the frame
        self._types: dict[str, dict[str, str]] = {}
        self._collated: dict[str, set[str]] = {}
        self._relations: dict[str, WrittenRelation] = {}
        for logger in _QUIET:  # PySpark logs an exception's message, which may quote a row
            logging.getLogger(logger).disabled = True
        self._connect()

    @classmethod
    def list_tables(cls, source: str) -> list[str]:
        """The tables of the catalog's current database; empty for a folder of Parquet."""
        if _parquet_folder(source):
            return []
        session, ours = session_of({"": source})
        try:
            tables = session.catalog.listTables()
        finally:
            if ours:
                stop_session(session)
        return sorted(".".join([*(table.namespace or ()), table.name]) for table in tables)

    def close(self) -> None:
        """Drops the views; stops the session if it was started here."""
        self.forget_stored()
        with self._lock:
            session, self._session = self._session, None
            if session is None:
                return
            if self._ours:
                stop_session(session)
            else:
                for relation in self._relations.values():
                    session.catalog.dropTempView(relation.sql)

    def _columns(self, table: str) -> dict[str, str]:
        self._connect()
        return dict(self._types[table])

    def _has_collation(self, table: str, column: str) -> bool:
        return column in self._collated[table]

    def prepare(self, plan: Plan) -> WrittenPlan:
        written = super().prepare(plan)
        check_functions(self._connect())
        return written

    def _write_statement(self, plan: Plan, statement: Statement) -> WrittenStatement:
        write = partial(write_statement, SPARK, salt=self._salt, prefix=self._prefix)
        tables = self._relations
        if plan.stored and statement.kind != "stored":
            columns = write(tables, plan, Statement("stored", STORED, plan.stored)).columns
            kinds = cast("Mapping[str, Kind]", columns)
            tables = {**tables, STORED: WrittenRelation(self._stored_view, kinds)}
        return write(tables, plan, statement)

    @property
    def _stored_view(self) -> str:
        return f"{self._prefix}_stored_rows"

    def _read_groups(self, written: WrittenPlan) -> Iterator[ExactGroups]:
        """The groups, while the plan's keys are views that its statements can read."""
        session, beside = self._connect(), keys_beside(written.plan.keys)
        views = {key_view(self._prefix, name): values for name, values in beside.items()}
        try:
            for view, values in views.items():
                add_view(session, view, pa.table({"key": values}))
            if written.stored is not None:
                self._store(session, written.stored)
            yield from super()._read_groups(written)
        finally:
            with contextlib.suppress(Exception):  # the session may be broken
                for view in views:
                    session.catalog.dropTempView(view)

    def _store(self, session: Any, statement: WrittenStatement) -> None:
        """Lets the executors keep rows, unless they keep those of the same text."""
        definition = statement.sql, repr(sorted(statement.parameters.items()))
        if self._stored is not None and self._stored[0] == definition:
            return
        self._drop_stored()
        frame = session.sql(statement.sql, args=dict(statement.parameters)).persist()
        frame.createOrReplaceTempView(self._stored_view)
        self._stored = definition, frame

    def forget_stored(self) -> None:
        """Lets the executors drop the rows that a plan has stored."""
        with self._lock, contextlib.suppress(Exception):  # the session may be broken
            self._drop_stored()

    def _drop_stored(self) -> None:
        kept, self._stored = self._stored, None
        if kept is not None and self._session is not None:
            self._session.catalog.dropTempView(self._stored_view)
            kept[1].unpersist()

    def _run_statement(self, statement: WrittenStatement) -> "Iterator[pa.RecordBatch]":
        session = self._connect()
        frame = session.sql(statement.sql, args=dict(statement.parameters))
        with report_progress(session, self.progress):
            yield from stream_batches(frame)

    def _recover(self) -> None:
        session = self._session
        try:
            session.range(1).count()
        except Exception:  # the session is broken, for whatever reason
            self._session = self._stored = None
            if self._ours:
                stop_session(session)

    def _connect(self) -> Any:
        if self._session is None:
            session, ours = session_of(self._sources)
            try:
                for number, (name, source) in enumerate(self._sources.items()):
                    self._add_source(session, name, source, f"{self._prefix}_{number}")
            except BaseException:
                if ours:
                    stop_session(session)
                raise
            self._session, self._ours = session, ours
        return self._session

    def _add_source(self, session: Any, name: str, source: Any, view: str) -> None:
        """Creates a view of a source, with plain types."""
        try:
            frame = _read_frame(session, name, source)
            fields = {
                field.name: field.dataType.simpleString() for field in frame.schema.fields
            }
        except InvalidPolicy as problem:
            raise InvalidPolicy(str(problem), where=("tables", name, "source")) from None
        except Exception as problem:
            raise InvalidPolicy(
                f"Spark cannot open the source of table {name!r} ({type(problem).__name__}).",
                where=("tables", name, "source"),
            ) from None
        if len({column.lower() for column in fields}) < len(fields):
            raise InvalidPolicy(
                f"Table {name!r} has two columns with the same name (upper and lower case are "
                "equal). Rename one of them."
            )
        converted = {
            column: conversion
            for column, type_ in fields.items()
            if (conversion := _convert_type(type_))
        }
        if not converted:
            raise InvalidPolicy(f"Table {name!r} has no column whose type can be queried.")
        selected = [
            f"{expression.format(quote_name(column))} AS {quote_name(column)}"
            for column, (_, _, expression) in converted.items()
        ]
        frame.selectExpr(*selected).createOrReplaceTempView(view)
        self._types[name] = {column: type_ for column, (type_, _, _) in converted.items()}
        self._collated[name] = {column for column in converted if "collate" in fields[column]}
        self._relations[name] = WrittenRelation(
            view,
            {column: kind for column, (_, kind, _) in converted.items()},
            _is_deterministic(frame),
        )


def _is_deterministic(frame: Any) -> bool:
    """Whether a frame always has the same rows; Spark Connect cannot say, so True there."""
    java_frame = getattr(frame, "_jdf", None)
    return java_frame is None or bool(java_frame.queryExecution().analyzed().deterministic())


def _convert_type(spark: str) -> tuple[str, Kind, str] | None:
    """DuckDB's type, the kind and the expression for a column of Spark's type."""
    if decimal := re.fullmatch(r"decimal\((\d+),(\d+)\)", spark):
        digits, scale = decimal.groups()
        return f"DECIMAL({digits},{scale})", "decimal" if int(scale) else "wide", "{0}"
    if spark.startswith("string collate"):
        return "VARCHAR", "text", _TEXT.replace("{0}", "({0} COLLATE UTF8_BINARY)")
    if listed := re.fullmatch(r"array<(.*)>", spark):
        return _convert_list(_convert_type(listed[1]))
    return _TYPES.get("string" if spark.startswith(("varchar", "char")) else spark)


def _convert_list(element: tuple[str, Kind, str] | None) -> tuple[str, Kind, str] | None:
    """The same for lists of elements of a type: their beginnings."""
    if element is None or element[1] not in LISTS:
        return None
    type_, kind, expression = element
    inside = expression.format("e")
    first = f"TRANSFORM(SLICE({{0}}, 1, {LONGEST_LIST}), e -> {inside})"
    return f"{type_}[]", LISTS[kind], first


def _read_frame(session: Any, name: str, source: Any) -> Any:
    if not isinstance(source, str):
        return source
    folder = _parquet_folder(source)
    if folder is None:
        table = read_address(source).table or name
        frame = session.table(table)
        _refuse_view(session, table)
        return frame
    # Read days before 1582 as they are stored; some settings would make them an error.
    reader = session.read.option("datetimeRebaseMode", "CORRECTED")
    return reader.option("int96RebaseMode", "CORRECTED").parquet(folder)


def _refuse_view(session: Any, table: str) -> None:
    """Refuses a view that the catalog stores: a conversion in it may fail for a row, and it
    may join or count the rows of others. A temporary view is a frame of the session."""
    if session.catalog.getTable(table).tableType == "VIEW":
        raise InvalidPolicy(
            f"{table} is a view. One row could make it fail, or change other rows. Write it to "
            "a table, in which each row is about one privacy unit."
        )


def _parquet_folder(source: str) -> str | None:
    """The folder of Parquet files that an address names; None if it names none."""
    return next(
        iter(parse_qs(urlsplit(read_address(source).address).query).get("parquet", [])), None
    )
