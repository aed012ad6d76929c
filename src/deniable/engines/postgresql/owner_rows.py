"""The rows of a table in PostgreSQL as they are, for attacks that its owner runs against
herself."""

from typing import Any

import pyarrow as pa

from deniable.engines.postgresql.engine import PostgreSQL
from deniable.query.plan.quoting import quote_name

_ARROW: dict[str, Any] = {
    "int": pa.int64(),
    "bigint": pa.int64(),
    "wide": pa.float64(),
    "decimal": pa.float64(),
    "double": pa.float64(),
    "text": pa.large_string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}


def read_rows(source: str, *, name: str = "rows") -> "pa.Table":
    """Every row of an address such as postgresql://db/hospital#visits, without noise. Numbers
    with a fraction become doubles; columns that can only be compared are left out."""
    engine = PostgreSQL({name: source})
    try:
        relation = engine._relations[name]
        kinds = {column: kind for column, kind in relation.columns.items() if kind in _ARROW}
        # A decimal of many digits becomes a double there, and a day beyond Python's years NULL.
        listed = ", ".join(
            _SELECTED.get(k, "{0}").format(quote_name(c)) for c, k in kinds.items()
        )
        rows = engine._connect().execute(f"SELECT {listed} FROM {relation.sql} AS t").fetchall()
    finally:
        engine.close()
    columns = zip(*rows, strict=True) if rows else ([] for _ in kinds)
    arrays = [
        pa.array(cells, _ARROW[k]) for cells, k in zip(columns, kinds.values(), strict=True)
    ]
    return pa.Table.from_arrays(arrays, names=list(kinds))


_YEARS = "CASE WHEN {0} BETWEEN '0001-01-01' AND '9999-12-31' THEN {0} END"
_SELECTED = {
    "wide": "({0})::float8",
    "decimal": "({0})::float8",
    "date": _YEARS,
    "timestamp": _YEARS,
}
