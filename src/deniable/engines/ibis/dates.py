"""Functions of days and moments through Ibis, as DuckDB has them.

Their arguments are moments of the years 1 to 9999, or NULL: the planner sees to that.
"""

from collections.abc import Callable
from typing import Any

import ibis
from sqlglot import exp

from deniable.engines.ibis.casts import cast, over, unknown
from deniable.engines.ibis.wide_integers import Value

Say = Callable[[exp.Expr], Value]
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
_TRUNCATED = {"YEAR": "Y", "QUARTER": "Q", "MONTH": "M", "WEEK": "W", "HOUR": "h"}
_SECONDS = {"DAY": 86_400, "HOUR": 3600}


def _part(node: exp.Expr, say: Say, backend: str) -> Value:
    part = _PARTS.get(node.this.name.upper())
    if part is None:
        raise unknown(node)
    return part(cast(say(node.expression), "timestamp(6)")).cast("int64")


def _truncated(node: exp.Expr, say: Say, backend: str) -> Value:
    unit, moment = node.text("unit").upper(), cast(say(node.this), "timestamp(6)")
    if unit == "DAY":
        return cast(cast(moment, "date"), "timestamp(6)")
    if unit not in _TRUNCATED:
        raise unknown(node)
    return moment.truncate(_TRUNCATED[unit]).cast("timestamp(6)")


def _between(node: exp.Expr, say: Say, backend: str) -> Value:
    """Beginnings of days, months and the like that lie between; weeks are seven days."""
    unit = node.text("unit").upper()
    until, since = (cast(say(one), "timestamp(6)") for one in (node.this, node.expression))
    if unit in _SECONDS:
        return _count(until, unit) - _count(since, unit)
    if unit == "WEEK":
        days = _count(until, "DAY") - _count(since, "DAY")
        weeks = over(days.abs() - days.abs() % 7, 7)
        return ibis.cases((days < 0, -1), else_=1) * weeks.cast("int64")
    years = until.year().cast("int64") - since.year().cast("int64")
    if unit == "YEAR":
        return years
    if unit == "MONTH":
        return years * 12 + until.month().cast("int64") - since.month().cast("int64")
    raise unknown(node)


def _count(moment: Value, unit: str) -> Value:
    """The days or hours from 1970 to a moment's own."""
    begun = moment.truncate("D" if unit == "DAY" else "h")
    return over(begun.epoch_seconds().cast("int64"), _SECONDS[unit]).cast("int64")


DATES: dict[type[exp.Expr], Callable[[Any, Say, str], Value]] = {
    exp.Extract: _part,
    exp.TimestampTrunc: _truncated,
    exp.DateDiff: _between,
}
