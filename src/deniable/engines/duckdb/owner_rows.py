"""The rows of a source as they are, for attacks that its owner runs against herself."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.handover.written_plan import WrittenStatement
from deniable.policy.table import Malformed
from deniable.query.plan.quoting import quote_name


def read_rows(
    source: Any, *, name: str = "rows", malformed: Malformed = "refuse"
) -> "pa.Table":
    """Every row of a frame or file. They are exact, and have no noise.

    `name` is the table's name in a DuckDB file that does not say it after a #.

    >>> read_rows(pa.table({"age": [30, 60]})).to_pylist()
    [{'age': 30}, {'age': 60}]
    """
    path = str(source) if isinstance(source, Path) else source
    with DuckDB({name: path}, malformed={name: malformed}) as engine:
        statement = WrittenStatement("groups", "", f"SELECT * FROM {quote_name(name)}")
        return pa.Table.from_batches(list(engine._run_statement(statement)))
