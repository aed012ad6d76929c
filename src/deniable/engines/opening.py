"""Opens the engine that a policy's sources need: DuckDB for files and frames, or another."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from deniable.engines.handover.plan_runner import PlanRunner
from deniable.engines.handover.unit_columns import add_unit_columns
from deniable.engines.spark.session import is_spark_frame
from deniable.errors import InvalidPolicy, MissingExtra
from deniable.policy import Policy
from deniable.policy.source_addresses import is_address, read_address

_ENGINES = {
    "duckdb": ("deniable.engines.duckdb.engine", "DuckDB"),
    "spark": ("deniable.engines.spark.engine", "Spark"),
    "postgresql": ("deniable.engines.postgresql.engine", "PostgreSQL"),
    "ibis": ("deniable.engines.ibis.engine", "Ibis"),
}


def engine_of(source: Any) -> str:
    """The engine that a source needs.

    >>> engine_of("visits.parquet"), engine_of("spark://local#visits")
    ('duckdb', 'spark')
    """
    if is_address(source):
        return read_address(source).engine
    if isinstance(source, str):
        return "duckdb"  # a file
    if is_spark_frame(source):
        return "spark"
    return "ibis" if type(source).__module__.startswith("ibis.expr.types") else "duckdb"


def list_tables(source: str) -> list[str]:
    """The tables in a file or at an address, by name; empty if it names a single table.

    >>> list_tables("visits.parquet"), list_tables("postgresql://reader@db/hospital#visits")
    ([], [])
    """
    if is_address(source) and read_address(source).table is not None:
        return []
    return _engine_class(engine_of(source)).list_tables(source)


def open_engine(tables: Policy | Mapping[str, Any]) -> PlanRunner:
    """Opens one engine over all sources of a policy, or over sources by name.

    >>> import pyarrow as pa
    >>> open_engine({"visits": pa.table({"ward": ["A"]})})
    DuckDB(visits)
    """
    return _find_engine_class(_list_sources(tables)).open(tables)


def read_schemas(tables: Policy | Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The columns of each source and their types, which are public. Reads no value.

    >>> import pyarrow as pa
    >>> read_schemas({"visits": pa.table({"ward": ["A"]})})
    {'visits': {'ward': 'VARCHAR'}}
    """
    sources = _list_sources(tables)
    schemas = _find_engine_class(sources).read_schemas(sources)
    return add_unit_columns(tables, schemas) if isinstance(tables, Policy) else schemas


def _list_sources(tables: Policy | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(tables, Policy):
        return {name: table.source for name, table in tables.tables.items()}
    return dict(tables)


def _find_engine_class(sources: Mapping[str, Any]) -> type[PlanRunner]:
    """The one engine that can read all sources."""
    needed: dict[str, str] = {}
    for name, source in sources.items():
        try:
            needed[engine_of(source)] = name
        except InvalidPolicy as problem:
            raise InvalidPolicy(str(problem), where=("tables", name, "source")) from None
    if len(needed) > 1:
        listed = ", ".join(f"{name!r} in {engine}" for engine, name in needed.items())
        raise InvalidPolicy(
            f"All tables of a policy must be in one engine; these are in several: {listed}. "
            "Write one policy per engine, or copy the smaller tables."
        )
    return _engine_class(next(iter(needed)))


def _engine_class(engine_name: str) -> type[PlanRunner]:
    module, name = _ENGINES[engine_name]
    try:
        engine: type[PlanRunner] = getattr(import_module(module), name)
    except ImportError:
        raise MissingExtra(
            f"{name} needs a package that is not installed. Add it with   "
            f"pip install 'deniable[{engine_name}]'"
        ) from None
    return engine
