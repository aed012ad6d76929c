"""Rows that several plans read, such as the cells of a training: kept in a temporary table.

The table is in memory, and in the private folder if memory is short. It holds the rows of one
definition at a time, which is the text that the kernel has read.
"""

from collections.abc import Callable
from typing import Any

from deniable.engines.handover.written_plan import WrittenStatement
from deniable.query.plan.plan import STORED
from deniable.query.plan.quoting import quote_name


class StoredRows:
    """The stored rows of one database, and what defines them."""

    def __init__(self) -> None:
        self.definition: str | None = None  # None: there are no rows

    def keep(
        self, connection: Any, statement: WrittenStatement, given: Callable[[Any], Any]
    ) -> None:
        """Stores rows, unless those of the same definition are there. `given` has the values
        of a parsed statement's parameters."""
        if self.definition == statement.sql:
            return
        self.definition = ""  # if this is interrupted, the rows of another one are still there
        text = f"CREATE OR REPLACE TEMP TABLE {quote_name(STORED)} AS {statement.sql}"
        (parsed,) = connection.extract_statements(text)
        connection.execute(parsed, given(parsed))
        self.definition = statement.sql

    def drop(self, connection: Any) -> None:
        """Drops the rows, if there are any."""
        definition, self.definition = self.definition, None
        if definition is not None:
            connection.execute(f"DROP TABLE IF EXISTS {quote_name(STORED)}")
