"""Any connection of Ibis: the Plan's tree becomes an expression, and runs where the data is.

    ibis://duckdb/visits.duckdb#visits        ibis.connect("duckdb://visits.duckdb")
    ibis://bigquery/project/dataset#visits    ibis.connect("bigquery://project/dataset")

A table of Ibis may also be handed over from Python. Rows stay where they are: what is fetched
are groups. DuckDB and Polars through Ibis keep the engine contract in our tests; other
backends run the same expressions, in which nothing hangs on how a backend rounds or casts,
but nobody has compared their integers.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import ibis
import ibis.expr.operations as ops
import pyarrow as pa
import pyarrow.compute as pc

from deniable.engines.ibis_tree import Tree
from deniable.engines.running import Running
from deniable.errors import InvalidPolicy
from deniable.policy.places import is_address, place

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


class Ibis(Running):
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
        self._connected()

    def close(self) -> None:
        """Ends a connection that was opened here; tables of somebody else's are left alone."""
        with self._lock:
            backend, self._backend = self._backend, None
            if backend is not None and any(map(is_address, self._sources.values())):
                backend.disconnect()

    def _columns(self, table: str) -> dict[str, str]:
        self._connected()
        schema = self._tables[table].schema()
        return {name: _TYPES.get(_base(kind), "TIMESTAMP") for name, kind in schema.items()}

    def _check(self, sql: str) -> None:
        self._tree().statement(sql)

    def _rows(self, sql: str) -> "Iterator[pa.RecordBatch]":
        self._connected()
        relation = self._tree().statement(sql)
        found = self._backend.to_pyarrow(relation.table)
        columns = relation.columns.items()
        whole = pa.table({name: _column(found, held) for name, held in columns})
        yield from whole.to_batches() or [pa.RecordBatch.from_pylist([], schema=whole.schema)]

    def _mend(self) -> None:
        if all(map(is_address, self._sources.values())):
            self._backend = None

    def _tree(self) -> Tree:
        ranks = self._backend.has_operation(ops.WindowFunction)
        return Tree(self._tables, salt=self._salt, ranks=ranks)

    def _connected(self) -> None:
        if self._backend is not None:
            return
        backends: dict[int, Any] = {}
        opened: dict[str, Any] = {}
        for name, source in self._sources.items():
            table = _table(name, source, opened)
            self._tables[name] = _plain(name, table)
            backend = table.get_backend()
            backends[id(backend)] = backend
        if len(backends) != 1:
            raise InvalidPolicy("All tables of a policy must be in one connection of Ibis.")
        (self._backend,) = backends.values()
        if self._backend.name not in _NAN_LAST:
            raise InvalidPolicy(
                f"{self._backend.name} does not sort NaN last, so a NaN could pass by a limit. "
                f"Ibis serves {', '.join(sorted(_NAN_LAST))} here."
            )


def _table(name: str, source: Any, opened: dict[str, Any]) -> Any:
    if not isinstance(source, str):
        return source
    found = place(source)
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


def _plain(name: str, table: Any) -> Any:
    """The table's columns of plain types: moments in UTC, the others as they are."""
    chosen = {}
    for column, kind in table.schema().items():
        if kind.is_timestamp():
            chosen[column] = table[column].cast("timestamp(6)")
        elif kind.is_decimal():
            chosen[column] = table[column].cast("float64")
        elif _base(kind) in _TYPES:
            chosen[column] = table[column]
    if not chosen:
        raise InvalidPolicy(f"Table {name!r} has no column that can be asked about.")
    return table.select(**chosen)


def _base(kind: Any) -> str:
    return str(kind).removeprefix("!")


def _column(found: "pa.Table", held: Any) -> Any:
    """One of our columns; a wide integer is put together from its parts, exactly."""
    if isinstance(held, str):
        return found[held]
    parts = [(weight, pc.fill_null(found[one], 0).to_pylist()) for weight, one in held]
    rows = len(found)
    sums = [sum(weight * column[i] for weight, column in parts) for i in range(rows)]
    return pa.array(sums, pa.decimal128(38, 0))
