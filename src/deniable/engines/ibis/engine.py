"""Any Ibis connection: the Plan becomes an Ibis expression, and runs where the data is.

    ibis://duckdb/visits.duckdb#visits        ibis.connect("duckdb://visits.duckdb")
    ibis://bigquery/project/dataset#visits    ibis.connect("bigquery://project/dataset")

A source can also be an Ibis table in Python. Rows stay where they are; only groups are
fetched, within `?timeout=` seconds. Our tests run the engine contract on
DuckDB and Polars through Ibis. Other backends run the same expressions, which do not depend on
how a backend rounds or casts, but their integers were not compared.
"""

import contextlib
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

from deniable.engines.dialect.duckdb_collations import has_collation
from deniable.engines.handover.long_texts import LONGEST_TEXT
from deniable.engines.handover.plan_runner import PlanRunner
from deniable.engines.handover.time_limits import TIMEOUT_SECONDS, split_time_limit
from deniable.engines.ibis.statements import IbisRelation, IbisStatements, Parts
from deniable.engines.ibis.time_limit import call_within, interrupt_after
from deniable.errors import InvalidPolicy, Unsupported
from deniable.policy.source_addresses import is_address, read_address

_BATCH = 1 << 17  # groups
_MAX_CACHED = 64  # statements
_COMPILING = threading.Lock()
_WIDE = pa.decimal128(38, 0)
_FIRST, _LAST = datetime.datetime.min, datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)
# Backends in which NaN is the greatest number, as in DuckDB; elsewhere clipping may miss a NaN.
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
    """An Ibis connection over the tables of a policy.

    >>> import pyarrow as pa
    >>> table = ibis.memtable(pa.table({"ward": ["A"], "cost": [10]}))
    >>> Ibis.open({"visits": table}).schema("visits")
    {'ward': 'VARCHAR', 'cost': 'BIGINT'}
    """

    name = "Ibis"

    def __init__(self, sources: Mapping[str, Any]) -> None:
        super().__init__(sources)
        self._seconds = min(map(_time_limit, sources.values()), default=TIMEOUT_SECONDS)
        self._backend: Any = None
        self._tables: dict[str, Any] = {}
        self._collated: dict[str, set[str]] = {}
        self._cache: dict[str, tuple[IbisRelation, Any]] = {}
        self._connect()

    @classmethod
    def list_tables(cls, source: str) -> list[str]:
        """The tables of a connection."""
        scheme, rest = _resource(read_address(source).address)
        try:
            backend = ibis.connect(_with_password(f"{scheme}://{rest}"))
            return sorted(backend.list_tables())
        except Exception as problem:  # its message may repeat the address
            raise InvalidPolicy(
                f"Ibis cannot list the tables of this source with its backend {scheme} "
                f"({type(problem).__name__}). Name a table after #, as in   #visits"
            ) from None

    def close(self) -> None:
        """Closes the connection if it was opened here."""
        with self._lock:
            backend, self._backend = self._backend, None
            if backend is not None and any(map(is_address, self._sources.values())):
                backend.disconnect()

    def _columns(self, table: str) -> dict[str, str]:
        self._connect()
        schema = self._tables[table].schema()
        return {
            name: _TYPES.get(_type_name(kind), "TIMESTAMP") for name, kind in schema.items()
        }

    def _has_collation(self, table: str, column: str) -> bool:
        return column in self._collated[table]

    def _check_statement(self, sql: str) -> None:
        self._connect()
        self._translate(sql)

    def _run_statement(self, sql: str) -> "Iterator[pa.RecordBatch]":
        self._connect()
        relation, query = self._translate(sql)
        try:
            with self._read_batches(relation, query) as reader:
                empty = True
                for batch in reader:
                    empty = False
                    yield _to_plan_columns(batch, relation)
                if empty:
                    yield _to_plan_columns(
                        pa.RecordBatch.from_pylist([], schema=reader.schema), relation
                    )
        except BaseException as problem:
            # Polars raises it, and it is not an Exception.
            if type(problem).__name__ == "PanicException":
                raise RuntimeError("The backend failed.") from None
            raise

    @contextlib.contextmanager
    def _read_batches(self, relation: IbisRelation, query: Any) -> Iterator[Any]:
        """The rows of a query, in batches, within the time limit."""
        backend = self._backend
        if backend.name == "duckdb":  # Ibis 12 cannot get batches from DuckDB 2 itself
            with interrupt_after(self._seconds, backend.con):
                yield backend.con.sql(query).to_arrow_reader(_BATCH)
        else:
            yield call_within(
                self._seconds,
                lambda: backend.to_pyarrow_batches(relation.table, chunk_size=_BATCH),
            )

    def _recover(self) -> None:
        if all(map(is_address, self._sources.values())):
            self._backend = None

    def _translate(self, sql: str) -> tuple[IbisRelation, Any]:
        """A statement as an Ibis expression and as its backend's query, cached."""
        if sql not in self._cache:
            tree = IbisStatements(self._tables, salt=self._salt, backend=self._backend.name)
            relation = tree.build(sql)
            try:
                query = _compile(self._backend, relation.table)
            except Exception as problem:  # no row was read yet
                raise Unsupported(
                    f"{self._backend.name} does not support this query through Ibis "
                    f"({type(problem).__name__}). Nothing was spent."
                ) from None
            while len(self._cache) >= _MAX_CACHED:
                self._cache.pop(next(iter(self._cache)))
            self._cache[sql] = relation, query
        return self._cache[sql]

    def _connect(self) -> None:
        if self._backend is not None:
            return
        self._cache.clear()
        backends: dict[int, Any] = {}
        connections: dict[str, Any] = {}
        for name, source in self._sources.items():
            table = _open_table(name, source, connections)
            backend = table.get_backend()
            backends[id(backend)] = backend
            if backend.name == "duckdb" and table.op().find(ops.InMemoryTable):
                backend.to_pyarrow(table.limit(0))  # registers it in DuckDB
            self._collated[name] = _find_collated(backend, table)
            self._tables[name] = _select_plain_columns(name, table, self._collated[name])
        if len(backends) != 1:
            raise InvalidPolicy("All tables of a policy must be in one Ibis connection.")
        (self._backend,) = backends.values()
        if self._backend.name not in _NAN_LAST:
            raise InvalidPolicy(
                f"{self._backend.name} does not sort NaN last, so clipping could miss a NaN. "
                f"Backends that do are {', '.join(sorted(_NAN_LAST))}."
            )


