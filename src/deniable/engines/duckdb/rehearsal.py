"""Made-up rows for a rehearsal: they fit a table's schema, bounds and keys, and nobody.

All that is used is public: the names and types of the columns, and what the policy declares
about them. The rows are the same every time, made by a fixed function of their number.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import duckdb

from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.opening import opened
from deniable.errors import InvalidPolicy
from deniable.policy import Column, Policy, Table

ROWS = 1000
_MOST = 100_000
_TYPES = {"number": "DOUBLE", "boolean": "BOOLEAN", "date": "DATE", "text": "VARCHAR"}
_NAMES = 20  # different texts in a column that declares none


def rehearsal(policy: Policy) -> DuckDB:
    """An engine over made-up rows for every table of a policy.

    >>> table = Table.declare("visits", bounds={"cost": (0, 9)}, keys={"ward": ["A", "B"]})
    >>> rehearsal(Policy([table], epsilon=1)).schema("visits")
    {'cost': 'DOUBLE', 'ward': 'VARCHAR'}
    """
    schemas = _schemas(policy)
    completed = policy.with_schemas(schemas)
    return DuckDB.open(
        {name: made_up(table, schemas[name]) for name, table in completed.tables.items()}
    )


def made_up(table: Table, schema: Mapping[str, str]) -> Any:
    """The rows of one table, as an Arrow table of just the types of its source."""
    count = min(table.expected_rows or ROWS, _MOST)
    units = max(1, count // max(1, table.max_rows_per_unit_per_group))
    chosen = [
        f"TRY_CAST({_made(table.columns[name], place, name == table.unit, units)} AS "
        f"{'VARCHAR' if type_ == 'ENUM' else type_}) AS {_name(name)}"
        for place, (name, type_) in enumerate(schema.items())
    ]
    with duckdb.connect(":memory:") as database:
        rows = f"SELECT {', '.join(chosen)} FROM range({count}) AS made(i) ORDER BY i"
        return database.sql(rows).to_arrow_table()


def _schemas(policy: Policy) -> dict[str, dict[str, str]]:
    """Of each table's source, if it is here; else of the columns that are declared."""
    found = {}
    for name, table in policy.tables.items():
        try:
            if table.source is None:
                raise InvalidPolicy("There is no source.")
            with opened({name: table.source}) as engine:
                found[name] = engine.schema(name)
        except InvalidPolicy:
            found[name] = {
                one.name: _TYPES[one.kind or "text"] for one in table.columns.values()
            }
            if table.unit is not None:
                found[name].setdefault(table.unit, "VARCHAR")
    return found


def _made(column: Column, place: int, is_unit: bool, units: int) -> str:
    """The value of one column in row i, in SQL."""
    drawn = f"hash(i, {place})"
    if is_unit:
        return f"{drawn} % {units}"
    if isinstance(column.keys, tuple):
        listed = ", ".join(map(_literal, column.keys))
        return f"[{listed}][1 + ({drawn} % {len(column.keys)})::INTEGER]"
    if column.bounds is not None:
        return _between(drawn, *column.bounds, column.step)
    if column.kind == "number":
        return f"{drawn} % 10"
    if column.kind == "boolean":
        return f"{drawn} % 2 = 0"
    if column.kind == "date":
        return f"DATE '2025-01-01' + ({drawn} % 365)::INTEGER"
    return f"'made up ' || {drawn} % {_NAMES}" if column.kind == "text" else "NULL"


def _between(drawn: str, low: Fraction, high: Fraction, step: Fraction | None) -> str:
    parts = 1000 if step is None else max(1, min(10**6, math.floor((high - low) / step)))
    width = float(high - low) if step is None else float(step * parts)
    return f"{float(low)!r}::DOUBLE + {width!r}::DOUBLE * ({drawn} % {parts + 1}) / {parts}"


def _literal(value: Any) -> str:
    if isinstance(value, bool | int | float):
        return str(value)
    return "'" + str(value).replace("'", "''") + "'"


def _name(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'
