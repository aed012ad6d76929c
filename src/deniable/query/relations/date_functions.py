"""Functions of dates: parts, truncation to units, and differences.

A date outside the years 1 to 9999 counts as NULL: there, engines fail or disagree.
"""

from fractions import Fraction

from sqlglot import exp

from deniable.query.language.date_parts import DATE_PARTS, DIFFERENCE_UNITS, TRUNCATION_UNITS
from deniable.query.relations.basic_functions import Function
from deniable.query.relations.sql_nodes import Sql, case, try_cast
from deniable.query.relations.value_ranges import ValueRange

_DAYS = 3_653_000  # a little more than from the first date to the last


def _in_calendar(date: Sql) -> Sql:
    """The date, or NULL if it is outside the years 1 to 9999."""
    first, last = (
        exp.cast(exp.Literal.string(text), "timestamp", copy=False)
        for text in ("0001-01-02 00:00:00", "9999-12-30 23:59:59")
    )
    return case(exp.Between(this=date, low=first, high=last), date.copy())


def _part(name: str) -> Function:
    low, high = DATE_PARTS[name]
    return Function(
        1,
        1,
        "date",
        lambda a: ValueRange("number", Fraction(low), Fraction(high), Fraction(1)),
        lambda a: try_cast(
            exp.Extract(this=exp.var(name.upper()), expression=_in_calendar(a[0])), "double"
        ),
    )


def _truncation(name: str) -> Function:
    def sql(arguments: list[Sql]) -> Sql:
        truncated = exp.func(
            "DATE_TRUNC", exp.Literal.string(name), _in_calendar(arguments[0]), dialect="duckdb"
        )
        return try_cast(truncated, "timestamp")

    timed = TRUNCATION_UNITS.index(name) > TRUNCATION_UNITS.index("day")
    return Function(1, 1, "date", lambda a: ValueRange("date", timed=timed), sql)


def _difference(name: str) -> Function:
    most = (_DAYS / DIFFERENCE_UNITS[name]).__ceil__()

    def sql(arguments: list[Sql]) -> Sql:
        ends = [_in_calendar(argument) for argument in arguments]
        difference = exp.func("DATE_DIFF", exp.Literal.string(name), *ends, dialect="duckdb")
        return try_cast(difference, "double")

    return Function(
        2,
        2,
        "date",
        lambda a: ValueRange("number", Fraction(-most), Fraction(most), Fraction(1)),
        sql,
    )


DATES: dict[str, Function] = {
    **{name: _part(name) for name in DATE_PARTS},
    **{f"start of {name}": _truncation(name) for name in TRUNCATION_UNITS},
    **{f"{name}s between": _difference(name) for name in DIFFERENCE_UNITS},
}
