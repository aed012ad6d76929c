"""Constants in row expressions: their ranges and their SQL."""

from sqlglot import exp

from deniable.query.language.syntax_tree import Literal
from deniable.query.relations import value_ranges
from deniable.query.relations.sql_nodes import Sql, double_literal
from deniable.query.relations.value_ranges import ValueRange


def literal_range(literal: Literal) -> ValueRange:
    """The range of a constant: itself."""
    if literal.value is None:
        return ValueRange(None)
    if isinstance(literal.value, bool):
        return ValueRange("boolean")
    return (
        ValueRange("text")
        if isinstance(literal.value, str)
        else value_ranges.constant(literal.value)
    )


def literal_sql(literal: Literal) -> Sql:
    """A constant as SQL for the engine."""
    if literal.value is None:
        return exp.null()
    if isinstance(literal.value, bool):
        return exp.true() if literal.value else exp.false()
    if isinstance(literal.value, str):
        return exp.Literal.string(literal.value)
    return double_literal(literal.value)
