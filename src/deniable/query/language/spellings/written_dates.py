"""Dates that are written as text: STRFTIME(d, '%Y-%m') = '2026-03', TO_CHAR, DATE_FORMAT.

A text from the year down to some unit sorts as the date does. So it is compared as a date that
is cut to that unit. A single part ('%m', '%A') is a text for each of its few values.
"""

import re
from datetime import datetime

from sqlglot import exp

from deniable.errors import InvalidQuery

_UNITS = {
    "%Y": "year",
    "%Y-%m": "month",
    "%Y-%m-%d": "day",
    "%Y-%m-%d %H": "hour",
    "%Y-%m-%d %H:%M": "minute",
    "%Y-%m-%d %H:%M:%S": "second",
    "%Y%m": "month",
    "%Y%m%d": "day",
    "%Y/%m": "month",
    "%Y/%m/%d": "day",
}
_PARTS: dict[str, tuple[type[exp.Expr], int, int]] = {
    "%m": (exp.Month, 1, 12),
    "%d": (exp.Day, 1, 31),
    "%H": (exp.Hour, 0, 23),
    "%M": (exp.Minute, 0, 59),
}
_NAMES: dict[str, type[exp.Expr]] = {"%A": exp.Dayname, "%B": exp.Monthname}
# The letters of TO_CHAR, and those of DATE_FORMAT that differ from STRFTIME's.
_TO_CHAR = [("YYYY", "%Y"), ("MM", "%m"), ("DD", "%d"), ("HH24", "%H"), ("MI", "%M")]
_LETTERS: dict[type[exp.Expr], list[tuple[str, str]]] = {
    exp.ToChar: [*_TO_CHAR, ("SS", "%S")],
    exp.Anonymous: [("%i", "%M"), ("%s", "%S")],
}


def read_format(node: exp.Expr) -> tuple[exp.Expr, str] | None:
    """The date and the format, in the letters of STRFTIME, of a call that writes a date."""
    text: exp.Expr | None
    if isinstance(node, exp.TimeToStr | exp.ToChar):
        value, text = node.this, node.args.get("format")
    elif isinstance(node, exp.Anonymous) and str(node.this).lower() == "date_format":
        value, text = (*node.expressions, None, None)[:2]
    else:
        return None
    if isinstance(value, exp.Literal) and value.is_string:
        value, text = text, value  # STRFTIME('%Y-%m', d)
    if value is None or not isinstance(text, exp.Literal) or not text.is_string:
        return None
    written = str(text.this)
    for old, new in _LETTERS.get(type(node), ()):
        written = written.replace(old, new)
    return value, written


def write_part(node: exp.Expr) -> exp.Expr | None:
    """A single part of a date as text, by its value; None for other formats."""
    formatted_date = read_format(node)
    if formatted_date is None or (
        formatted_date[1] not in _PARTS and formatted_date[1] not in _NAMES
    ):
        return None
    date, written = formatted_date
    if written in _NAMES:
        return _NAMES[written](this=date.copy())
    kind, low, high = _PARTS[written]
    case = exp.Case()
    for number in range(low, high + 1):
        same = exp.EQ(this=kind(this=date.copy()), expression=exp.Literal.number(number))
        case = case.when(same, exp.Literal.string(f"{number:02}"), copy=False)
    return case


def compare_written(node: exp.Expr) -> exp.Expr | None:
    """A comparison of a written date with constants, as one of dates."""
    if not isinstance(node, exp.In | exp.Between):
        formatted_date = read_format(node.this)
        if formatted_date is not None:
            return _compared(node, formatted_date, this=None, expression=node.expression)
        formatted_date = read_format(node.expression)
        return formatted_date and _compared(
            node, formatted_date, this=node.this, expression=None
        )
    formatted_date = read_format(node.this)
    if formatted_date is None or node.args.get("query"):
        return None
    if isinstance(node, exp.Between):
        return _compared(
            node, formatted_date, this=None, low=node.args["low"], high=node.args["high"]
        )
    cut = _cut(formatted_date)
    if cut is None:
        return None
    listed = [_constant(value, formatted_date[1]) for value in node.expressions]
    return exp.In(this=cut, expressions=listed)


def _cut(formatted_date: tuple[exp.Expr, str]) -> exp.Expr | None:
    """The date, cut to the unit of its format; None if the format is not one of these."""
    date, written = formatted_date
    if written not in _UNITS:
        return None
    unit = exp.Var(this=_UNITS[written].upper())
    return exp.TimestampTrunc(this=date.copy(), unit=unit)


def _compared(
    node: exp.Expr, formatted_date: tuple[exp.Expr, str], **sides: exp.Expr | None
) -> exp.Expr | None:
    cut = _cut(formatted_date)
    if cut is None:
        return None
    return type(node)(
        **{
            name: cut if side is None else _constant(side, formatted_date[1])
            for name, side in sides.items()
        }
    )


def _constant(node: exp.Expr, written: str) -> exp.Expr:
    text = str(node.this) if isinstance(node, exp.Literal) and node.is_string else ""
    try:
        moment = datetime.strptime(text, written)
        exact = re.fullmatch(r"[0-9]{4}.*", text) and moment.strftime(written)[-2:] == text[-2:]
    except ValueError:
        exact = None
    if not exact or len(text) != len(datetime(2026, 1, 1).strftime(written)):
        raise InvalidQuery(
            f"A date that is written as '{written}' is compared with a constant of that form, "
            f"as in '{datetime(2026, 1, 31).strftime(written)}'. Found {node.sql('duckdb')}."
        )
    return exp.cast(exp.Literal.string(moment.isoformat(" ")), "timestamp")
