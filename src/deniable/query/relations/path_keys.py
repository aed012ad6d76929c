"""Joins on the keys of paths to the unit: rows with the same key belong to the same unit.

So such a join may say, too, that the units are equal: that changes no row of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from deniable.policy import Column
from deniable.query.language.expressions import walk
from deniable.query.language.syntax_tree import Call, ColumnRef, Expression
from deniable.query.relations.views import RelationView


@dataclass(frozen=True, slots=True)
class JoinKeys:
    """The keys of paths on both sides of a join, by the names of the joined columns."""

    sides: tuple[RelationView, RelationView]
    keys: tuple[dict[str, str], dict[str, str]]

    @classmethod
    def of(cls, left: RelationView, right: RelationView, names: list[str]) -> "JoinKeys":
        """The keys of two views, whose columns together have these names."""
        first = len(left.columns)
        return cls((left, right), (_keys(left, names[:first]), _keys(right, names[first:])))

    @property
    def all(self) -> tuple[tuple[str, str], ...]:
        """The keys of the joined rows."""
        return (*self.keys[0].items(), *self.keys[1].items())

    def equated(self, conditions: Iterable[Expression]) -> list[str]:
        """The keys of which some conditions say that they are the same on both sides."""
        keys = []
        for condition in conditions:
            if isinstance(condition, Call) and condition.name == "=":
                names = [part.name for part in walk(condition) if isinstance(part, ColumnRef)]
                plain = all(isinstance(part, ColumnRef) for part in condition.arguments)
                sides = [{own.get(name) for name in names} - {None} for own in self.keys]
                keys += [str(key) for key in sides[0] & sides[1]] if plain else []
        return keys

    def meets_one_row(self, conditions: Iterable[Expression]) -> bool:
        """Whether one side is a table in which a key that is compared is declared unique. Then
        the join has no more rows than the other side."""
        whole = {
            f"{table.name}.{name}".lower()
            for table in (side.scope.table for side in self.sides if not side.scope.source)
            for name, column in table.columns.items()
            if _is_compared_as_stored(column)
        }
        return any(key in whole for key in self.equated(conditions))


def _is_compared_as_stored(column: Column) -> bool:
    """Whether different stored values are different in a join: none is clipped or rounded."""
    return column.kind == "text" or (column.narrow and column.bounds is None)


def _keys(view: RelationView, names: list[str]) -> dict[str, str]:
    keys = dict(view.scope.origin.keys)
    return {
        name: keys[column.expression.name]
        for name, column in zip(names, view.columns, strict=True)
        if isinstance(column.expression, ColumnRef) and column.expression.name in keys
    }
