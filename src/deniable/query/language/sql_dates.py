"""Dates that are moved by an INTERVAL: constants are computed here, before anything is planned.

A comparison of a moved column with a constant moves the constant the other way, which is the
same for units of a fixed length: `d + INTERVAL 2 DAY > DATE '2026-01-31'` is `d > DATE
'2026-01-29'`. Every other date of a row is moved by the engine; beyond the calendar it is NULL.
"""

import calendar
import re
from datetime import datetime, timedelta
from fractions import Fraction

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.language.date_parts import MONTHS_OF, SECONDS_OF
from deniable.query.language.sql_calls import Reader, quote_sql
from deniable.query.language.syntax_tree import Call, Expression, Literal

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
COMPARISONS = frozenset(_TURNED)
_UNIT_CALL = re.compile("to_(second|minute|hour|day|week|month|quarter|year)s")
_TEXT = re.compile(r"\s*([+-]?[0-9]{1,9})(?:\s+([A-Za-z]+))?\s*")


def read_moved(node: exp.Expr, read: Reader) -> Expression | None:
    """A date plus or minus an INTERVAL; None for any other sum."""
    sides = [_with_factor(side) for side in (node.this, node.expression)]
    if sides[0] is None and sides[1] is None:
        return None
    if sides[1] is None or sides[0] is not None:
        span, date = sides[0], node.expression
    else:
        span, date = sides[1], node.this
    if None not in sides or (sides[0] is not None and isinstance(node, exp.Sub)):
        raise InvalidQuery(
            f"{quote_sql(node)} is not a date. Write a date first, as in d + INTERVAL 2 DAY."
        )
    assert span is not None
    interval, factor = span
    count, unit = _count(interval, read), interval.text("unit")
    if factor is not None:
        count = _product(read(factor), count)
    return move(read(date), _signed(count, node), unit, quote_sql(node))


def _with_factor(node: exp.Expr) -> tuple[exp.Expr, exp.Expr | None] | None:
    """An INTERVAL, and what it is multiplied with: n * INTERVAL '1 day'."""
    node = _as_interval(node.unnest())
    if isinstance(node, exp.Interval):
        return node, None
    if not isinstance(node, exp.Mul):
        return None
    first, second = node.this.unnest(), node.expression.unnest()
    if isinstance(second, exp.Interval):
        first, second = second, first
    return (first, second) if isinstance(first, exp.Interval) else None


def _as_interval(node: exp.Expr) -> exp.Expr:
    """TO_DAYS(n), as DuckDB calls INTERVAL (n) DAY."""
    if not isinstance(node, exp.ToDays | exp.Anonymous):
        return node
    called = "to_days" if isinstance(node, exp.ToDays) else str(node.this).lower()
    unit = _UNIT_CALL.fullmatch(called)
    if unit is None:
        return node
    count = node.this if isinstance(node, exp.ToDays) else (*node.expressions, None)[0]
    return exp.Interval(this=count, unit=exp.var(unit[1].upper()))


def _product(factor: Expression, count: Expression) -> Expression:
    known = whole_constant(factor), whole_constant(count)
    if None not in known:
        return Literal(Fraction((known[0] or 0) * (known[1] or 0)))
    return factor if known[1] == 1 else Call("*", (factor, count))


def _signed(count: Expression, node: exp.Expr) -> Expression:
    if not isinstance(node, exp.Sub):
        return count
    known = whole_constant(count)
    return Call("negative", (count,)) if known is None else Literal(Fraction(-known))


def _count(interval: exp.Expr, read: Reader) -> Expression:
    """How many units: a constant, or an expression in brackets."""
    number = interval.this
    if isinstance(number, exp.Literal):
        constant = _TEXT.fullmatch(number.name)
        if constant is not None:
            return Literal(Fraction(constant.group(1)))
    elif number is not None:
        return read(number)
    raise InvalidQuery(
        f"{quote_sql(interval)} is not supported. Write a whole number and a unit, as in "
        "INTERVAL 2 DAY."
    )


def whole_constant(number: Expression) -> int | None:
    """The whole number that an expression is; None for everything else."""
    if isinstance(number, Call) and number.name == "negative":
        inner = whole_constant(number.arguments[0])
        return None if inner is None else -inner
    value = number.value if isinstance(number, Literal) else None
    whole = isinstance(value, Fraction) and value.denominator == 1
    return int(value) if whole and isinstance(value, Fraction) else None


def move(date: Expression, count: Expression, unit: str, written: str) -> Expression:
    """A date moved by a number of units: a constant at once, a column as a call."""
    name = unit.lower().removesuffix("s")
    if name not in SECONDS_OF and name not in MONTHS_OF:
        units = ", ".join([*SECONDS_OF, *MONTHS_OF])
        raise InvalidQuery(f"{written}: {unit} is not a unit of time. The units are {units}.")
    constant, known = read_constant(date), whole_constant(count)
    if constant is not None and known is not None:
        return _moved_constant(constant, known, name, written)
    sized = (
        count.arguments[0] if isinstance(count, Call) and count.name == "negative" else count
    )
    if isinstance(sized, Literal) and known is None:
        raise InvalidQuery(
            f"{written}: {count} is not a whole number of {name}s. Write one, as in d + "
            f"INTERVAL 2 {name.upper()}."
        )
    return Call(f"{name}s later", (date, count if known is None else Literal(Fraction(known))))


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
        if unit in SECONDS_OF:
            moved = at + timedelta(seconds=count * SECONDS_OF[unit])
        else:
            year, month = divmod(at.year * 12 + at.month - 1 + count * MONTHS_OF[unit], 12)
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
    if not is_moved(left):
        return Call(name, (left, right))
    date, seconds = _start_and_seconds(left)
    constant = read_constant(right)
    if constant is not None:
        return Call(name, (date, _moved_constant(constant, -seconds, "second", written)))
    # a + s > b is b - a < s, in whole seconds
    other, more = _start_and_seconds(right)
    length = Fraction(seconds - more)
    negative = Call("negative", (Literal(-length),))
    span = Call("seconds between", (date, other))
    return Call(_TURNED[name], (span, Literal(length) if length >= 0 else negative))


def _start_and_seconds(date: Expression) -> tuple[Expression, int]:
    """A date without the constant INTERVALs of fixed length by which it is moved."""
    seconds = 0
    while is_moved(date):
        assert isinstance(date, Call)
        unit, (date, count) = date.name.removesuffix("s later"), date.arguments
        seconds += (whole_constant(count) or 0) * SECONDS_OF[unit]
    return date, seconds


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
    """Whether an expression is a date that is moved by a constant INTERVAL of fixed length."""
    if not isinstance(expression, Call) or not expression.name.endswith("s later"):
        return False
    known = whole_constant(expression.arguments[1]) is not None
    return known and expression.name.removesuffix("s later") in SECONDS_OF
