"""Which rows a session is about: all, or those of one part of a table."""

from collections.abc import Sequence
from dataclasses import dataclass

from deniable.errors import InvalidParameter
from deniable.exact.suggestions import suggest
from deniable.ledger.accounts import PartPath
from deniable.policy import Policy
from deniable.query.plan.plan import KeyValue, Plan
from deniable.query.statements.partition import (
    Part,
    check_part_keys,
    partition_name,
    reads_only_part,
    restrict_to_part,
)


@dataclass(frozen=True, slots=True)
class TablePart:
    """All rows; or the rows of one table in which some columns have given values.

    >>> print(TablePart("visits", (("ward", "A"),)))
    visits (ward 'A')
    """

    table: str | None = None
    part: Part = ()
    path: PartPath = ()  # the part's name in the ledger, outermost first

    def restrict(self, plan: Plan, policy: Policy) -> Plan:
        """The plan, restricted to these rows."""
        if self.table is None:
            return plan
        if plan.tables != (self.table,):
            raise InvalidParameter(
                f"This session is about a part of {self.table} and answers questions about "
                "that table only. Use the whole session for other tables."
            )
        return restrict_to_part(plan, policy.tables[self.table], self.part)

    def holds(self, plan: Plan, policy: Policy) -> bool:
        """Whether a plan reads only these rows. It is judged by its statements."""
        if self.table is None or plan.part != self.part:
            return plan.part == self.part
        whole = policy.tables[self.table]
        return plan.tables == (self.table,) and reads_only_part(plan, whole, self.part)

    def divide(
        self, policy: Policy, column: str, keys: Sequence[KeyValue], table: str | None
    ) -> "dict[KeyValue, TablePart]":
        """One part for each key of a column."""
        if not isinstance(column, str):
            raise InvalidParameter(f"`column` must be the name of a column. Found {column!r}.")
        name = table or self.table or _only_table_with(policy, column)
        declared = policy.tables.get(name)
        if declared is None or declared.public or self.table not in (None, name):
            raise InvalidParameter(f"This session has no private table {name!r} to divide.")
        column_name, values = check_part_keys(declared, column, keys)
        if any(column_name == divided for divided, _ in self.part):
            raise InvalidParameter(
                f"This session is already restricted to one value of {column_name}. Divide by "
                "another column."
            )
        partition = partition_name(declared, column_name)
        return {
            key: TablePart(
                name, (*self.part, (column_name, value)), (*self.path, (partition, str(value)))
            )
            for key, value in zip(keys, values, strict=True)
        }

    def __str__(self) -> str:
        parts = ", ".join(f"{column} {key!r}" for column, key in self.part)
        return f"{self.table} ({parts})"


def _only_table_with(policy: Policy, column: str) -> str:
    private = [table for table in policy.tables.values() if not table.public]
    names = [table.name for table in private if column.lower() in map(str.lower, table.columns)]
    if not names:
        columns = [name for table in private for name in table.columns]
        hint = suggest(column, columns, "The columns are")
        raise InvalidParameter(f"There is no column {column!r} to divide by. {hint}")
    if len(names) > 1:
        raise InvalidParameter(
            f"Several tables have a column {column!r}: {', '.join(names)}. Name one of them, "
            f"for example   table={names[0]!r}."
        )
    return names[0]
