"""Which rows a session is about: all, or those of one part of a table."""

from collections.abc import Sequence
from dataclasses import dataclass

from deniable.errors import InvalidParameter
from deniable.ledger.accounts import Path
from deniable.policy import Policy
from deniable.query.plan.plan import KeyValue, Plan
from deniable.query.statements.partition import (
    Part,
    checked,
    is_within,
    named,
    restricted,
)


@dataclass(frozen=True, slots=True)
class TablePart:
    """All rows; or the rows of a table in which columns have certain values.

    >>> print(TablePart("visits", (("ward", "A"),)))
    visits (ward 'A')
    """

    table: str | None = None
    part: Part = ()
    path: Path = ()  # the part as a ledger knows it: partition and part, from the outermost

    def restrict(self, plan: Plan, policy: Policy) -> Plan:
        """The plan, about these rows only."""
        if self.table is None:
            return plan
        if plan.tables != (self.table,):
            raise InvalidParameter(
                f"This session is about a part of {self.table}, and answers questions about "
                "that table only. Ask the whole session about others."
            )
        return restricted(plan, policy.tables[self.table], self.part)

    def holds(self, plan: Plan, policy: Policy) -> bool:
        """Whether a plan is about these rows, by what it would read, not by its word."""
        if self.table is None or plan.part != self.part:
            return plan.part == self.part
        return is_within(plan, policy.tables[self.table], self.part)

    def divided(
        self, policy: Policy, column: str, keys: Sequence[KeyValue], table: str | None
    ) -> "dict[KeyValue, TablePart]":
        """One for each value that a column may have."""
        if not isinstance(column, str):
            raise InvalidParameter(f"`column` must be a column's name. Found {column!r}.")
        name = table or self.table or _only(policy, column)
        known = policy.tables.get(name)
        if known is None or known.public or self.table not in (None, name):
            raise InvalidParameter(f"There is no private table {name!r} to divide here.")
        spelt, values = checked(known, column, keys)
        if any(spelt == one for one, _ in self.part):
            raise InvalidParameter(f"These rows already have one {spelt}.")
        partition = named(known, spelt)
        return {
            key: TablePart(
                name, (*self.part, (spelt, value)), (*self.path, (partition, str(value)))
            )
            for key, value in zip(keys, values, strict=True)
        }

    def __str__(self) -> str:
        parts = ", ".join(f"{column} {key!r}" for column, key in self.part)
        return f"{self.table} ({parts})"


def _only(policy: Policy, column: str) -> str:
    private = [one for one in policy.tables.values() if not one.public]
    has = [one.name for one in private if column.lower() in map(str.lower, one.columns)]
    if len(has) != 1:
        raise InvalidParameter(
            f"{len(has) or 'No'} tables have a column {column!r}. Say which one to divide, for "
            f"example   table={next(iter(policy.tables))!r}."
        )
    return has[0]
