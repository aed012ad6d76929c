"""The cells of a column after rare ones were merged: the plan counts the merged ones."""

from dataclasses import replace
from fractions import Fraction

from deniable.query.language.syntax_tree import Call, Expression, Literal
from deniable.query.plan.plan import GroupKey
from deniable.query.planner.marginal_plans import CellColumn
from deniable.synth.domain.column_cells import ColumnCells
from deniable.synth.fit.rare_cells import MergedCells


def merge_column(cells: ColumnCells, merged: MergedCells) -> ColumnCells:
    """The column with its merged cells, numbered from 0. Their labels are numbers too."""
    if merged.size == cells.size:
        return cells
    key, expression = cells.counted.key, cells.counted.expression
    listed: dict[int, list[Expression]] = {}
    for value, place in zip(key.values or (), merged.place, strict=True):
        literal = value if isinstance(value, str) else Fraction(str(value))
        listed.setdefault(place, []).append(Literal(literal))
    rare = merged.size - 1
    parts: list[Expression] = []
    for place, values in listed.items():
        if place != rare or not _covers_all(expression):
            parts += [Call("in", (expression, *values)), Literal(Fraction(place))]
    parts += [Literal(Fraction(rare))] if _covers_all(expression) else []
    numbers = GroupKey(key.name, "number", tuple(range(merged.size)), Fraction(1))
    counted = CellColumn(numbers, Call("case", tuple(parts)))
    return replace(cells, labels=numbers.values or (), cuts=(), counted=counted)


def _covers_all(expression: Expression) -> bool:
    """Whether every row has a cell, so that the rare ones are all others."""
    return isinstance(expression, Call) and len(expression.arguments) % 2 == 1
