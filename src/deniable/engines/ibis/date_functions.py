"""Functions of days and moments through Ibis, as DuckDB has them.

Their arguments are moments of the years 1 to 9999, or NULL: the planner sees to that.
"""

from collections.abc import Callable
from typing import Any

import ibis
from sqlglot import exp

from deniable.engines.ibis.casts import cast, divide, unsupported
from deniable.engines.ibis.wide_integers import Value

ReadPlain = Callable[[exp.Expr], Value]
_PARTS: dict[str, Callable[[Value], Value]] = {
    "YEAR": lambda one: one.year(),
    "QUARTER": lambda one: one.quarter(),
    "MONTH": lambda one: one.month(),
    "WEEK": lambda one: one.week_of_year(),
    "DAY": lambda one: one.day(),
    "DAYOFYEAR": lambda one: one.day_of_year(),
    "DAYOFWEEK": lambda one: (one.day_of_week.index().cast("int64") + 1) % 7,
    "ISODOW": lambda one: one.day_of_week.index().cast("int64") + 1,
    "HOUR": lambda one: one.hour(),
    "MINUTE": lambda one: one.minute(),
}
_TRUNCATION_UNITS = {"YEAR": "Y", "QUARTER": "Q", "MONTH": "M", "WEEK": "W", "HOUR": "h"}
_SECONDS = {"DAY": 86_400, "HOUR": 3600}


def _part(node: exp.Expr, say: ReadPlain, backend: str) -> Value:
    part = _PARTS.get(node.this.name.upper())
    if part is None:
        raise unsupported(node)
    return part(cast(say(node.expression), "timestamp(6)")).cast("int64")


def _truncate(node: exp.Expr, say: ReadPlain, backend: str) -> Value:
    unit, moment = node.text("unit").upper(), cast(say(node.this), "timestamp(6)")
    if unit == "DAY":
        return cast(cast(moment, "date"), "timestamp(6)")
    if unit not in _TRUNCATION_UNITS:
        raise unsupported(node)
    return moment.truncate(_TRUNCATION_UNITS[unit]).cast("timestamp(6)")


def _date_diff(node: exp.Expr, say: ReadPlain, backend: str) -> Value:
    """Beginnings of days, months and the like that lie between; weeks are seven days."""
    unit = node.text("unit").upper()
    until, since = (cast(say(one), "timestamp(6)") for one in (node.this, node.expression))
    if unit in _SECONDS:
        return _count_from_1970(until, unit) - _count_from_1970(since, unit)
    if unit == "WEEK":
        days = _count_from_1970(until, "DAY") - _count_from_1970(since, "DAY")
        weeks = divide(days.abs() - days.abs() % 7, 7)
        return ibis.cases((days < 0, -1), else_=1) * weeks.cast("int64")
    years = until.year().cast("int64") - since.year().cast("int64")
    if unit == "YEAR":
        return years
    if unit == "MONTH":
        return years * 12 + until.month().cast("int64") - since.month().cast("int64")
    raise unsupported(node)


def _count_from_1970(moment: Value, unit: str) -> Value:
    """The days or hours from 1970 to a moment's own."""
    begun = moment.truncate("D" if unit == "DAY" else "h")
    return divide(begun.epoch_seconds().cast("int64"), _SECONDS[unit]).cast("int64")


DATE_FUNCTIONS: dict[type[exp.Expr], Callable[[Any, ReadPlain, str], Value]] = {
    exp.Extract: _part,
    exp.TimestampTrunc: _truncate,
    exp.DateDiff: _date_diff,
}
