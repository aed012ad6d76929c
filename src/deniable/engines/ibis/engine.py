"""Any connection of Ibis: the Plan's tree becomes an expression, and runs where the data is.

    ibis://duckdb/visits.duckdb#visits        ibis.connect("duckdb://visits.duckdb")
    ibis://bigquery/project/dataset#visits    ibis.connect("bigquery://project/dataset")

A table of Ibis may also be handed over from Python. Rows stay where they are: what is fetched
are groups. DuckDB and Polars through Ibis keep the engine contract in our tests; other
backends run the same expressions, in which nothing hangs on how a backend rounds or casts,
but nobody has compared their integers.
"""

import datetime
import os
import threading
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import ibis
import ibis.expr.operations as ops
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deniable.engines.handover.plan_runner import PlanRunner
from deniable.engines.ibis.statements import IbisRelation, IbisStatements, Parts
from deniable.errors import InvalidPolicy, Unsupported
from deniable.policy.source_addresses import is_address, read_address

_BATCH = 1 << 17  # groups
_MAX_CACHED = 64  # statements
_COMPILING = threading.Lock()
_WIDE = pa.decimal128(38, 0)
_FIRST, _LAST = datetime.datetime.min, datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)
# Where NaN is the greatest number, as in DuckDB; elsewhere a row could slip through a clip.
_NAN_LAST = frozenset({"duckdb", "polars", "postgres", "pyspark", "snowflake", "datafusion"})
_TYPES = {
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "uint8": "UTINYINT",
    "uint16": "USMALLINT",
    "uint32": "UINTEGER",
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
}


class Ibis(PlanRunner):
    """A connection of Ibis over the tables of a policy.

    >>> import pyarrow as pa
    >>> table = ibis.memtable(pa.table({"ward": ["A"], "cost": [10]}))
    >>> Ibis.open({"visits": table}).schema("visits")
    {'ward': 'VARCHAR', 'cost': 'BIGINT'}
    """

    name = "Ibis"

    def __init__(self, sources: Mapping[str, Any]) -> None:
        super().__init__(sources)
        self._backend: Any = None
        self._tables: dict[str, Any] = {}
        self._kept: dict[str, tuple[IbisRelation, Any]] = {}
        self._connected()

    @classmethod
    def list_tables(cls, source: str) -> list[str]:
        """The tables of a connection."""
        scheme, _, rest = read_address(source).address.removeprefix("ibis://").partition("/")
        try:
            backend = ibis.connect(_with_password(f"{scheme}://{rest}"))
            return sorted(backend.list_tables())
        except Exception as problem:  # whose words may repeat the address
            raise InvalidPolicy(
                f"Ibis cannot list the tables there with its backend {scheme} "
                f"({type(problem).__name__}). Name one after #, as in   #visits"
            ) from None

    def close(self) -> None:
        """Ends a connection that was opened here; tables of somebody else's are left alone."""
        with self._lock:
            backend, self._backend = self._backend, None
            if backend is not None and any(map(is_address, self._sources.values())):
                backend.disconnect()

    def _columns(self, table: str) -> dict[str, str]:
        self._connected()
        schema = self._tables[table].schema()
        return {
            name: _TYPES.get(_type_name(kind), "TIMESTAMP") for name, kind in schema.items()
        }

    def _check(self, sql: str) -> None:
        self._connected()
        self._said(sql)

    def _rows(self, sql: str) -> "Iterator[pa.RecordBatch]":
        self._connected()
        relation, query = self._said(sql)
        try:
            reader = self._reader(relation, query)
            empty = True
            for batch in reader:
                empty = False
                yield _to_plan_columns(batch, relation)
            if empty:
                yield _to_plan_columns(
                    pa.RecordBatch.from_pylist([], schema=reader.schema), relation
                )
        except BaseException as problem:
            if type(problem).__name__ == "PanicException":  # Polars, beside all exceptions
                raise RuntimeError("The backend broke off.") from None
            raise

    def _reader(self, relation: IbisRelation, query: Any) -> Any:
        """What a backend finds, in batches; Ibis 12 asks DuckDB 2 for them in vain."""
        if self._backend.name == "duckdb":
            return self._backend.con.sql(query).to_arrow_reader(_BATCH)
        return self._backend.to_pyarrow_batches(relation.table, chunk_size=_BATCH)

    def _mend(self) -> None:
        if all(map(is_address, self._sources.values())):
            self._backend = None

    def _said(self, sql: str) -> tuple[IbisRelation, Any]:
        """A statement as Ibis has it and as its backend has it; the last ones are kept."""
        if sql not in self._kept:
            tree = IbisStatements(self._tables, salt=self._salt, backend=self._backend.name)
            relation = tree.statement(sql)
            try:
                query = _compile(self._backend, relation.table)
            except Exception as problem:  # whatever Ibis says there; no row was read
                raise Unsupported(
                    f"{self._backend.name} has no words for this through Ibis "
                    f"({type(problem).__name__}). Nothing was spent."
                ) from None
            while len(self._kept) >= _MAX_CACHED:
                self._kept.pop(next(iter(self._kept)))
            self._kept[sql] = relation, query
        return self._kept[sql]

    def _connected(self) -> None:
        if self._backend is not None:
            return
        self._kept.clear()
        backends: dict[int, Any] = {}
        opened: dict[str, Any] = {}
        for name, source in self._sources.items():
            table = _open_table(name, source, opened)
            self._tables[name] = _select_plain_columns(name, table)
            backend = table.get_backend()
            backends[id(backend)] = backend
            if backend.name == "duckdb" and table.op().find(ops.InMemoryTable):
                backend.to_pyarrow(table.limit(0))  # so that DuckDB learns of it
        if len(backends) != 1:
            raise InvalidPolicy("All tables of a policy must be in one connection of Ibis.")
        (self._backend,) = backends.values()
        if self._backend.name not in _NAN_LAST:
            raise InvalidPolicy(
                f"{self._backend.name} does not sort NaN last, so a NaN could pass by a limit. "
                f"Ibis serves {', '.join(sorted(_NAN_LAST))} here."
            )


