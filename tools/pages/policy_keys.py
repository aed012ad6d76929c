"""The reference of the policy file: every key, its type, its default and what it means."""

import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from deniable.policy import file

PATH = "reference/policy-keys.md"
_INTRODUCTION = """# Policy keys

Made from the code that reads policy files: every key that a policy may have, and no other.
An unknown key is an error, because a misspelt limit would otherwise be ignored. `NAME` stands
for a name of yours. Numbers are read as decimals: 0.1 is exactly one tenth.

`deniable init FILE` drafts a policy, and `deniable tables` shows how one was read. How to
choose the numbers: [epsilon and delta](../how-to/choose-epsilon.md),
[limits and bounds](../how-to/limits.md).

```toml
[budget]
epsilon = 3
delta = 1e-6

[tables.visits]
source = "visits.parquet"
unit = "patient"
max_groups_per_unit = 4
max_rows_per_unit_per_group = 2

[tables.visits.columns]
cost = { bounds = [0, 10000], step = 0.01 }
ward = { keys = ["A", "B", "C"] }
diagnosis = { keys = "private" }
```
"""
_TITLES = {"*": "NAME", "": "Top of the file"}
# What each key means, by the name of the part of the file and the key.
MEANINGS = {
    "format": "The format of the file. It may be left out.",
    "budget": "The budget for all questions together: [below](#budget).",
    "tables": "The tables that may be asked, by name: [below](#tablesname).",
    "units": "Budgets of privacy units, by the name of their column.",
    "analysts": 'Budgets of analysts, by name; `"*"` is everybody who is not named.',
    "ledger": "Where charges are recorded: [below](#ledger).",
    "engine": "How much the engine may use: [below](#engine).",
    "budget.epsilon": "All answers together cost at most this.",
    "budget.delta": "And at most this probability that epsilon is exceeded.",
    "budget.schedule": "How the budget grows by itself: "
    "[renew a budget](../how-to/renew-a-budget.md).",
    "budget.filters": "How losses are added up; the one that leaves most decides: "
    "[the ledger](../how-to/ledger.md).",
    "schedule.start": "The day from which is counted.",
    "schedule.every": "Days between two increases.",
    "schedule.epsilon": "What each increase adds to epsilon.",
    "schedule.delta": "What each increase adds to delta.",
    "schedule.times": "How often it increases at most.",
    "ledger.id": "The id of the ledger. With it no other is used, such as a new empty one.",
    "ledger.store": "A file, or an address of PostgreSQL; `$NAME` is from the environment.",
    "ledger.key": "The file of the key that signs entries.",
    "engine.memory": 'Memory of an engine in our own process, such as `"4 GB"`; the rest goes '
    "to private files.",
    "table.source": "A file, several (`*.parquet`), or an address: "
    "[engines](../how-to/engines.md).",
    "table.unit": "The column that says whose row it is. Without it each row is a unit.",
    "table.unit_column": "The column of the unit, if this table calls it something else.",
    "table.unit_path": "The way to a table that has the unit's column, by keys: "
    '`"order_id -> orders.order_id"`.',
    "table.unique": "Columns that each identify one row, to which paths may lead. Doubled keys "
    "are refused when the data is opened.",
    "table.neighbors": "Whether a unit's rows may vanish, or change into others.",
    "table.max_groups_per_unit": "In how many groups of an answer one unit counts.",
    "table.max_rows_per_unit_per_group": "With how many rows it counts in each of them.",
    "table.row_ceiling": "The most rows that are summed.",
    "table.expected_rows": "A public guess of the number of rows, to predict margins.",
    "table.public": "The table is not protected, and costs nothing to read.",
    "table.malformed": "Whether malformed lines of a CSV file are an error, or left out.",
    "table.epsilon": "A budget of this table alone, within the one above.",
    "table.delta": "Its delta.",
    "table.version": "Your label of the data. The same question on the same version is free.",
    "table.sample": "How the rows were drawn from a population, such as `{ fraction = 0.1 }`: "
    "[beyond these rows](../how-to/beyond-these-rows.md).",
    "table.columns": "What is public about columns, by name: [below](#tablesnamecolumnsname).",
    "column.kind": "How values are read, where the source's type does not decide.",
    "column.bounds": "The least and the greatest value; others are clipped to them.",
    "column.step": "The grid to which values are rounded.",
    "column.length": "How many elements of a list count: [lists](sql.md#lists-and-json).",
    "column.keys": 'The values that groups may have, or `"private"`: a value is shown if '
    "enough units have it.",
    "allowance.epsilon": "What this unit or analyst may spend.",
    "allowance.delta": "Its delta.",
    "allowance.schedule": "How it grows.",
}


def write_pages() -> dict[str, str]:
    """The page, by its path below docs/."""
    parts = [_INTRODUCTION]
    for path, model in file._INSIDE.items():
        title = ".".join(_TITLES.get(word, word) for word in path)
        heading = f"`[{title}]`" if path else "Top of the file"
        parts.append(
            f"\n## {heading}\n\n| key | value | default | meaning |\n|---|---|---|---|\n"
        )
        parts += [
            _row(part_of(model), name, field) for name, field in model.model_fields.items()
        ]
    return {PATH: "".join(parts)}


def keys() -> Iterator[str]:
    """Every key as `MEANINGS` names it."""
    for model in file._INSIDE.values():
        for name in model.model_fields:
            yield meaning_name(part_of(model), name)


def part_of(model: type[BaseModel]) -> str:
    """The name of a part of the file.

    >>> part_of(file._Table), part_of(file._File)
    ('table', '')
    """
    return model.__name__.strip("_").lower().replace("file", "")


def meaning_name(part: str, key: str) -> str:
    """The name of a key in `MEANINGS`."""
    return f"{part}.{key}" if part else key


def _row(part: str, name: str, field: Any) -> str:
    kind = re.sub(r"Optional\[(.+)\]$", r"\1", _kind(field.annotation))
    default = "required" if field.is_required() else _default(field.default)
    return f"| `{name}` | {kind} | {default} | {MEANINGS[meaning_name(part, name)]} |\n"


def _kind(annotation: Any) -> str:
    text = str(annotation) if not isinstance(annotation, type) else annotation.__name__
    if "Literal[" in text:
        choices = re.findall(r"'([^']+)'", text)
        return " or ".join(f'`"{choice}"`' for choice in choices)
    if "dict[" in text or "._" in text or text.startswith("_"):
        return "a part of the file"
    names = {"Decimal": "number", "list": "list", "bool": "true or false", "date": "day"}
    names |= {"int": "whole number", "str": "text"}
    for word, shown in names.items():
        if re.search(rf"\b{word}\b", text):
            both = word == "list" and "| str" in text
            return "list or text" if both else shown
    return text


def _default(value: Any) -> str:
    if value is None or isinstance(value, BaseModel) or value in ("", {}):
        return ""
    shown = str(value).lower() if isinstance(value, bool) else value
    return f"`{shown}`".replace("'", '"')
