"""The noisy table that is released, and the names of its columns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from deniable.mechanisms import PermuteAndFlip
from deniable.query.plan.plan import Chosen, Feature, Node, Plan, walk


@dataclass(frozen=True, slots=True)
class Answer:
    """A table with a column for each key and number. Each number has three more: its margin,
    and the low and the high end of its interval."""

    table: "pa.Table"
    margins: Mapping[str, str]  # the name of each number's column of margins
    # The names of each number's columns of ends. Empty for answers of older versions.
    ends: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def shown(self) -> tuple[str, ...]:
        """The keys and the numbers, without the columns of margins and ends."""
        beside = {
            *self.margins.values(),
            *(name for ends in self.ends.values() for name in ends),
        }
        return tuple(name for name in self.table.column_names if name not in beside)


class ColumnNames(NamedTuple):
    """The names of the columns of one output."""

    name: str
    margin: str | None = None  # None: it has no margin
    ends: tuple[str, str] | None = None  # None: it has no interval


def margin_columns(plan: Plan) -> dict[str, str]:
    """The name of each number's column of margins."""
    return {names.name: names.margin for names in column_names(plan) if names.margin}


def end_columns(plan: Plan) -> dict[str, tuple[str, str]]:
    """The names of each number's columns of low and high ends."""
    return {names.name: names.ends for names in column_names(plan) if names.ends}


def column_names(plan: Plan) -> list[ColumnNames]:
    """For each output the names of its columns.

    The ends are named last: so margins have the names that they had before there were ends.
    """
    names = [output.name for output in plan.outputs]
    used: set[str] = set()
    listed: list[ColumnNames] = []
    for place, output in enumerate(plan.outputs):
        name, margin = _unused_name(output.name, {*used, *names[:place]}), None
        used.add(name)
        if output.kind == "number" and _is_noisy(output.node):
            margin = _unused_name(f"{name}_margin", {*used, *names})
            used.add(margin)
        listed.append(ColumnNames(name, margin))
    for place, (output, own) in enumerate(zip(plan.outputs, listed, strict=True)):
        if own.margin is not None and not _is_label(plan, output.node):
            low = _unused_name(f"{own.name}_low", {*used, *names})
            high = _unused_name(f"{own.name}_high", {*used, *names, low})
            used |= {low, high}
            listed[place] = own._replace(ends=(low, high))
    return listed


def _is_noisy(node: Node) -> bool:
    return any(isinstance(inner, Feature | Chosen) for inner in walk(node))


def _is_label(plan: Plan, node: Node) -> bool:
    """Whether it is a most frequent value: a label has no interval."""
    return isinstance(node, Chosen) and isinstance(
        plan.choices[node.choice].mechanism, PermuteAndFlip
    )


def _unused_name(name: str, used: set[str]) -> str:
    while name in used:
        name += "_"
    return name
