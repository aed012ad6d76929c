"""The first step of every statement: the columns that it uses, cast to their kind and clipped.

Rows whose unit is NULL belong to no unit, so they are left out.
"""

from collections.abc import Iterable

from sqlglot import exp

from deniable.query.language.expressions import walk
from deniable.query.language.syntax_tree import Call, ColumnRef, Expression
from deniable.query.relations.scope import Scope
from deniable.query.relations.sql_nodes import column, named, number


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
        table = exp.to_identifier(scope.table.name, quoted=True)
        statement = statement.from_(table, copy=False)
    else:
        inner = scope.source.select(list(dict.fromkeys([*columns, *keys])))
        inner = scope.define_row_numbers(inner) if outermost else inner
        statement = statement.from_(inner.subquery("source", copy=False), copy=False)
    if scope.table.unit is None:
        return statement if selected else statement.select(number(1), copy=False)
    unit = column("u") if scope.source else exp.column(scope.table.unit, quoted=True)
    has_unit = exp.Not(this=exp.Is(this=unit.copy(), expression=exp.null()))
    return statement.select(named(unit, "u"), copy=False).where(has_unit, copy=False)
