"""The noisy table that is released, and the names of its columns."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from deniable.query.plan.plan import Chosen, Feature, Node, Plan, walk


@dataclass(frozen=True, slots=True)
class Answer:
    """A table with a column for each key and number, and one for each number's margin."""

    table: "pa.Table"
    margins: Mapping[str, str]  # the name of each number's column of margins


def margin_columns(plan: Plan) -> dict[str, str]:
    """The name of each number's column of margins."""
    return {name: margin for name, margin in column_names(plan) if margin is not None}


def column_names(plan: Plan) -> list[tuple[str, str | None]]:
    """For each output the name of its column, and of the column with its margins."""
    names = [output.name for output in plan.outputs]
    used: set[str] = set()
    pairs: list[tuple[str, str | None]] = []
    for place, output in enumerate(plan.outputs):
        name, margin = _unused_name(output.name, {*used, *names[:place]}), None
        used.add(name)
        if output.kind == "number" and _is_noisy(output.node):
            margin = _unused_name(f"{name}_margin", {*used, *names})
            used.add(margin)
        pairs.append((name, margin))
    return pairs


def _is_noisy(node: Node) -> bool:
    return any(isinstance(inner, Feature | Chosen) for inner in walk(node))


def _unused_name(name: str, used: set[str]) -> str:
    while name in used:
        name += "_"
    return name
