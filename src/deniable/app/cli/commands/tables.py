"""`deniable tables`: the tables of a policy, and what is public about them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from deniable.app.cli import session_options

if TYPE_CHECKING:
    from deniable.policy import Column, Table


def tables(
    policy: session_options.PolicyFile = session_options.POLICY,
    as_json: session_options.Json = False,
    as_csv: session_options.Csv = False,
) -> None:
    """List the tables of a policy, their columns, and what is public about them."""
    if as_json or as_csv:
        with session_options.open_planner(policy, "opening") as session:
            rows = list_columns(session.policy.tables.values())
        session_options.print_rows(rows, as_json=as_json, as_csv=as_csv)
        return
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table as Drawn

    from deniable.exact.rationals import decimal_text

    console = Console(highlight=False)
    with session_options.open_planner(policy, "opening") as session:
        declared = session.policy.tables
    left = session_options.describe_remaining(policy)
    for table in declared.values():
        console.print(f"[bold]{escape(table.name)}[/bold]: {escape(describe_unit(table))}")
        columns = Drawn("column", "kind", "bounds", "step", "keys", box=box.SIMPLE_HEAD)
        for column in table.columns.values():
            described = column.elements or column  # of a list
            low_high = " to ".join(map(decimal_text, described.bounds or ()))
            step = "" if described.step is None else decimal_text(described.step)
            kind = (
                f"{described.kind}[{column.length}]" if column.elements else column.kind or "-"
            )
            cells = column.name, kind, low_high, step, describe_keys(described)
            columns.add_row(*map(escape, cells))
        console.print(columns)
    console.print(f"Budget: {escape(left)}.")


def list_columns(declared: "Iterable[Table]") -> list[dict[str, Any]]:
    """One row for each column: what is public about it and its table."""
    return [
        {
            "table": table.name,
            "unit": table.unit,
            "column": column.name,
            "kind": column.kind,
            "low": None if column.bounds is None else float(column.bounds[0]),
            "high": None if column.bounds is None else float(column.bounds[1]),
            "step": None if column.step is None else float(column.step),
            "keys": describe_keys(column),
        }
        for table in declared
        for column in table.columns.values()
    ]


def describe_unit(table: "Table") -> str:
    """The privacy unit of a table and its limits, as text."""
    from deniable.exact.suggestions import pluralize

    if table.public:
        return "public"
    if table.unit is None:
        return f"each row is a unit ({table.neighbors})"
    return (
        f"all rows of one {table.unit} are a unit ({table.neighbors}), in at most "
        f"{pluralize(table.max_groups_per_unit, 'group')} with "
        f"{pluralize(table.max_rows_per_unit_per_group, 'row')} each"
    )


def describe_keys(column: "Column") -> str:
    """The first few keys of a column."""
    if column.keys is None or isinstance(column.keys, str):
        return column.keys or ""
    examples = ", ".join(map(str, column.keys[:5]))
    return examples if len(column.keys) <= 5 else f"{examples}, ... ({len(column.keys):,})"