def _compile(backend: Any, table: Any) -> Any:
    """A table as its backend's query. Ibis would merge our steps, which takes longer than the
    query; an option turns that off. The option is global, so only one thread compiles."""
    with _COMPILING:
        before = ibis.options.sql.fuse_selects
        ibis.options.sql.fuse_selects = False
        try:
            return backend.compile(table)
        finally:
            ibis.options.sql.fuse_selects = before


def _open_table(name: str, source: Any, connections: dict[str, Any]) -> Any:
    if not isinstance(source, str):
        return source
    address = read_address(source)
    scheme, rest = _resource(address.address)
    resource = f"{scheme}://{rest}"
    try:
        if resource not in connections:
            connections[resource] = ibis.connect(_with_password(resource))
        return connections[resource].table(address.table or name)
    except Exception as problem:
        # Its own message may repeat the address, with the password in it.
        raise InvalidPolicy(
            f"Ibis cannot open the source of table {name!r} with its backend {scheme} "
            f"({type(problem).__name__}). The backend must be installed, as in   "
            f"pip install 'ibis-framework[{scheme}]'",
            where=("tables", name, "source"),
        ) from None


def _resource(address: str) -> tuple[str, str]:
    """The backend that an address names, and what it shall open."""
    scheme, _, rest = split_time_limit(address)[0].removeprefix("ibis://").partition("/")
    return scheme, rest


def _time_limit(source: Any) -> int:
    """How many seconds a statement about a source may take."""
    if not isinstance(source, str):
        return TIMEOUT_SECONDS
    return split_time_limit(read_address(source).address)[1]


def _with_password(resource: str) -> str:
    password = os.environ.get("DENIABLE_IBIS_PASSWORD")
    scheme, _, rest = resource.partition("://")
    user, at, host = rest.partition("@")
    if not password or not at:
        return resource
    return f"{scheme}://{user}:{quote(password, safe='')}@{host}"


