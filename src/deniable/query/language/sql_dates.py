"""Dates that are moved by an INTERVAL: constants are computed here, before anything is planned.

An engine may fail where a date leaves the calendar, so no row is ever moved. A comparison of a
moved column with a constant moves the constant the other way, which is the same for units of a
fixed length: `d + INTERVAL 2 DAY > DATE '2026-01-31'` is `d > DATE '2026-01-29'`.
"""

import calendar
import re
from datetime import datetime, timedelta
from fractions import Fraction

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.language.sql_calls import Reader, quote_sql
from deniable.query.language.syntax_tree import Call, Expression, Literal

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
COMPARISONS = frozenset(_TURNED)
_TEXT = re.compile(r"\s*([+-]?[0-9]{1,9})(?:\s+([A-Za-z]+))?\s*")


def read_moved(node: exp.Expr, read: Reader) -> Expression | None:
    """A date plus or minus an INTERVAL; None for any other sum."""
    sides = node.this, node.expression
    found = [isinstance(side, exp.Interval) for side in sides]
    if True not in found or isinstance(node, exp.Mul | exp.Div):
        return None
    interval, date = sides if found[0] else sides[::-1]
    if all(found) or (found[0] and isinstance(node, exp.Sub)):
        raise InvalidQuery(
            f"{quote_sql(node)} is not a date. Write a date first, as in d + INTERVAL 2 DAY."
        )
    sign = -1 if isinstance(node, exp.Sub) else 1
    return move(read(date), sign * _count(interval), interval.text("unit"), quote_sql(node))


def _count(interval: exp.Expr) -> int:
    found = _TEXT.fullmatch(interval.this.name) if interval.this is not None else None
    if found is None:
        raise InvalidQuery(
            f"{quote_sql(interval)} is not supported. Write a whole number and a unit, as in "
            "INTERVAL 2 DAY."
        )
    return int(found.group(1))


def move(date: Expression, count: int, unit: str, written: str) -> Expression:
    """A date moved by a number of units: a constant at once, a column as a call."""
    name = unit.lower().removesuffix("s")
    if name not in _SECONDS and name not in _MONTHS:
        units = ", ".join([*_SECONDS, *_MONTHS])
        raise InvalidQuery(f"{written}: {unit} is not a unit of time. The units are {units}.")
    constant = read_constant(date)
    if constant is not None:
        return _moved_constant(constant, count, name, written)
    if name in _MONTHS:
        raise InvalidQuery(
            f"{written} is not supported: months have different lengths, and a row could leave "
            f"the calendar. Compare DATE_DIFF('{name}', {date}, DATE '2026-01-31') with a "
            "number."
        )
    seconds = Fraction(count * _SECONDS[name])
    while isinstance(date, Call) and date.name == "moved":
        date, before = date.arguments
        assert isinstance(before, Literal)
        seconds += Fraction(before.value or 0)
    return Call("moved", (date, Literal(seconds)))


def read_constant(date: Expression) -> datetime | None:
    """The moment of a constant date or text; None for everything else."""
    while isinstance(date, Call) and date.name == "cast date":
        date = date.arguments[0]
    if not isinstance(date, Literal) or not isinstance(date.value, str):
        return None
    try:
        return datetime.fromisoformat(date.value)
    except ValueError:
        return None


def _moved_constant(at: datetime, count: int, unit: str, written: str) -> Expression:
    try:
        if unit in _SECONDS:
            moved = at + timedelta(seconds=count * _SECONDS[unit])
        else:
            year, month = divmod(at.year * 12 + at.month - 1 + count * _MONTHS[unit], 12)
            last = calendar.monthrange(year, month + 1)[1]
            moved = at.replace(year=year, month=month + 1, day=min(at.day, last))
    except (ValueError, OverflowError):
        raise InvalidQuery(f"{written} lies outside the years 1 to 9999.") from None
    return _constant(moved)


def _constant(moment: datetime) -> Expression:
    midnight = moment.time() == datetime.min.time()
    text = moment.date().isoformat() if midnight else moment.isoformat(" ")
    return Call("cast date", (Literal(text),))


def compare_moved(name: str, left: Expression, right: Expression, written: str) -> Expression:
    """A comparison in which a date is moved: the constant on the other side moves instead."""
    if is_moved(right) and not is_moved(left):
        name, left, right = _TURNED[name], right, left
    if not isinstance(left, Call) or not is_moved(left):
        return Call(name, (left, right))
    constant = read_constant(right)
    date, seconds = left.arguments
    assert isinstance(seconds, Literal)
    if constant is None:  # a + s > b is b - a < s, in whole seconds
        length = Fraction(seconds.value or 0)
        if isinstance(right, Call) and is_moved(right):
            right, other = right.arguments
            assert isinstance(other, Literal)
            length -= Fraction(other.value or 0)
        negative = Call("negative", (Literal(-length),))
        span = Call("seconds between", (date, right))
        return Call(_TURNED[name], (span, Literal(length) if length >= 0 else negative))
    return Call(
        name, (date, _moved_constant(constant, -int(seconds.value or 0), "second", written))
    )


def subtract_epochs(later: Expression, earlier: Expression) -> Expression | None:
    """EPOCH(a) - EPOCH(b) is DATE_DIFF('second', b, a), which has narrower limits."""
    ends = [
        part.arguments
        for part in (earlier, later)
        if isinstance(part, Call) and part.name == "seconds between"
    ]
    if len(ends) < 2 or ends[0][0] != ends[1][0] or read_constant(ends[0][0]) is None:
        return None
    return Call("seconds between", (ends[0][1], ends[1][1]))


def is_moved(expression: Expression) -> bool:
    """Whether an expression is a date that is moved by an INTERVAL."""
    return isinstance(expression, Call) and expression.name == "moved"
