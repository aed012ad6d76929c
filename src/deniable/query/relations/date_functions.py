"""Functions of dates: parts, truncation to units, differences, and dates that are moved.

A date outside the years 1 to 9999 counts as NULL: there, engines fail or disagree.
"""

from fractions import Fraction

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.language.date_parts import (
    DATE_PARTS,
    DIFFERENCE_UNITS,
    MONTHS_OF,
    SECONDS_OF,
    TRUNCATION_UNITS,
)
from deniable.query.relations.basic_functions import Function
from deniable.query.relations.sql_nodes import Sql, case, double_literal, try_cast
from deniable.query.relations.value_ranges import ValueRange

_DAYS = 3_653_000  # a little more than from the first date to the last
_FARTHEST_YEARS = 4000  # that a date is moved by; every engine has 4713 BC to 14000
_FARTHEST = {"second": _FARTHEST_YEARS * 31_556_952, "month": _FARTHEST_YEARS * 12}


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


def _moved(name: str) -> Function:
    """A date that is moved by a whole number of units; NULL beyond the calendar.

    No row can fail: the date lies in the calendar, and the number of units is checked before
    it is added. So the sum is a date that every engine has.
    """
    unit, factor = ("second", SECONDS_OF) if name in SECONDS_OF else ("month", MONTHS_OF)

    def value_range(a: list[ValueRange]) -> ValueRange:
        step = a[1].step
        if step is None or step.denominator != 1:
            raise InvalidQuery(
                f"INTERVAL (n) {name.upper()} takes a whole number: a constant, a column of "
                f"integers, or CAST(n AS INTEGER), as in d + INTERVAL (CAST(n AS INTEGER)) "
                f"{name.upper()}."
            )
        days = name in MONTHS_OF or step * SECONDS_OF[name] % SECONDS_OF["day"] == 0
        return ValueRange("date", timed=a[0].timed or not days)

    def sql(a: list[Sql]) -> Sql:
        count = a[1]
        if factor[name] > 1:
            size = double_literal(Fraction(factor[name]))
            count = exp.paren(exp.Mul(this=count, expression=size), copy=False)
        most = double_literal(Fraction(_FARTHEST[unit]))
        least = double_literal(Fraction(-_FARTHEST[unit]))
        near = exp.Between(this=count, low=least, high=most)
        span = exp.Interval(
            this=exp.paren(try_cast(count.copy(), "bigint"), copy=False),
            unit=exp.var(unit.upper()),
        )
        moved = exp.paren(exp.Add(this=_in_calendar(a[0]), expression=span), copy=False)
        return _in_calendar(case(near, moved))

    return Function(2, 2, ("date", "number"), value_range, sql)


DATES: dict[str, Function] = {
    **{name: _part(name) for name in DATE_PARTS},
    **{f"start of {name}": _truncation(name) for name in TRUNCATION_UNITS},
    **{f"{name}s later": _moved(name) for name in (*SECONDS_OF, *MONTHS_OF)},
    **{f"{name}s between": _difference(name) for name in DIFFERENCE_UNITS},
}
