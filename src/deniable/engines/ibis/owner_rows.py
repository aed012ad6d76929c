"""The rows of a table in SQLite as they are, for attacks that its owner runs on herself."""

import pyarrow as pa

from deniable.engines.handover.written_plan import WrittenStatement
from deniable.engines.ibis.engine import Ibis
from deniable.engines.ibis.sqlite_connection import SQLiteThroughIbis
from deniable.errors import Unsupported
from deniable.query.plan.quoting import quote_name


def read_rows(source: str, *, name: str = "rows") -> "pa.Table":
    """Every row of an address such as ibis://sqlite/visits.sqlite#visits, without noise."""
    engine = Ibis({name: source})
    try:
        connection = engine._connect()
        if not isinstance(connection, SQLiteThroughIbis):
            raise Unsupported(
                "Attacks read tables in SQLite through Ibis. Name a DuckDB file itself as the "
                'source, as in   source = "visits.duckdb#visits"'
            )
        relation = connection._relations[name]
        listed = ", ".join(map(quote_name, relation.columns))
        statement = WrittenStatement(
            "groups", "", f"SELECT {listed} FROM {relation.sql}", columns=relation.columns
        )
        return pa.Table.from_batches(list(engine._run_statement(statement)))
    finally:
        engine.close()
