"""The engine's SQL: clipped, gridded, contribution-bounded integers, one row a group.

    rows       what there is to add up (`rows`)
    held       of each unit in each group: its number of rows, and sums over them (`features`)
    bounded    the unit's features, scaled down if it has too many rows there
    chosen     of each unit, the groups that a keyed hash picks, if it has too many
    the answer the features added up over each group

With row privacy the three before the last are not needed. A unit within its limits loses
nothing. Scaling and choosing depend on that unit's own rows alone. Sums are integers of 128
bits, so no order of adding matters and, by the row ceiling, none overflows.
"""

from dataclasses import dataclass

from sqlglot import exp

from deniable.query.language.expressions import Expression
from deniable.query.relations.functions import Sql
from deniable.query.relations.scope import Scope
from deniable.query.relations.sql_terms import (
    column,
    named,
    subquery,
    total,
)
from deniable.query.statements.features import Features
from deniable.query.statements.rows import Grouping, Rows, key_columns
from deniable.query.statements.statistics import Statistic


@dataclass(frozen=True, slots=True)
class AggregateStatement:
    """Everything that the engine's SQL is made from."""

    scope: Scope
    where: Expression | None
    groupings: tuple[Grouping, ...]
    statistics: tuple[Statistic, ...]
    max_groups_per_unit: int
    max_rows_per_unit_per_group: int
    units: bool  # whether the number of units in each group is wanted
    other: bool

    def sql(self) -> exp.Select:
        """The whole query."""
        rows = Rows(self.scope, self.where, self.groupings, self.statistics, self.other).sql()
        features = Features(self.scope, self.statistics, self.max_rows_per_unit_per_group)
        if self.scope.table.unit is None:
            added = features.over_rows()
            answer = subquery(rows, "rows").select(
                *self._keys(), *self._units(), *added, copy=False
            )
            return self._grouped(answer)
        held = subquery(rows, "rows").select(
            column("u"), *self._keys(), *features.sums(), copy=False
        )
        held = held.group_by(column("u"), *self._keys(), copy=False)
        bounded = subquery(held, "held").select(
            column("u"), *self._keys(), *features.bounded(), copy=False
        )
        if self.groupings and self._may_exceed():
            bounded = self._chosen(bounded)
        totals = [named(total(column(name)), name) for name in features.names()]
        answer = subquery(bounded, "bounded").select(
            *self._keys(), *self._units(), *totals, copy=False
        )
        return self._grouped(answer)

    def _grouped(self, answer: exp.Select) -> exp.Select:
        return answer.group_by(*self._keys(), copy=False) if self.groupings else answer

    def _may_exceed(self) -> bool:
        combinations = 1
        for grouping in self.groupings:
            if grouping.key.values is None:
                return True
            combinations *= len(grouping.key.values) + self.other
        return combinations > self.max_groups_per_unit

    def _keys(self) -> list[Sql]:
        return key_columns(self.groupings)

    def _units(self) -> list[Sql]:
        return [named(exp.Count(this=exp.Star()), "units")] if self.units else []

    def _chosen(self, bounded: exp.Select) -> exp.Select:
        """At most `max_groups_per_unit` groups a unit, those with the least keyed hash."""
        own = [*self.scope.identity, *self._keys()]
        drawn = exp.func("HASH", *own, exp.Placeholder(this="salt"))
        order = exp.Order(expressions=[exp.Ordered(this=one) for one in (drawn, *self._keys())])
        place = exp.Window(
            this=exp.RowNumber(), partition_by=[column("u")], order=order, over="OVER"
        )
        ranked = subquery(bounded, "ranked").select(
            exp.Star(), named(place, "place"), copy=False
        )
        kept = exp.LTE(
            this=column("place"), expression=exp.Literal.number(self.max_groups_per_unit)
        )
        return subquery(ranked, "chosen").select(exp.Star(), copy=False).where(kept, copy=False)
