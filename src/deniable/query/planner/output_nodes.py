"""Group expressions as post-processing: aggregates become their nodes, keys their columns."""

from collections.abc import Mapping
from fractions import Fraction

from deniable.errors import InvalidQuery
from deniable.query.language.expressions import (
    Aggregate,
    Call,
    ColumnRef,
    Expression,
    Literal,
)
from deniable.query.plan import plan
from deniable.query.plan.plan import Node

ALLOWED = frozenset(
    [
        *("+", "-", "*", "/", "=", "<>", "<", "<=", ">", ">=", "and", "or", "not", "negative"),
        *("abs", "sqrt", "power", "floor", "ceil", "round", "least", "greatest", "coalesce"),
    ]
)


def node_of(
    expression: Expression, measured: Mapping[Aggregate, Node], keys: tuple[Expression, ...]
) -> Node:
    """The node that computes a group expression from noisy features."""
    if expression in keys:
        return plan.KeyColumn(keys.index(expression))
    if isinstance(expression, Aggregate):
        if expression.name in ("histogram", "quantiles", "top_k"):
            raise InvalidQuery(f"{expression} is many numbers: select it on its own.")
        return measured[expression]
    if isinstance(expression, Literal):
        return _number(expression)
    if isinstance(expression, ColumnRef):
        raise InvalidQuery(
            f"{expression} stands outside of an aggregate and is not grouped by: its rows "
            f"would be handed out. Use AVG({expression}) or GROUP BY {expression}."
        )
    assert isinstance(expression, Call)
    if expression.name not in ALLOWED:
        raise InvalidQuery(
            f"{expression} is not supported on aggregates: + - * /, POWER, SQRT, ABS, ROUND, "
            "LEAST, GREATEST and comparisons are."
        )
    return plan.Operation(
        expression.name, tuple(node_of(one, measured, keys) for one in expression.arguments)
    )


def _number(literal: Literal) -> Node:
    if isinstance(literal.value, Fraction | int) and not isinstance(literal.value, bool):
        return plan.Number(Fraction(literal.value))
    raise InvalidQuery(f"{literal} cannot be reckoned with beside aggregates: use numbers.")
