"""The view of a relation: named expressions over the rows of a scope, and a filter.

A sub-query that only selects columns and filters rows adds no step: its expressions are
renamed, and its WHERE is added to that of the outer question. So it makes the same plan as the
question without the sub-query.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

from sqlglot import exp

from deniable.errors import InvalidPolicy, InvalidQuery
from deniable.exact.suggestions import did_you_mean
from deniable.policy import Column as Declared
from deniable.policy.column import Kind
from deniable.query.language.expressions import check_sizes, conjunction, replace_columns, walk
from deniable.query.language.syntax_tree import Call, ColumnRef, Expression, SubQuery
from deniable.query.relations.scope import Scope
from deniable.query.relations.sql_nodes import (
    Sql,
    column,
    named,
    number,
    relation,
    subquery,
)
from deniable.query.relations.value_ranges import ValueRange, shorten


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """A column of a view: its name, and its expression over the columns of the scope."""

    table: str | None
    name: str
    expression: Expression
    hidden: bool = False  # needs the name of its table, and is not part of *


@dataclass(frozen=True, slots=True)
class RelationView:
    """Columns over those rows of a scope for which a condition holds."""

    scope: Scope
    columns: tuple[ViewColumn, ...]
    where: Expression | None = None

    @classmethod
    def of_scope(cls, scope: Scope, name: str | None) -> "RelationView":
        """All columns of a scope, under one table name."""
        columns = (ViewColumn(name, key, ColumnRef(key)) for key in scope.table.columns)
        return cls(scope, tuple(columns))

    def rename_table(self, name: str | None, *, hidden: bool = False) -> "RelationView":
        """The same columns, all under one table name."""
        columns = (
            ViewColumn(name, column.name, column.expression, hidden) for column in self.columns
        )
        return replace(self, columns=tuple(columns))

    def find(self, ref: ColumnRef) -> ViewColumn | None:
        """The column of that name, or None."""
        matches = [
            column
            for column in self.columns
            if column.name.lower() == ref.name.lower()
            and (
                not column.hidden
                if ref.table is None
                else (column.table or "").lower() == ref.table.lower()
            )
        ]
        if len({column.expression for column in matches}) > 1:
            names = ", ".join(f"{column.table}.{column.name}" for column in matches)
            raise InvalidQuery(f"{ref} is ambiguous: it may be {names}. Write one of these.")
        return matches[0] if matches else None

    def column(self, ref: ColumnRef) -> ViewColumn:
        """The column of that name. Raises an error if the view lacks it."""
        match = self.find(ref)
        if match is not None:
            return match
        visible = [column for column in self.columns if not column.hidden]
        tables = sorted({column.table for column in visible if column.table is not None})
        if ref.table is not None and ref.table.lower() not in map(str.lower, tables):
            raise InvalidQuery(
                f"FROM has no table {ref.table}. Its tables are {', '.join(tables)}."
            )
        names = {column.name: None for column in visible}
        hint = f"{did_you_mean(ref.name, names)} ".lstrip()
        owner = f"Table {tables[0]}" if len(tables) == 1 else "FROM"
        raise InvalidQuery(
            f"{owner} has no column {ref}. {hint}Its columns are {', '.join(sorted(names))}."
        )

    def resolve(self, expression: Expression) -> Expression:
        """The expression over the columns of the scope."""
        check_sizes([expression])
        resolved = replace_columns(expression, lambda ref: self.column(ref).expression)
        check_sizes([resolved])
        for part in walk(resolved):
            if isinstance(part, SubQuery):
                raise InvalidQuery(
                    f"{part} is supported in WHERE, SELECT and GROUP BY, but not in HAVING, "
                    "ORDER BY or ON."
                )
            clipped = (
                part.arguments if isinstance(part, Call) and part.name == "outside" else ()
            )
            if any(not isinstance(argument, ColumnRef) for argument in clipped):
                raise InvalidQuery(
                    f"CLIPPED takes a column with bounds of its own. Found {clipped[0]}."
                )
        return self.scope.resolve(resolved)

    def filter(self, condition: Expression | None) -> "RelationView":
        """Only the rows for which a condition over the scope holds."""
        if condition is None:
            return self
        if self.scope.value_range(condition).kind not in ("boolean", None):
            raise InvalidQuery(
                f"WHERE {condition} is not a condition. Write one that is true or false, such "
                "as cost > 0."
            )
        return replace(self, where=conjunction([self.where, condition]))

    @property
    def private(self) -> bool:
        """Whether rows of a private table are read."""
        return bool(self.scope.origin.tables)

    @property
    def unit(self) -> ColumnRef | None:
        """The column of the scope that holds the unit."""
        unit = self.scope.table.unit
        return (
            ColumnRef(unit) if unit is not None and unit in self.scope.table.columns else None
        )

    def select(
        self, places: Iterable[int], extras: Sequence[tuple[Sql, str]] = ()
    ) -> exp.Select:
        """The columns at some positions as d0, d1, ... (d and the position), the unit as u."""
        used: list[Expression] = [] if self.where is None else [self.where]
        integers: list[str] = []
        outputs = [named(sql, name) for sql, name in extras]
        for place in dict.fromkeys(places):
            expression = self.columns[place].expression
            integer = integer_column(expression, self.scope)
            listed = list_column(expression, self.scope)
            integer = integer if listed is None else listed.name
            if integer is not None:
                integers.append(integer)
                value = column(f"{self.scope.alias(integer)}_key")
            else:
                used.append(expression)
                value = self.scope.sql(expression)
            outputs.append(named(value, f"d{place}"))
        outputs += [named(column("u"), "u")] if self.scope.table.unit is not None else []
        clean = select_clean_columns(self.scope, used, integers, outermost=False)
        rows = subquery(clean, "clean").select(
            *(outputs or [exp.Literal.number(1)]), copy=False
        )
        if self.where is None:
            return rows
        return rows.where(self.scope.sql(self.where), copy=False)


def integer_column(expression: Expression, scope: Scope) -> str | None:
    """The name of a column of integers, which need no conversion to doubles; else None."""
    if isinstance(expression, ColumnRef) and scope.column(expression.name).integer:
        return expression.name
    return None


def list_column(expression: Expression, scope: Scope) -> Declared | None:
    """A column of lists, which is handed on as it is; else None."""
    column = scope.column(expression.name) if isinstance(expression, ColumnRef) else None
    return None if column is None or column.elements is None else column


def declare_column(name: str, expression: Expression, scope: Scope) -> Declared:
    """What is public about the column that an expression makes."""
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
            timed=source.timed,
            length=source.length,
            elements=source.elements,
            spread=source.spread,
            of_list=source.of_list,
        )
    leaves = (leaf for leaf in walk(expression) if isinstance(leaf, ColumnRef))
    spread = any(scope.column(leaf.name).spread for leaf in leaves)
    declared = column_from_range(name, scope.value_range(expression))
    return replace(declared, spread=True) if spread else declared


def column_from_range(name: str, values: ValueRange) -> Declared:
    """A column with the bounds and grid of a range of values; the bounds move to the grid."""
    values, kind = shorten(values), cast(Kind, values.kind or "text")
    if kind != "number" or values.low is None or values.high is None:
        whole = kind == "number" and values.step is not None and values.step.denominator == 1
        return Declared(name, kind=kind, integer=whole, timed=values.timed)
    step = values.step
    if step is not None and (values.high - values.low) / step > 1 << 60:
        step = None
    low, high = values.low, values.high
    if step is not None:
        low, high = (low / step).__floor__() * step, (high / step).__ceil__() * step
    if low == high:
        high += step or Fraction(1)
    try:
        return Declared(name, kind="number", bounds=(low, high), step=step, integer=False)
    except InvalidPolicy:
        raise InvalidQuery(
            f"{name} may have values beyond 1e60, or closer together than 1e-60. Use CLAMP on "
            "its arguments, or measure them in another unit."
        ) from None


def select_clean_columns(
    scope: Scope, used: Iterable[Expression], integers: Iterable[str], *, outermost: bool
) -> exp.Select:
    """The columns that expressions use as c0, c1, ..., and those in `integers` also as keys."""
    leaves = [leaf for expression in used for leaf in walk(expression)]
    columns = dict.fromkeys(leaf.name for leaf in leaves if isinstance(leaf, ColumnRef))
    flagged = dict.fromkeys(
        leaf.arguments[0].name
        for leaf in leaves
        if isinstance(leaf, Call)
        and leaf.name == "outside"
        and isinstance(leaf.arguments[0], ColumnRef)
    )
    keys = list(dict.fromkeys(integers))
    selected = [named(scope.clean_column(name), scope.alias(name)) for name in columns]
    selected += [
        named(scope.is_outside_bounds(name), f"{scope.alias(name)}_out") for name in flagged
    ]
    selected += [
        named(scope.clean_integer_column(name), f"{scope.alias(name)}_key") for name in keys
    ]
    statement = exp.Select(expressions=selected)
    if scope.source is None:
        statement = statement.from_(relation(scope.table.name), copy=False)
    else:
        inner = scope.source.select(list(dict.fromkeys([*columns, *keys])))
        inner = scope.define_row_numbers(inner) if outermost else inner
        statement = statement.from_(inner.subquery("source", copy=False), copy=False)
    if scope.table.unit is None:
        return statement if selected else statement.select(number(1), copy=False)
    unit = column("u") if scope.source else exp.column(scope.table.unit, quoted=True)
    has_unit = exp.Not(this=exp.Is(this=unit.copy(), expression=exp.null()))
    return statement.select(named(unit, "u"), copy=False).where(has_unit, copy=False)
