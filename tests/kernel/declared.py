"""The kernel's public facts, from a policy."""

from deniable.kernel.facts import Facts, TableFacts


def facts_of(policy) -> Facts:
    """What the kernel is told about a policy's tables."""
    return Facts(tuple(map(_table, policy.tables.values())))


def _table(table) -> TableFacts:
    columns = {name: _kind(column) for name, column in table.columns.items()}
    return TableFacts(
        table.name, columns, table.public, table.unit, table.neighbors, table.row_ceiling
    )


def _kind(column) -> str:
    if column.elements is not None:
        return f"list of {_kind(column.elements)}"
    if column.narrow:
        return "integer"
    return "wide" if column.integer else column.kind or "other"
