"""Rehearsals: an engine over made-up rows that fit a policy, to try questions on.

Only public facts are used: the names and types of the columns, and what the policy declares.
"""

from pathlib import Path
from typing import Any

from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.duckdb.frames import to_arrow
from deniable.engines.duckdb.made_up_rows import make_rows
from deniable.engines.handover.unit_columns import add_unit_columns
from deniable.engines.opening import engine_of, read_schemas
from deniable.errors import InvalidPolicy
from deniable.policy import Column, Policy, Table

_TYPES = {"number": "DOUBLE", "boolean": "BOOLEAN", "date": "DATE", "text": "VARCHAR"}


def open_rehearsal(policy: Policy) -> DuckDB:
    """Opens an engine over made-up rows for every table of a policy.

    >>> from deniable.policy import Table
    >>> table = Table.declare("visits", bounds={"cost": (0, 9)}, keys={"ward": ["A", "B"]})
    >>> open_rehearsal(Policy([table], epsilon=1)).schema("visits")
    {'cost': 'DOUBLE', 'ward': 'VARCHAR'}
    """
    lists = {
        name: {key: column for key, column in table.columns.items() if column.elements}
        for name, table in policy.tables.items()
    }
    return DuckDB(make_tables(policy), declared=lists)


def make_tables(policy: Policy) -> dict[str, Any]:
    """Made-up rows for every table of a policy, as Arrow tables.

    >>> table = Table.declare("visits", bounds={"cost": (0, 9)}, expected_rows=5)
    >>> make_tables(Policy([table], epsilon=1))["visits"].num_rows
    5
    """
    schemas = _read_schemas(policy)
    completed = policy.with_schemas(schemas)
    return {name: make_rows(table, schemas[name]) for name, table in completed.tables.items()}


def _read_schemas(policy: Policy) -> dict[str, dict[str, str]]:
    """The columns of each table's source, or the declared columns if it cannot be opened."""
    schemas: dict[str, dict[str, str]] = {}
    for name, table in policy.tables.items():
        try:
            if table.source is None:
                raise InvalidPolicy("There is no source.")
            schemas |= read_schemas({name: _read_frame(table)})
        except InvalidPolicy:
            schemas[name] = {
                column.name: _declared_type(column) for column in table.columns.values()
            }
            step = None if table.path is None else table.path.column
            for column in filter(None, (table.id_column, step, *table.unique)):
                schemas[name].setdefault(column, "VARCHAR")
    return add_unit_columns(policy, schemas)


def _declared_type(column: Column) -> str:
    if column.elements is not None:
        return f"{_declared_type(column.elements)}[]"
    return "BIGINT" if column.integer else _TYPES[column.kind or "text"]


def _read_frame(table: Table) -> Any:
    """The table's source; a frame with the types that a session would give it."""
    if isinstance(table.source, str | Path) or engine_of(table.source) != "duckdb":
        return table.source
    return to_arrow(table.source, table.columns, unit=table.id_column)
