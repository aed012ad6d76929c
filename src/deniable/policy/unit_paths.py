"""Paths to the privacy unit: from a table without the unit's column to one that has it.

An item belongs to an order, and an order to a customer. The policy says so:

    [tables.orders]
    unit = "customer"
    unit_column = "customer_id"
    unique = ["order_id"]

    [tables.items]
    unit = "customer"
    unit_path = "order_id -> orders.order_id"

Each key that a path leads to is declared `unique`. This is checked when the data is opened, and
neighbouring tables are those for which it holds. So at question time nothing depends on
whether another unit has the same key. A row whose path ends nowhere belongs to no unit, and is
left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deniable.errors import InvalidPolicy
from deniable.exact.suggestions import suggest

_LONGEST = 5  # steps of a path


@dataclass(frozen=True, slots=True)
class UnitPath:
    """One step towards the unit: a column, and the table and the unique key that it names.

    >>> UnitPath.parse("order_id -> orders.order_id")
    UnitPath(column='order_id', table='orders', key='order_id')
    """

    column: str
    table: str
    key: str

    @classmethod
    def parse(cls, text: str) -> "UnitPath":
        """The step that a policy writes as "column -> table.key"."""
        column, _, target = (str(text) if isinstance(text, str) else "").partition("->")
        table, _, key = target.strip().rpartition(".")
        if not (column.strip() and table and key):
            raise InvalidPolicy(
                "`unit_path` must say which column leads to which key of another table, for "
                f'example   unit_path = "order_id -> orders.order_id". Found {text!r}.',
                where=("unit_path",),
            )
        return cls(column.strip(), table, key)


def check_unit_columns(
    name: str, unit: str | None, column: str | None, path: str | None, unique: Any
) -> dict[str, Any]:
    """What a table says about the way to its unit. Refuses a column or a path in a table
    without a unit, and both at once."""
    for key, value in (("unit_column", column), ("unit_path", path)):
        if value is not None and unit is None:
            raise InvalidPolicy(
                f"Table {name!r} has a `{key}` and no `unit`. Name the unit that it leads to, "
                'for example   unit = "customer"',
                where=(key,),
            )
    if column is not None and path is not None:
        raise InvalidPolicy(
            f"Table {name!r} has a `unit_column` and a `unit_path`. Keep the column if the "
            "table holds the unit itself, and else the path.",
            where=("unit_path",),
        )
    if column is not None and not (isinstance(column, str) and column):
        raise InvalidPolicy(
            f"`unit_column` must be the name of a column. Found {column!r}.",
            where=("unit_column",),
        )
    if path is not None:
        UnitPath.parse(path)
    listed = tuple(unique) if isinstance(unique, list | tuple) else (unique,)
    if not all(isinstance(column_name, str) and column_name for column_name in listed):
        raise InvalidPolicy(
            f"`unique` of table {name!r} must be a list of columns, such as "
            f'["order_id"]. Found {unique!r}.',
            where=("unique",),
        )
    own = None if column == unit else column
    return {"unit_column": own, "unit_path": path, "unique": listed}


def check_paths(tables: Mapping[str, Any]) -> None:
    """Refuses paths that lead to no unit, to another unit, or to a key that is not unique."""
    for table in tables.values():
        if table.path is not None:
            try:
                _check_path(table, tables)
            except InvalidPolicy as problem:
                where = ("tables", table.name, "unit_path")
                raise InvalidPolicy(f"Table {table.name!r}: {problem}", where=where) from None


def path_tables(table: Any, tables: Mapping[str, Any]) -> list[Any]:
    """The tables along the path of a table, itself first."""
    chain, by_name = [table], {name.lower(): candidate for name, candidate in tables.items()}
    while chain[-1].path is not None and len(chain) <= _LONGEST:
        following = by_name.get(chain[-1].path.table.lower())
        if following is None:
            break
        chain.append(following)
    return chain


def _check_path(table: Any, tables: Mapping[str, Any]) -> None:
    step = table.path
    *_, last = along = path_tables(table, tables)
    if last.path is not None and len(along) > _LONGEST:
        raise InvalidPolicy(f"its `unit_path` has no end within {_LONGEST} tables.")
    if last.path is not None:
        raise InvalidPolicy(
            f"its `unit_path` leads to a table {last.path.table!r}. "
            + suggest(last.path.table, tables, "The tables are")
        )
    target = along[1]
    if target.public or (target.unit or "").lower() != table.unit.lower():
        raise InvalidPolicy(
            f"its `unit_path` leads to {target.name}, whose unit is not {table.unit}."
        )
    if target.neighbors != table.neighbors:
        raise InvalidPolicy(
            f"its `unit_path` leads to {target.name}, which has other `neighbors`."
        )
    if step.key.lower() not in map(str.lower, target.unique):
        raise InvalidPolicy(
            f"its `unit_path` leads to {target.name}.{step.key}, which is not declared "
            f'unique. Add   unique = ["{step.key}"]   to table {target.name}.'
        )