def _compile(backend: Any, table: Any) -> Any:
    """A table in its backend's words. Ibis would put our steps together again, which takes
    longer than the answer; it is told not to, one at a time, because all share its options."""
    with _COMPILING:
        before = ibis.options.sql.fuse_selects
        ibis.options.sql.fuse_selects = False
        try:
            return backend.compile(table)
        finally:
            ibis.options.sql.fuse_selects = before


def _open_table(name: str, source: Any, opened: dict[str, Any]) -> Any:
    if not isinstance(source, str):
        return source
    found = read_address(source)
    resource = found.address.removeprefix("ibis://")
    scheme, _, rest = resource.partition("/")
    try:
        if resource not in opened:
            opened[resource] = ibis.connect(_with_password(f"{scheme}://{rest}"))
        return opened[resource].table(found.table or name)
    except Exception as problem:
        # Its words may repeat the address, with the password in it.
        raise InvalidPolicy(
            f"Ibis cannot open the source of table {name!r} with its backend {scheme} "
            f"({type(problem).__name__}). The backend must be installed, as in   "
            f"pip install 'ibis-framework[{scheme}]'",
            where=("tables", name, "source"),
        ) from None


def _with_password(resource: str) -> str:
    password = os.environ.get("DENIABLE_IBIS_PASSWORD")
    scheme, _, rest = resource.partition("://")
    user, at, host = rest.partition("@")
    if not password or not at:
        return resource
    return f"{scheme}://{user}:{quote(password, safe='')}@{host}"


def _select_plain_columns(name: str, table: Any) -> Any:
    """The table's columns of plain types: days and moments of the years 1 to 9999, in UTC.

    Others are NULL: beyond, backends fail, each at another day."""
    chosen = {}
    for column, kind in table.schema().items():
        if kind.is_timestamp():
            chosen[column] = _to_moment(table[column], kind)
        elif kind.is_date():
            days = ibis.literal(_FIRST.date()), ibis.literal(_LAST.date())
            chosen[column] = ibis.cases((table[column].between(*days), table[column]))
        elif kind.is_decimal():
            chosen[column] = table[column].cast("float64")
        elif _type_name(kind) in _TYPES:
            chosen[column] = table[column]
    if not chosen:
        raise InvalidPolicy(f"Table {name!r} has no column that can be asked about.")
    return table.select(**chosen)


def _to_moment(value: Any, kind: Any) -> Any:
    """A moment, in microseconds; Polars, as Ibis has it, tries no cast and needs none."""
    tries = value.get_backend().name != "polars"
    if tries:
        value = value.try_cast("timestamp(6)")
    elif (kind.scale or 0) > 6:
        return value.cast("timestamp(6)")
    zone = None if tries or kind.timezone is None else datetime.UTC
    ends = (ibis.literal(one.replace(tzinfo=zone), value.type()) for one in (_FIRST, _LAST))
    return ibis.cases((value.between(*ends), value)).cast("timestamp(6)")


def _type_name(kind: Any) -> str:
    return str(kind).removeprefix("!")


def _to_plan_columns(found: "pa.RecordBatch", relation: IbisRelation) -> "pa.RecordBatch":
    columns = {name: _assemble_column(found, held) for name, held in relation.columns.items()}
    return pa.RecordBatch.from_pydict(columns)


def _assemble_column(found: "pa.RecordBatch", held: str | Parts) -> Any:
    """One of our columns; a wide integer is put together from its parts, exactly."""
    if isinstance(held, str):
        return found[held]
    parts = [(weight, pc.fill_null(found[one], 0).cast(pa.int64())) for weight, one in held]
    arrays = [(weight, np.asarray(one)) for weight, one in parts]
    most = sum(abs(weight) * max(map(abs, _range_of(one))) for weight, one in arrays)
    if most < 2**63:
        small = sum((weight * one for weight, one in arrays), np.zeros(len(found), np.int64))
        return pa.array(small).cast(_WIDE)
    sums = sum((weight * one.astype(object) for weight, one in arrays), np.zeros(1, object))
    return pa.array(list(sums), _WIDE)


def _range_of(numbers: Any) -> tuple[int, int]:
    return (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
