"""Tables that Ibis opens, in the back ends whose integers were shown to equal DuckDB's.

    ibis://duckdb/visits.duckdb#visits        ibis://sqlite/visits.sqlite#visits

A source can also be an Ibis table in Python. Rows stay where they are; only groups are fetched,
within `?timeout=` seconds. Ibis connects; it does not write the statements. Each back end here
passes the engine contract, and any other is refused when it is opened.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import ibis
import pyarrow as pa

from deniable.engines.handover.exact_groups import ExactGroups
from deniable.engines.handover.plan_runner import PlanRunner
from deniable.engines.handover.time_limits import TIMEOUT_SECONDS, split_time_limit
from deniable.engines.handover.written_plan import WrittenPlan, WrittenStatement
from deniable.engines.ibis.connection import IbisConnection
from deniable.engines.ibis.duckdb_connection import DuckDBThroughIbis
from deniable.engines.ibis.sqlite_connection import SQLiteThroughIbis, open_file
from deniable.errors import InvalidPolicy
from deniable.policy.source_addresses import is_address, read_address
from deniable.query.plan.plan import Plan, Statement

# What opens the path of an address, and what runs statements there.
_BACKENDS: dict[str, tuple[Callable[[str], Any], type[IbisConnection]]] = {
    "duckdb": (lambda path: ibis.duckdb.connect(path, read_only=True), DuckDBThroughIbis),
    "sqlite": (open_file, SQLiteThroughIbis),
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
        self._seconds: float = min(map(_time_limit, sources.values()), default=TIMEOUT_SECONDS)
        self._connection: IbisConnection | None = None
        self._connect()

    @classmethod
    def list_tables(cls, source: str) -> list[str]:
        """The tables of a connection."""
        backend = _open_address(read_address(source).address)
        try:
            return _supported(backend.name)[1](backend).list_tables()
        finally:
            backend.disconnect()

    def close(self) -> None:
        """Closes the connection if it was opened here."""
        with self._lock:
            self._recover()

    def _columns(self, table: str) -> dict[str, str]:
        return dict(self._connect().types[table])

    def _has_collation(self, table: str, column: str) -> bool:
        return column in self._connect().collated[table]

    def _write_statement(self, plan: Plan, statement: Statement) -> WrittenStatement:
        return self._connect().write(plan, statement, self._salt)

    def _read_groups(self, written: WrittenPlan) -> Iterator[ExactGroups]:
        """All statements of a plan see the same rows, if the back end can do that."""
        with self._connect().snapshot():
            yield from super()._read_groups(written)

    def _run_statement(self, statement: WrittenStatement) -> "Iterator[pa.RecordBatch]":
        yield from self._connect().run(statement, self._seconds)

    def _recover(self) -> None:
        """Closes a connection that was opened here; one that was given is kept."""
        if self._connection is not None and all(map(is_address, self._sources.values())):
            broken, self._connection = self._connection, None
            broken.backend.disconnect()

    def _connect(self) -> IbisConnection:
        if self._connection is None:
            self._connection = self._open_connection()
            self.runs_plan_text = self._connection.runs_plan_text
        return self._connection

    def _open_connection(self) -> IbisConnection:
        places: dict[str | int, Any] = {}  # Ibis takes two connections in memory for equal
        for source in self._sources.values():
            if isinstance(source, str):
                places[read_address(source).address] = read_address(source).address
            else:
                places[id(source.get_backend())] = source.get_backend()
        if len(places) != 1:
            raise InvalidPolicy("All tables of a policy must be in one Ibis connection.")
        (place,) = places.values()
        backend = _open_address(place) if isinstance(place, str) else place
        connection = _supported(backend.name)[1](backend)
        for name, source in self._sources.items():
            try:
                if isinstance(source, str):
                    connection.add_named(name, read_address(source).table or name)
                else:
                    connection.add(name, source)
            except Exception as problem:  # a driver's message may hold a value
                why = (
                    str(problem)
                    if isinstance(problem, InvalidPolicy)
                    else (
                        f"{backend.name} cannot open the source of table {name!r} "
                        f"({type(problem).__name__}). Name a table after #, as in   #visits"
                    )
                )
                raise InvalidPolicy(why, where=("tables", name, "source")) from None
        return connection


def _supported(backend: str) -> tuple[Callable[[str], Any], type[IbisConnection]]:
    """What opens a back end, and what runs statements there."""
    if backend not in _BACKENDS:
        raise InvalidPolicy(
            f"The back end {backend!r} of Ibis was not shown to give the same integers as "
            f"DuckDB, so it is refused. Through Ibis you can use {' and '.join(_BACKENDS)}. "
            "PostgreSQL (postgresql://) and Spark (spark://) have engines of their own. A "
            "frame of Polars or pandas needs no Ibis: pass it as it is."
        )
    return _BACKENDS[backend]


def _open_address(address: str) -> Any:
    """Opens the file of an address, for reading."""
    scheme, _, path = split_time_limit(address)[0].removeprefix("ibis://").partition("/")
    opens, _ = _supported(scheme)
    try:
        return opens(path)
    except Exception as problem:  # its message may repeat the address
        raise InvalidPolicy(
            f"Ibis cannot open the source of this address with its back end {scheme} "
            f"({type(problem).__name__}). The file must exist, and the back end must be "
            f"installed, as in   pip install 'ibis-framework[{scheme}]'"
        ) from None


def _time_limit(source: Any) -> int:
    """How many seconds a statement about a source may take."""
    if not isinstance(source, str):
        return TIMEOUT_SECONDS
    return split_time_limit(read_address(source).address)[1]
