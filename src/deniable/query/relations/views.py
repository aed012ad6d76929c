"""What a relation means to a policy: named expressions over rows that are read, and a filter.

A selection of columns only names expressions anew, and its WHERE joins that of the question
around it. So a sub-query that does no more than that makes the same plan as the flat question.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from typing import cast

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.policy import Column as Declared
from deniable.policy.value_kinds import Kind
from deniable.query.language.expressions import check_sizes, conjunction, replace_columns, walk
from deniable.query.language.syntax_tree import Call, ColumnRef, Expression, SubQuery
from deniable.query.relations.clean_columns import select_clean_columns
from deniable.query.relations.scope import Scope
from deniable.query.relations.sql_nodes import Sql, column, named, subquery
from deniable.query.relations.value_ranges import ValueRange, shorten


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """A column of a view: what it is called, and what it is over the rows that are read."""

    table: str | None
    name: str
    expression: Expression
    hidden: bool = False  # found by its table's name only, and no part of *


@dataclass(frozen=True, slots=True)
class RelationView:
    """Items over the rows of a scope, of those rows that a condition keeps."""

    scope: Scope
    columns: tuple[ViewColumn, ...]
    where: Expression | None = None

    @classmethod
    def of_scope(cls, scope: Scope, name: str | None) -> "RelationView":
        """All columns of a scope under one name."""
        return cls(
            scope, tuple(ViewColumn(name, one, ColumnRef(one)) for one in scope.table.columns)
        )

    def rename_table(self, name: str | None, *, hidden: bool = False) -> "RelationView":
        """The same items, all under one table's name."""
        items = (ViewColumn(name, one.name, one.expression, hidden) for one in self.columns)
        return replace(self, columns=tuple(items))

    def find(self, wanted: ColumnRef) -> ViewColumn | None:
        """The item of that name; None where there is none."""
        found = [
            one
            for one in self.columns
            if one.name.lower() == wanted.name.lower()
            and (
                not one.hidden
                if wanted.table is None
                else (one.table or "").lower() == wanted.table.lower()
            )
        ]
        if len({one.expression for one in found}) > 1:
            tables = ", ".join(f"{one.table}.{one.name}" for one in found)
            raise InvalidQuery(f"{wanted} may be any of {tables}: say which.")
        return found[0] if found else None

    def item(self, wanted: ColumnRef) -> ViewColumn:
        """The item of that name; refuses what is not there."""
        found = self.find(wanted)
        if found is not None:
            return found
        shown = [one for one in self.columns if not one.hidden]
        near = get_close_matches(wanted.name, [one.name for one in shown], n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        tables = sorted({one.table for one in shown if one.table is not None})
        if wanted.table is not None and wanted.table.lower() not in map(str.lower, tables):
            raise InvalidQuery(f"FROM has no table {wanted.table}: {', '.join(tables)}.")
        of = f"Table {tables[0]}" if len(tables) == 1 else "FROM"
        raise InvalidQuery(
            f"{of} has no column {wanted}.{hint} It has "
            f"{', '.join(sorted({one.name for one in shown}))}."
        )

    def resolve(self, expression: Expression) -> Expression:
        """The expression over the rows that are read."""
        check_sizes([expression])
        made = replace_columns(expression, lambda one: self.item(one).expression)
        check_sizes([made])
        for leaf in walk(made):
            if isinstance(leaf, SubQuery):
                raise InvalidQuery(_misplaced(leaf))
            of = leaf.arguments if isinstance(leaf, Call) and leaf.name == "outside" else ()
            if any(not isinstance(one, ColumnRef) for one in of):
                raise InvalidQuery(f"{of[0]} has no bounds of its own: name a column.")
        return self.scope.resolve(made)

    def filter(self, condition: Expression | None) -> "RelationView":
        """Only the rows for which a condition, over the rows that are read, holds."""
        if condition is None:
            return self
        if self.scope.value_range(condition).kind not in ("boolean", None):
            raise InvalidQuery(f"WHERE {condition} is neither true nor false.")
        return replace(self, where=conjunction([self.where, condition]))

    @property
    def private(self) -> bool:
        """Whether anybody's rows are read."""
        return bool(self.scope.origin.tables)

    @property
    def unit(self) -> ColumnRef | None:
        """The column of the scope that holds the unit."""
        unit = self.scope.table.unit
        return (
            ColumnRef(unit) if unit is not None and unit in self.scope.table.columns else None
        )

    def select(
        self, wanted: Iterable[int], extras: Sequence[tuple[Sql, str]] = ()
    ) -> exp.Select:
        """The items at some places as d0, d1, ... (d and the place), and the unit as u."""
        places = list(dict.fromkeys(wanted))
        used: list[Expression] = [] if self.where is None else [self.where]
        whole: list[str] = []
        chosen = [named(sql, name) for sql, name in extras]
        for place in places:
            expression = self.columns[place].expression
            kept = integer_column(expression, self.scope)
            if kept is not None:
                whole.append(kept)
                value = column(f"{self.scope.alias(kept)}_key")
            else:
                used.append(expression)
                value = self.scope.sql(expression)
            chosen.append(named(value, f"d{place}"))
        chosen += [named(column("u"), "u")] if self.scope.table.unit is not None else []
        rows = subquery(select_clean_columns(self.scope, used, whole, outermost=False), "clean")
        made = rows.select(*(chosen or [exp.Literal.number(1)]), copy=False)
        return (
            made if self.where is None else made.where(self.scope.sql(self.where), copy=False)
        )


def integer_column(expression: Expression, scope: Scope) -> str | None:
    """The column, if an expression is one of integers: they need not go through doubles."""
    if isinstance(expression, ColumnRef) and scope.column(expression.name).integer:
        return expression.name
    return None


def _misplaced(query: SubQuery) -> str:
    return (
        f"{query} may stand in WHERE, and in what is selected or grouped by; not in HAVING, "
        "ORDER BY or ON."
    )


def declare_column(name: str, expression: Expression, scope: Scope) -> Declared:
    """What is public about a column that an expression makes."""
    known = scope.value_range(expression)
    if isinstance(expression, ColumnRef):
        source = scope.column(expression.name)
        return Declared(
            name,
            kind=source.kind,
            bounds=source.bounds,
            step=source.step,
            keys=source.keys,
            integer=source.integer,
            narrow=bool(source.integer),
        )
    return column_from_range(name, known)


def column_from_range(name: str, known: ValueRange) -> Declared:
    """A column with the limits and grid that are known of its values, widened to the grid."""
    known, kind = shorten(known), cast(Kind, known.kind or "text")
    if kind != "number" or known.low is None or known.high is None:
        whole = kind == "number" and known.step is not None and known.step.denominator == 1
        return Declared(name, kind=kind, integer=whole)
    step = known.step
    if step is not None and (known.high - known.low) / step > 1 << 60:
        step = None
    low, high = known.low, known.high
    if step is not None:
        low, high = (low / step).__floor__() * step, (high / step).__ceil__() * step
    if low == high:
        high += step or Fraction(1)
    return Declared(name, kind="number", bounds=(low, high), step=step, integer=False)
