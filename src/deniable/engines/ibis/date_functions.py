"""Functions of days and moments through Ibis, with DuckDB's results.

The planner ensures that their arguments are moments of the years 1 to 9999, or NULL.
"""

from collections.abc import Callable
from typing import Any

import ibis
from sqlglot import exp

from deniable.engines.ibis.casts import cast, divide, unsupported
from deniable.engines.ibis.wide_integers import Value

ReadPlain = Callable[[exp.Expr], Value]
_PARTS: dict[str, Callable[[Value], Value]] = {
    "YEAR": lambda moment: moment.year(),
    "QUARTER": lambda moment: moment.quarter(),
    "MONTH": lambda moment: moment.month(),
    "WEEK": lambda moment: moment.week_of_year(),
    "DAY": lambda moment: moment.day(),
    "DAYOFYEAR": lambda moment: moment.day_of_year(),
    "DAYOFWEEK": lambda moment: (moment.day_of_week.index().cast("int64") + 1) % 7,
    "ISODOW": lambda moment: moment.day_of_week.index().cast("int64") + 1,
    "HOUR": lambda moment: moment.hour(),
    "MINUTE": lambda moment: moment.minute(),
}
_TRUNCATION_UNITS = {"YEAR": "Y", "QUARTER": "Q", "MONTH": "M", "WEEK": "W", "HOUR": "h"}
_SECONDS = {"DAY": 86_400, "HOUR": 3600}


def _part(node: exp.Expr, translate: ReadPlain, backend: str) -> Value:
    part = _PARTS.get(node.this.name.upper())
    if part is None:
        raise unsupported(node)
    return part(cast(translate(node.expression), "timestamp(6)")).cast("int64")


def _truncate(node: exp.Expr, translate: ReadPlain, backend: str) -> Value:
    unit, moment = node.text("unit").upper(), cast(translate(node.this), "timestamp(6)")
    if unit == "DAY":
        return cast(cast(moment, "date"), "timestamp(6)")
    if unit not in _TRUNCATION_UNITS:
        raise unsupported(node)
    return moment.truncate(_TRUNCATION_UNITS[unit]).cast("timestamp(6)")


def _date_diff(node: exp.Expr, translate: ReadPlain, backend: str) -> Value:
    """DATE_DIFF: the starts of days, months and so on in between; a week is seven days."""
    unit = node.text("unit").upper()
    until, since = (
        cast(translate(argument), "timestamp(6)") for argument in (node.this, node.expression)
    )
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
    """The number of days or hours from 1970 to a moment."""
    start = moment.truncate("D" if unit == "DAY" else "h")
    return divide(start.epoch_seconds().cast("int64"), _SECONDS[unit]).cast("int64")


DATE_FUNCTIONS: dict[type[exp.Expr], Callable[[Any, ReadPlain, str], Value]] = {
    exp.Extract: _part,
    exp.TimestampTrunc: _truncate,
    exp.DateDiff: _date_diff,
}
