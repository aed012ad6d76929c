"""The first step of every statement: the columns that are used, cast to their kind, clipped.

Rows whose unit is NULL belong to nobody that could be protected, so they count for nothing.
"""

from collections.abc import Iterable

from sqlglot import exp

from deniable.query.language.expressions import walk
from deniable.query.language.syntax_tree import Call, ColumnRef, Expression
from deniable.query.relations.scope import Scope
from deniable.query.relations.sql_nodes import column, named, number


def select_clean_columns(
    scope: Scope, used: Iterable[Expression], whole: Iterable[str], *, outermost: bool
) -> exp.Select:
    """The columns that expressions use, c0, c1, ..., integers among `whole` also as keys."""
    leaves = [leaf for expression in used for leaf in walk(expression)]
    columns = dict.fromkeys(leaf.name for leaf in leaves if isinstance(leaf, ColumnRef))
    flagged = dict.fromkeys(
        leaf.arguments[0].name
        for leaf in leaves
        if isinstance(leaf, Call)
        and leaf.name == "outside"
        and isinstance(leaf.arguments[0], ColumnRef)
    )
    wanted = list(dict.fromkeys(whole))
    selected = [named(scope.clean_column(name), scope.alias(name)) for name in columns]
    selected += [
        named(scope.is_outside_bounds(name), f"{scope.alias(name)}_out") for name in flagged
    ]
    selected += [
        named(scope.clean_integer_column(name), f"{scope.alias(name)}_key") for name in wanted
    ]
    made = exp.Select(expressions=selected)
    if scope.source is None:
        made = made.from_(exp.to_identifier(scope.table.name, quoted=True), copy=False)
    else:
        inner = scope.source.select(list(dict.fromkeys([*columns, *wanted])))
        inner = scope.define_row_numbers(inner) if outermost else inner
        made = made.from_(inner.subquery("source", copy=False), copy=False)
    if scope.table.unit is None:
        return made if selected else made.select(number(1), copy=False)
    unit = column("u") if scope.source else exp.column(scope.table.unit, quoted=True)
    owned = exp.Not(this=exp.Is(this=unit.copy(), expression=exp.null()))
    return made.select(named(unit, "u"), copy=False).where(owned, copy=False)
