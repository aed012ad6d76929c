"""Statements that count cells: how many rows of each group have each value.

    rows       the rows to count (`input_rows`), where the value is known
    numbered   a unit's equal rows with different numbers; or each value once, to count values
    ranked     of each unit: its rows in a group in the order of a keyed hash, and its groups
    kept       the first `max_rows_per_unit_per_group` rows in each of the first
               `max_groups_per_unit` groups
    the answer the rows of each group and value counted

Cells cannot be scaled as sums are, so a unit with too many rows keeps only some. Which ones
depends only on its own rows and the salt, and all its rows have the same chance. Where values
are counted and not rows (COUNT(DISTINCT x)), a unit keeps at most
`max_rows_per_unit_per_group` values of a group. Without the unit, the union of all kept values
loses at most that many, whichever values other units keep. So SUM(DISTINCT x) moves no further
than a sum of that many rows. With row privacy no row needs to be left out: a row is one row,
and one value.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from deniable.query.language.syntax_tree import Expression, Literal
from deniable.query.plan.key_list import listed_values
from deniable.query.plan.plan import GroupKey
from deniable.query.plan.statement_text import StatementText
from deniable.query.relations.scope import Scope
from deniable.query.relations.sql_nodes import (
    Sql,
    keyed_hash,
    named,
    number,
    subquery,
    wide,
)
from deniable.query.statements.input_rows import Grouping, InputRows, key_columns, most_groups
from deniable.query.statements.statistics import Statistic


@dataclass(frozen=True, slots=True)
class CellStatement:
    """What the statements of one plan that count cells have in common."""

    scope: Scope
    where: Expression | None
    groupings: tuple[Grouping, ...]
    max_groups_per_unit: int
    max_rows_per_unit_per_group: int
    other: bool

    def count_grid(self, argument: Expression, low: int, high: int, step: Fraction) -> str:
        """Cell 0 is the grid point `low`, cell 1 the next one."""
        rows = self._rows(Statistic("cells", argument, low, high, step))
        kept = subquery(self._limit_rows(rows, exp.column("x0"), once=False), "kept")
        cell = (
            exp.column("v")
            if low == 0
            else exp.Sub(this=exp.column("v"), expression=number(low))
        )
        counted = kept.select(*self._keys(), named(cell, "cell"), _count())
        return StatementText(counted.group_by(*self._keys(), exp.column("v")))

    def count_keys(self, argument: Expression, key: GroupKey) -> str:
        """Cell i is the i-th declared value of a key."""
        groupings = (*self.groupings, Grouping(key, argument, in_plan=False))
        rows = InputRows(self.scope, self.where, groupings, (), self.other).sql()
        place = exp.column(f"k{len(self.groupings)}")
        kept = subquery(self._limit_rows(rows, place, once=False), "kept")
        cell = exp.Case(this=exp.column("v"))
        for i, value in enumerate(listed_values(key)):
            cell = cell.when(self._literal(value), number(i), copy=False)
        counted = kept.select(*self._keys(), named(cell, "cell"), _count())
        return StatementText(counted.group_by(*self._keys(), exp.column("v")))

    def of_distinct(self, statistic: Statistic) -> str:
        """One cell, 0, that holds the number of distinct values, or their sum in grid steps."""
        counts = statistic.kind == "distinct"
        rows = self._rows(replace(statistic, kind="present" if counts else "cells"))
        kept = subquery(self._limit_rows(rows, exp.column("x0"), once=True), "kept")
        value = exp.column("v") if counts else wide(exp.column("v"))
        distinct = exp.Distinct(expressions=[value])
        total = exp.func("COALESCE", exp.Sum(this=distinct), number(0))
        own = exp.Count(this=distinct) if counts else total
        counted = kept.select(*self._keys(), named(number(0), "cell"), named(own, "n"))
        return StatementText(counted.group_by(*self._keys()) if self.groupings else counted)

    def _rows(self, statistic: Statistic) -> exp.Select:
        return InputRows(self.scope, self.where, self.groupings, (statistic,), self.other).sql()

    def _limit_rows(self, rows: exp.Select, value: Sql, *, once: bool) -> exp.Select:
        """The keys and the value v of each row that counts."""
        is_known = exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))
        parts = [*self._keys(), named(value, "v")]
        if self.scope.table.unit is None:
            return subquery(rows, "rows").select(*parts).where(is_known)
        held = subquery(rows, "rows").select(exp.column("u"), *parts).where(is_known)
        if once:
            numbered = held.distinct()
            number_of: list[Sql] = []
        else:
            equal = [exp.column("u"), *self._keys(), exp.column("v")]
            place = _window(exp.RowNumber(), equal, [exp.column("v")])
            numbered = subquery(held, "held").select(exp.Star(), named(place, "j"))
            number_of = [exp.column("j")]
        return self._keep_by_hash(numbered, number_of)

    def _keep_by_hash(self, numbered: exp.Select, number_of: list[Sql]) -> exp.Select:
        unit, keys = exp.column("u"), self._keys()
        own = [exp.column("v"), *number_of]
        drawn = keyed_hash([*self.scope.identity, *keys, *own])
        place = _window(exp.RowNumber(), [unit, *keys], [drawn, *own])
        ranked = subquery(numbered, "numbered").select(exp.Star(), named(place, "place"))
        limits = [_at_most("place", self.max_rows_per_unit_per_group)]
        most = most_groups(self.groupings, other=self.other)
        if most is None or most > self.max_groups_per_unit:
            group = _window(
                exp.DenseRank(), [unit], [keyed_hash([*self.scope.identity, *keys]), *keys]
            )
            ranked = ranked.select(named(group, "group_place"))
            limits.append(_at_most("group_place", self.max_groups_per_unit))
        return subquery(ranked, "ranked").select(*keys, exp.column("v")).where(*limits)

    def _keys(self) -> list[Sql]:
        return key_columns(self.groupings)

    def _literal(self, value: str | int | bool) -> Sql:
        if isinstance(value, int) and not isinstance(value, bool):
            return number(value)
        return self.scope.sql(Literal(value))


def _count() -> Sql:
    return named(exp.Count(this=exp.Star()), "n")


def _window(function: Sql, by: list[Sql], order: list[Sql]) -> Sql:
    ordered = exp.Order(expressions=[exp.Ordered(this=part.copy()) for part in order])
    return exp.Window(
        this=function, partition_by=[part.copy() for part in by], order=ordered, over="OVER"
    )


def _at_most(name: str, most: int) -> Sql:
    return exp.LTE(this=exp.column(name), expression=number(most))
