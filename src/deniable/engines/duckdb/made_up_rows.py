"""Made-up rows for a rehearsal: they fit a table's schema, bounds and keys.

Only public facts are used: the names and types of the columns, and what the policy declares
about them. The rows are always the same: each is a fixed function of its row number.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import duckdb

from deniable.policy import Column, Table
from deniable.policy.column import kind_of_type
from deniable.policy.list_types import element_type
from deniable.query.plan.quoting import quote_name, quote_text

DEFAULT_ROWS = 1000
_MAX_ROWS = 100_000
_LONG_LIST = 4
_DISTINCT_TEXTS = 20  # distinct texts in a column without declared keys


def make_rows(table: Table, schema: Mapping[str, str]) -> Any:
    """The rows of one table, as an Arrow table with the types of its source."""
    count = min(table.expected_rows or DEFAULT_ROWS, _MAX_ROWS)
    units = max(1, count // max(1, table.max_rows_per_unit_per_group))
    selected = [
        f"TRY_CAST({_value_sql(table.columns[name], number, name == table.unit, units)} AS "
        f"{_made_up_type(type_)}) AS {quote_name(name)}"
        for number, (name, type_) in enumerate(schema.items())
    ]
    with duckdb.connect(":memory:") as database:
        rows = f"SELECT {', '.join(selected)} FROM range({count}) AS made(i) ORDER BY i"
        return database.sql(rows).to_arrow_table()


def _made_up_type(type_: str) -> str:
    """The type of made-up values; BLOB instead of types that no question can use."""
    inside = element_type(type_)
    if inside is not None and _made_up_type(inside) != "BLOB":
        return f"{_made_up_type(inside)}[]"
    if kind_of_type(type_) is None:
        return "BLOB"
    return "VARCHAR" if type_ == "ENUM" else type_


def _value_sql(column: Column, number: int, is_unit: bool, units: int) -> str:
    """The value of one column in row i, in SQL."""
    random_number = f"hash(i, {number})"
    if is_unit:
        return f"{random_number} % {units}"
    if column.elements is not None:  # from none to a few
        most = min(column.length or 1, _LONG_LIST)
        elements = [
            _value_sql(column.elements, number + 1000 * i, False, 1) for i in range(1, most + 1)
        ]
        return (
            f"list_slice([{', '.join(elements)}], 1, ({random_number} % {most + 1})::INTEGER)"
        )
    if isinstance(column.keys, tuple):
        listed = ", ".join(map(_literal, column.keys))
        return f"[{listed}][1 + ({random_number} % {len(column.keys)})::INTEGER]"
    if column.bounds is not None:
        return _number_sql(random_number, *column.bounds, column.step)
    if column.kind == "number":
        return f"{random_number} % 10"
    if column.kind == "boolean":
        return f"{random_number} % 2 = 0"
    if column.kind == "date":
        return f"DATE '2025-01-01' + ({random_number} % 365)::INTEGER"
    return (
        f"'made up ' || {random_number} % {_DISTINCT_TEXTS}"
        if column.kind == "text"
        else "NULL"
    )


def _number_sql(
    random_number: str, low: Fraction, high: Fraction, step: Fraction | None
) -> str:
    parts = 1000 if step is None else max(1, min(10**6, math.floor((high - low) / step)))
    width = float(high - low) if step is None else float(step * parts)
    share = f"({random_number} % {parts + 1}) / {parts}"
    return f"{float(low)!r}::DOUBLE + {width!r}::DOUBLE * {share}"


def _literal(value: Any) -> str:
    if isinstance(value, bool | int | float):
        return str(value)
    return quote_text(str(value))
