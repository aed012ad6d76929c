"""Small sqlglot trees that statements are made of: columns, casts, sums, CASE."""

from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from deniable.exact.rationals import decimal_text
from deniable.query.language.syntax_tree import Literal

Sql: TypeAlias = exp.Expr


def subquery(inner: exp.Select, name: str) -> exp.Select:
    """SELECT ... FROM (inner) AS name, without columns yet.

    The inner statement is not copied: in nested statements, a copy at every level would take
    most of the time.
    """
    return exp.Select().from_(inner.subquery(name, copy=False), copy=False)


def relation(name: str) -> exp.Table:
    """A table of the policy, or a relation that the statement itself has named."""
    return exp.Table(this=exp.to_identifier(name, quoted=True))


def column(name: str) -> Sql:
    """A column that the statement itself has named."""
    return exp.column(name)


def copies(parts: list[Sql]) -> list[Sql]:
    """A copy of each: a node stands in one place of a tree only."""
    return [part.copy() for part in parts]


def named(sql: Sql, name: str) -> Sql:
    """sql AS name."""
    return exp.alias_(sql, name, copy=False)


def try_cast(sql: Sql, kind: str) -> Sql:
    """The value cast to another type, NULL if that fails."""
    return exp.TryCast(this=sql, to=exp.DataType.build(kind), safe=True)


def wide(sql: Sql) -> Sql:
    """The value as an integer of 128 bits."""
    return exp.cast(sql, "int128", copy=False)


def number(value: int) -> Sql:
    """An integer, in parentheses if it is negative."""
    return exp.Literal.number(value) if value >= 0 else exp.paren(exp.Literal.number(value))


def double(sql: Sql) -> Sql:
    """A value as a double, NULL if the cast fails."""
    return exp.TryCast(this=sql, to=exp.DataType.build("double"), safe=True)


def one_sign(value: Sql) -> Sql:
    """The double, with one sign for zero and one for NaN.

    No comparison tells 0 from -0, or NaN from -NaN, so which of them MIN, GROUP BY or DISTINCT
    keeps depends on the order of rows. Text would show it.
    """
    below = exp.LT(this=value, expression=exp.Literal.number(0))
    return case(below, value.copy(), exp.func("ABS", value.copy(), copy=False))


def is_nan(value: Sql) -> Sql:
    """Whether a double is NaN, which is greater than every number, as -NaN is: so both it and
    its negative are above 0."""
    zero = double_literal(Fraction(0))
    negative = exp.GT(this=exp.Neg(this=value.copy()), expression=zero.copy())
    return exp.and_(exp.GT(this=value, expression=zero), negative, copy=False)


def case(*arguments: Sql) -> Sql:
    """CASE WHEN a THEN b [WHEN ...] [ELSE z] END from a flat list."""
    tree = exp.Case()
    for when, then in zip(arguments[::2], arguments[1::2], strict=False):
        tree = tree.when(when, then, copy=False)
    return tree.else_(arguments[-1], copy=False) if len(arguments) % 2 else tree


def clip(value: Sql, low: Sql, high: Sql) -> Sql:
    """The value clipped to bounds. NULL stays NULL; NaN, which sorts last, becomes `high`."""
    return case(
        exp.GT(this=value, expression=high),
        high.copy(),
        exp.LT(this=value.copy(), expression=low),
        low.copy(),
        value.copy(),
    )


def keep_rows(rows: exp.Select, order: Iterable[Sql], most: int) -> exp.Select:
    """At most `most` rows of each unit u: the first ones in an order."""
    place = exp.Window(
        this=exp.RowNumber(),
        partition_by=[column("u")],
        order=exp.Order(expressions=[exp.Ordered(this=part) for part in order]),
        over="OVER",
    )
    ranked = subquery(rows, "ranked").select(exp.Star(), named(place, "place"), copy=False)
    within = exp.LTE(this=column("place"), expression=exp.Literal.number(most))
    chosen = subquery(ranked, "chosen").select(exp.Star(), copy=False)
    return chosen.where(within, copy=False)


def keyed_hash(values: Iterable[Sql]) -> Sql:
    """A hash of the values, keyed with the engine's salt."""
    return exp.func("HASH", *values, exp.Placeholder(this="salt"))


def double_literal(number: Fraction) -> Sql:
    """A constant double, however the engine reads decimals."""
    return exp.cast(exp.Literal.number(decimal_text(number)), "double", copy=False)


def literal_sql(literal: Literal) -> Sql:
    """A constant as SQL for the engine."""
    if literal.value is None:
        return exp.null()
    if isinstance(literal.value, bool):
        return exp.true() if literal.value else exp.false()
    if isinstance(literal.value, str):
        return exp.Literal.string(literal.value)
    return double_literal(literal.value)
