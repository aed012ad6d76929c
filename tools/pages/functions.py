"""The functions of SQL by engine: each use is written in each engine's dialect, as for a plan.

The uses are those that the engine contract compares value by value.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from deniable.engines.dialect.engine_dialect import Dialect
from deniable.engines.dialect.statement_writer import StatementWriter
from deniable.engines.dialect.typed_sql import WrittenRelation
from deniable.engines.ibis.sqlite_writer import SQLITE
from deniable.engines.postgresql.writer import POSTGRESQL
from deniable.engines.spark.writer import SPARK
from deniable.errors import Unsupported

PATH = "reference/functions.md"
ENGINES: Mapping[str, Dialect] = {"Spark": SPARK, "PostgreSQL": POSTGRESQL, "SQLite": SQLITE}
_TYPES: dict[str, Any] = {
    "DOUBLE": "double",
    "VARCHAR": "text",
    "BOOLEAN": "boolean",
    "TIMESTAMP": "timestamp",
}
_TYPES |= {"BIGINT": "int"}


def write_pages() -> dict[str, str]:
    """The page, by its path below docs/."""
    tests = import_module("tests.query.relations.test_function_table")
    lines = [
        "# Functions by engine\n",
        "Made from the code: every function of rows, an example of its use (`x` and `y` are "
        "numbers, `t` and `s` texts, `b` a truth value, `d` and `e` dates), and the engines "
        "that run it. DuckDB runs all. The values are compared with DuckDB's on every engine, "
        "on all pairs of unusual values (`tests/engines/uses.py`). Where it says no, the "
        "question is refused before it costs anything. What each function means: "
        "[SQL](sql.md#functions-of-rows).\n",
        f"| use | DuckDB | {' | '.join(ENGINES)} |",
        f"|---|---|{'---|' * len(ENGINES)}",
    ]
    for uses in tests.USES.values():
        for use in uses:
            ticks = ["yes" if can_write(name, use) else "no" for name in ENGINES]
            text = use.replace("|", "\\|")
            lines.append(f"| `{text}` | yes | {' | '.join(ticks)} |")
    return {PATH: "\n".join(lines) + "\n"}


def can_write(engine: str, use: str) -> bool:
    """Whether an engine can run an expression of the columns of `tests/engines/uses.py`."""
    uses = import_module("tests.engines.uses")
    relation = WrittenRelation(
        '"data"', {name: _TYPES[kind] for name, kind in uses.COLUMNS.items()}
    )
    writer = StatementWriter(ENGINES[engine], {"data": relation})
    try:
        writer.write(uses.statement([use]))
    except Unsupported:
        return False
    return True
