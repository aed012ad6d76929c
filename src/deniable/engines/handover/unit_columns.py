"""The unit as a column of every table: under the unit's name, whatever the source calls it.

A table whose policy names a `unit_column` gets a copy of it. A table with a `unit_path` gets
the unit of the row that its path leads to, by a join on a key that is declared unique. Then
each row belongs to at most one unit; a row whose path ends nowhere is left out. Whether a key
is unique is checked when the sources are opened, and by no question: a rule that dropped rows
with doubled keys would let one unit change the rows of another.
"""

from collections.abc import Iterator, Mapping

from deniable.errors import InvalidPolicy
from deniable.policy import Policy, Table
from deniable.policy.column import fits_64_bits, kind_of_type
from deniable.policy.unit_paths import path_tables
from deniable.query.plan.quoting import quote_name


def tables_to_complete(policy: Policy) -> Iterator[Table]:
    """The tables whose sources lack the column of the unit; each after those it leads to."""
    listed = [
        table for table in policy.tables.values() if table.unit_column or table.path is not None
    ]
    yield from sorted(listed, key=lambda table: len(path_tables(table, policy.tables)))


def refuse_unit_columns(policy: Policy, engine: str) -> None:
    """Refuses a policy for an engine that adds no columns and checks no keys."""
    for table in policy.tables.values():
        for key in ("unit_column", "unit_path", "unique"):
            if getattr(table, key):
                raise InvalidPolicy(
                    f"`{key}` of table {table.name!r} works for files, frames and DuckDB, and "
                    f"not for {engine}. Make a view in the database that has the unit as the "
                    f"column {table.unit}, and name it as the source.",
                    where=("tables", table.name, key),
                )


def select_with_unit(table: Table, stored: str, policy: Policy) -> str:
    """The rows of a stored table with the unit as one more column, in SQL."""
    unit, rows = quote_name(str(table.unit)), quote_name(stored)
    if table.path is None:
        return f"SELECT a.*, a.{quote_name(str(table.id_column))} AS {unit} FROM {rows} AS a"
    target = path_tables(table, policy.tables)[1]
    column, key = quote_name(table.path.column), quote_name(table.path.key)
    own = (
        f"SELECT {key} AS k, {quote_name(str(target.unit))} AS u FROM {quote_name(target.name)}"
    )
    return f"SELECT a.*, b.u AS {unit} FROM {rows} AS a JOIN ({own}) AS b ON a.{column} = b.k"


def add_unit_columns(
    policy: Policy, schemas: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """The columns of each table, with the unit's. Refuses keys of different types.

    >>> orders = Table("orders", unit="customer", unit_column="buyer", unique=["id"])
    >>> items = Table("items", unit="customer", unit_path="order_id -> orders.id")
    >>> add_unit_columns(
    ...     Policy([orders, items], epsilon=1),
    ...     {
    ...         "orders": {"id": "BIGINT", "buyer": "VARCHAR"},
    ...         "items": {"order_id": "BIGINT"},
    ...     },
    ... )["items"]
    {'order_id': 'BIGINT', 'customer': 'VARCHAR'}
    """
    completed = {name: dict(schema) for name, schema in schemas.items()}
    for table in tables_to_complete(policy):
        own = completed.get(table.name, {})
        if str(table.unit).lower() in map(str.lower, own):
            raise InvalidPolicy(
                f"Table {table.name!r} has a column {table.unit}, and says that the unit of "
                "this name is elsewhere. Give the unit another name, in all tables.",
                where=("tables", table.name, "unit"),
            )
        own[str(table.unit)] = _unit_type(table, completed, policy)
    return completed


def _unit_type(table: Table, schemas: Mapping[str, Mapping[str, str]], policy: Policy) -> str:
    if table.path is None:
        return _type_of(table, str(table.id_column), "unit_column", schemas)
    target = path_tables(table, policy.tables)[1]
    types = (
        _type_of(table, table.path.column, "unit_path", schemas),
        _type_of(target, table.path.key, "unique", schemas),
    )
    # Wider integers of different types are compared as doubles, or by a cast that may fail.
    if not (all(map(fits_64_bits, types)) or all(type_ == "VARCHAR" for type_ in types)):
        raise InvalidPolicy(
            f"Table {table.name!r}: {table.path.column} has the type {types[0]}, and "
            f"{target.name}.{table.path.key} has the type {types[1]}. Both must be integers "
            "of at most 64 bits, or both text: otherwise two keys could be taken for one.",
            where=("tables", table.name, "unit_path"),
        )
    return _type_of(target, str(target.unit), "unit", schemas)


def _type_of(
    table: Table, column: str, where: str, schemas: Mapping[str, Mapping[str, str]]
) -> str:
    types = {name.lower(): type_ for name, type_ in schemas.get(table.name, {}).items()}
    if kind_of_type(types.get(column.lower(), "")) is None:
        raise InvalidPolicy(
            f"Table {table.name!r} has no column {column!r} of a type that can be compared.",
            where=("tables", table.name, where),
        )
    return types[column.lower()]


def not_unique(table: str, column: str) -> InvalidPolicy:
    """The error for the owner: a key that is declared unique, and is not."""
    return InvalidPolicy(
        f"Table {table!r}: {column} is declared `unique`, but several rows have the same "
        "value. A path to the privacy unit must lead to one row. Correct the data, or remove "
        "`unique` and the paths that lead there. This message is about private rows: do not "
        "pass it on.",
        where=("tables", table, "unique"),
    )
