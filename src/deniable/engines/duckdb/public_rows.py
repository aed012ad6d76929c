"""SQL of their owner over rows that are public, such as private copies, in this process."""

from collections.abc import Mapping

import duckdb
import pyarrow as pa

from deniable.engines.duckdb.rows_worker import connect_locked, fill_tables, run_sql
from deniable.errors import InvalidQuery

_MOST_ROWS = 100_000_000


def query_rows(tables: Mapping[str, "pa.Table"], sql: str) -> "pa.Table":
    """The answer of DuckDB. It sees these tables, and no file, setting or Python variable.

    >>> query_rows({"t": pa.table({"x": [1, 2]})}, "SELECT MAX(x) AS x FROM t").to_pylist()
    [{'x': 2}]
    """
    try:
        with connect_locked() as database, fill_tables(database, tables, {}) as connection:
            return run_sql(connection, sql, _MOST_ROWS)
    except (duckdb.Error, ValueError) as problem:
        raise InvalidQuery(f"DuckDB cannot run this question: {problem}") from None