# DuckDB's own functions; text that was bytes has no collation.
_to_bytes = ibis.udf.scalar.builtin(
    lambda text: None, name="encode", signature=(("string",), "binary")
)
_from_bytes = ibis.udf.scalar.builtin(
    lambda bytes_: None, name="decode", signature=(("binary",), "string")
)
# The number of bytes of a text.
_duckdb_bytes = ibis.udf.scalar.builtin(
    lambda text: None, name="strlen", signature=(("string",), "int64")
)
_octets = ibis.udf.scalar.builtin(
    lambda text: None, name="octet_length", signature=(("string",), "int64")
)
_polars_bytes = ibis.udf.scalar.pyarrow(
    lambda text: pc.binary_length(text).cast(pa.int64()), signature=(("string",), "int64")
)


def _find_collated(backend: Any, table: Any) -> set[str]:
    """The text columns that DuckDB compares by a collation; Polars has no collations."""
    texts = [name for name, kind in table.schema().items() if kind.is_string()]
    if backend.name != "duckdb" or not texts:
        return set()
    relation = f"({_compile(backend, table)}) AS source"
    return {name for name in texts if has_collation(backend.con, relation, name)}


def _select_plain_columns(name: str, table: Any, collated: set[str]) -> Any:
    """The table's columns of plain types. Days and moments outside the years 1 to 9999, in UTC,
    become NULL: each backend fails at a different day outside them."""
    selected = {}
    for column, kind in table.schema().items():
        if kind.is_timestamp():
            selected[column] = _to_moment(table[column], kind)
        elif kind.is_date():
            days = ibis.literal(_FIRST.date()), ibis.literal(_LAST.date())
            selected[column] = ibis.cases((table[column].between(*days), table[column]))
        elif kind.is_decimal():
            selected[column] = table[column].cast("float64")
        elif kind.is_string():
            selected[column] = _short_text(table[column], collated=column in collated)
        elif _type_name(kind) in _TYPES:
            selected[column] = table[column]
    if not selected:
        raise InvalidPolicy(f"Table {name!r} has no column whose type can be queried.")
    return table.select(**selected)


def _short_text(value: Any, *, collated: bool) -> Any:
    """Text without its collation; NULL if it is too long."""
    lengths = {"duckdb": _duckdb_bytes, "polars": _polars_bytes}
    length = lengths.get(value.get_backend().name, _octets)(value)
    text = _from_bytes(_to_bytes(value)) if collated else value
    return ibis.cases((length <= LONGEST_TEXT, text))


def _to_moment(value: Any, kind: Any) -> Any:
    """A moment, in microseconds; through Ibis, Polars has no TRY_CAST and needs none."""
    has_try_cast = value.get_backend().name != "polars"
    if has_try_cast:
        value = value.try_cast("timestamp(6)")
    elif (kind.scale or 0) > 6:
        return value.cast("timestamp(6)")
    zone = None if has_try_cast or kind.timezone is None else datetime.UTC
    ends = (ibis.literal(end.replace(tzinfo=zone), value.type()) for end in (_FIRST, _LAST))
    return ibis.cases((value.between(*ends), value)).cast("timestamp(6)")


def _type_name(kind: Any) -> str:
    return str(kind).removeprefix("!")


def _to_plan_columns(batch: "pa.RecordBatch", relation: IbisRelation) -> "pa.RecordBatch":
    columns = {
        name: _assemble_column(batch, source) for name, source in relation.columns.items()
    }
    return pa.RecordBatch.from_pydict(columns)


def _assemble_column(batch: "pa.RecordBatch", source: str | Parts) -> Any:
    """One column of the Plan; a wide integer is computed from its parts, exactly."""
    if isinstance(source, str):
        return batch[source]
    parts = [
        (weight, pc.fill_null(batch[values], 0).cast(pa.int64())) for weight, values in source
    ]
    arrays = [(weight, np.asarray(values)) for weight, values in parts]
    largest = sum(abs(weight) * max(map(abs, _range_of(values))) for weight, values in arrays)
    if largest < 2**63:
        small = sum(
            (weight * values for weight, values in arrays), np.zeros(len(batch), np.int64)
        )
        return pa.array(small).cast(_WIDE)
    sums = sum(
        (weight * values.astype(object) for weight, values in arrays), np.zeros(1, object)
    )
    return pa.array(list(sums), _WIDE)


def _range_of(numbers: Any) -> tuple[int, int]:
    return (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
