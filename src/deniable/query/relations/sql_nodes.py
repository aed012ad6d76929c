"""The words that the engine's statements are written with: columns, casts, sums."""

from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from deniable.query.language.decimal_text import decimal_text

Sql: TypeAlias = exp.Expr


def subquery(inner: exp.Select, name: str) -> exp.Select:
    """SELECT ... FROM (inner) AS name; its columns are still to be said.

    The inner one becomes part of it. Where statements nest, a copy at every level would take
    longer than all the rest.
    """
    return exp.Select().from_(inner.subquery(name, copy=False), copy=False)


def column(name: str) -> Sql:
    """A column of the statement's own making."""
    return exp.column(name)


def named(sql: Sql, name: str) -> Sql:
    """sql AS name."""
    return exp.alias_(sql, name, copy=False)


def try_cast(sql: Sql, kind: str) -> Sql:
    """The value as another kind, NULL where it cannot be one."""
    return exp.TryCast(this=sql, to=exp.DataType.build(kind), safe=True)


def wide(sql: Sql) -> Sql:
    """As an integer of 128 bits."""
    return exp.cast(sql, "int128", copy=False)


def number(value: int) -> Sql:
    """A whole number, in parentheses if it is negative."""
    return exp.Literal.number(value) if value >= 0 else exp.paren(exp.Literal.number(value))


def double(sql: Sql) -> Sql:
    """A value as a double, NULL where it is none."""
    return exp.TryCast(this=sql, to=exp.DataType.build("double"), safe=True)


def case(*arguments: Sql) -> Sql:
    """CASE WHEN a THEN b [WHEN ...] [ELSE z] END from a flat list."""
    made = exp.Case()
    for when, then in zip(arguments[::2], arguments[1::2], strict=False):
        made = made.when(when, then, copy=False)
    return made.else_(arguments[-1], copy=False) if len(arguments) % 2 else made


def clip(value: Sql, low: Sql, high: Sql) -> Sql:
    """The value cut to limits; NULL stays NULL, and NaN, sorted last, becomes `high`."""
    return case(
        exp.GT(this=value, expression=high),
        high.copy(),
        exp.LT(this=value.copy(), expression=low),
        low.copy(),
        value.copy(),
    )


def double_literal(number: Fraction) -> Sql:
    """A double, whatever the engine makes of decimals."""
    return exp.cast(exp.Literal.number(decimal_text(number)), "double", copy=False)
