"""Functions of dates: parts, beginnings of months and the like, and days between.

A date outside of the years 1 to 9999 is NULL to them: beyond, engines fail or disagree.
"""

from fractions import Fraction

from sqlglot import exp

from deniable.query.language.date_parts import BETWEEN, PARTS, TRUNCATED
from deniable.query.relations.functions import Function
from deniable.query.relations.sql_terms import Sql, case, try_cast
from deniable.query.relations.value_facts import Facts

_DAYS = 3_653_000  # from the first to the last, and some


def _within(date: Sql) -> Sql:
    """The date, NULL where it is no day of the years 1 to 9999."""
    first, last = (
        exp.cast(exp.Literal.string(one), "timestamp", copy=False)
        for one in ("0001-01-02 00:00:00", "9999-12-30 23:59:59")
    )
    return case(exp.Between(this=date, low=first, high=last), date.copy())


def _part(name: str) -> Function:
    low, high = PARTS[name]
    return Function(
        1,
        1,
        "date",
        lambda a: Facts("number", Fraction(low), Fraction(high), Fraction(1)),
        lambda a: try_cast(
            exp.Extract(this=exp.var(name.upper()), expression=_within(a[0])), "double"
        ),
    )


def _truncated(name: str) -> Function:
    def sql(arguments: list[Sql]) -> Sql:
        made = exp.func(
            "DATE_TRUNC", exp.Literal.string(name), _within(arguments[0]), dialect="duckdb"
        )
        return try_cast(made, "timestamp")

    return Function(1, 1, "date", lambda a: Facts("date"), sql)


def _between(name: str) -> Function:
    most = (_DAYS / BETWEEN[name]).__ceil__()

    def sql(arguments: list[Sql]) -> Sql:
        ends = [_within(one) for one in arguments]
        made = exp.func("DATE_DIFF", exp.Literal.string(name), *ends, dialect="duckdb")
        return try_cast(made, "double")

    return Function(
        2,
        2,
        "date",
        lambda a: Facts("number", Fraction(-most), Fraction(most), Fraction(1)),
        sql,
    )


DATES: dict[str, Function] = {
    **{name: _part(name) for name in PARTS},
    **{f"start of {name}": _truncated(name) for name in TRUNCATED},
    **{f"{name}s between": _between(name) for name in BETWEEN},
}
