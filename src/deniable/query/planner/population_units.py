"""A question FOR POPULATION over units instead of rows, and what it is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from deniable.errors import InvalidQuery
from deniable.policy import Table
from deniable.query.language.expressions import aggregates_in
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import (
    Aggregate,
    Call,
    ColumnRef,
    Derived,
    Expression,
    Literal,
    Named,
    Selection,
    TableRef,
)


def about_units(
    question: Question,
    table: Table,
    outputs_of_units: Sequence[Named],
    inner: Mapping[Aggregate, str],
) -> Question:
    """The question about one row for each unit and group, whose columns are `inner`."""
    aliases = _aliases(question, table)
    keys = _plain(question) if question.by_all else question.keys
    expressions = keys_of(question, table)
    names = [
        key.name if isinstance(key, ColumnRef) else f"(k{i})"
        for i, key in enumerate(expressions)
    ]
    assert table.unit is not None
    unit = Named("(u)", ColumnRef(table.unit))
    inside = [Named(n, e) for n, e in zip(names, expressions, strict=True)]
    counted = [Named(name, aggregate) for aggregate, name in inner.items()]
    source = TableRef(question.table) if isinstance(question.table, str) else question.table
    units = Selection(source, (unit, *inside, *counted), question.where, (unit, *inside))
    outer = dict(zip(expressions, map(ColumnRef, names), strict=True))
    outputs = []
    for output in outputs_of_units:
        if aggregates_in(output.expression):
            outputs.append(output)
            continue
        expression = _unalias(output.expression, aliases)
        if expression not in outer:
            raise not_for_population(output.expression)
        outputs.append(Named(output.name, outer[expression]))
    if question.order and any(by not in outer for by, _ in question.order):
        raise InvalidQuery("FOR POPULATION: order by a key, or order the answer afterwards.")
    return replace(
        question,
        table=Derived(units, "units"),
        where=None,
        keys=tuple(Named(k.name, ColumnRef(n)) for k, n in zip(keys, names, strict=True)),
        outputs=tuple(outputs),
        order=tuple((outer[by], down) for by, down in question.order),
        by_all=False,
    )


def not_for_population(expression: Expression) -> InvalidQuery:
    """What FOR POPULATION cannot say."""
    return InvalidQuery(
        f"FOR POPULATION knows averages, counts, sums, ratios of two sums and quantiles. "
        f"{expression} is not one of them: ask for it in a question of its own."
    )


def no_extreme(expression: Expression) -> InvalidQuery:
    """The least or the largest value."""
    return InvalidQuery(
        "FOR POPULATION: no sample tells how far the values of its population reach. "
        f"Instead of {expression} ask for a quantile, such as QUANTILE_CONT(x, 0.95)."
    )


def ratio_of(expression: Expression) -> tuple[Aggregate, Aggregate] | None:
    """A sum over a sum, or over a count."""
    if isinstance(expression, Call) and expression.name == "/":
        above, below = expression.arguments
        if not isinstance(above, Aggregate) or not isinstance(below, Aggregate):
            return None
        return (above, below) if {above.name, below.name} <= {"sum", "count"} else None
    return None


def _plain(question: Question) -> tuple[Named, ...]:
    """The outputs without an aggregate."""
    return tuple(o for o in question.outputs if not aggregates_in(o.expression))


def _aliases(question: Question, table: Table) -> dict[str, Expression]:
    """What names of outputs stand for; a column of that name comes first."""
    columns = {name.lower() for name in table.columns}
    named = ((output.name.lower(), output.expression) for output in _plain(question))
    return {name: expression for name, expression in named if name not in columns}


def keys_of(question: Question, table: Table) -> list[Expression]:
    """The expressions that a question groups by, without aliases."""
    keys = _plain(question) if question.by_all else question.keys
    expressions = []
    for key in keys:
        expression = key.expression
        if isinstance(expression, Literal) and isinstance(expression.value, Fraction):
            place = int(expression.value)  # GROUP BY 1
            if 1 <= place <= len(question.outputs):
                expression = question.outputs[place - 1].expression
        expressions.append(_unalias(expression, _aliases(question, table)))
    return expressions


def _unalias(expression: Expression, aliases: dict[str, Expression]) -> Expression:
    if isinstance(expression, ColumnRef) and expression.table is None:
        return aliases.get(expression.name.lower(), expression)
    return expression
