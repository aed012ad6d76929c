"""Values of our statements as expressions of Ibis, which its backends write as they can.

Only what every backend has is used: 64-bit integers, doubles, text, comparisons and CASE.
Nothing relies on how a backend rounds, orders NaN or casts: each is spelt out, on arguments
that were made harmless first, because some backends evaluate both sides of a CASE.
"""

import datetime
import re
from collections.abc import Callable
from typing import Any

import ibis
from sqlglot import exp

from deniable.engines import spelling
from deniable.engines.ibis_wide import MOST_ROWS, Value, Wide, quotient
from deniable.errors import Unsupported

_WHOLE_FROM = 2.0**52
_TYPES = {"INT": "int64", "BIGINT": "int64", "INT128": "wide", "DOUBLE": "float64"}
_TYPES |= {"TEXT": "string", "VARCHAR": "string", "BOOLEAN": "boolean", "DATE": "date"}
_TYPES |= {"TIMESTAMP": "timestamp(6)", "TIMESTAMPNTZ": "timestamp(6)", "SMALLINT": "int64"}
_COMPARED: dict[type[exp.Expr], Callable[[Any, Any], Any]] = {
    exp.EQ: lambda a, b: a == b,
    exp.NEQ: lambda a, b: a != b,
    exp.LT: lambda a, b: a < b,
    exp.LTE: lambda a, b: a <= b,
    exp.GT: lambda a, b: a > b,
    exp.GTE: lambda a, b: a >= b,
}


class Values:
    """Reads values; `columns` are those that a SELECT can name."""

    def __init__(self, columns: dict[str, Value | Wide], salt: int) -> None:
        self.columns, self._salt = columns, salt

    def say(self, node: exp.Expr) -> Value | Wide:
        """A value; raises Unsupported on what Ibis has no words for."""
        reads = _READS.get(type(node))
        if reads is None:
            raise unknown(node)
        return reads(self, node)

    def plain(self, node: exp.Expr) -> Value:
        """A value that is no wide integer."""
        found = self.say(node)
        if isinstance(found, Wide):
            raise unknown(node)
        return found

    def _column(self, node: exp.Expr) -> Value | Wide:
        assert isinstance(node, exp.Column)
        found = self.columns.get(f"{node.table}.{node.name}" if node.table else node.name)
        if found is None:
            raise Unsupported(f"The statement has no column {node.name!r} here.")
        return found

    def _literal(self, node: exp.Expr) -> Value:
        if node.is_string:
            return ibis.literal(node.name)
        whole = node.name.lstrip("-").isdigit()
        return ibis.literal(int(node.name) if whole else float(node.name))

    def _cast(self, node: exp.Expr) -> Value | Wide:
        to = _TYPES.get(node.args["to"].this.name)
        if to is None:
            raise unknown(node.args["to"])
        if isinstance(node.this, exp.Literal) and to == "timestamp(6)":
            return _moment(node.this.name)
        number = _number(node.this)
        if number is not None and to in ("float64", "wide"):
            return ibis.literal(float(number)) if to == "float64" else int(number)
        value = self.say(node.this)
        if to == "wide":
            return value if isinstance(value, Wide) else Wide(((1, value),))
        if isinstance(value, Wide):
            raise unknown(node)
        return cast(value, to)

    def _paren(self, node: exp.Expr) -> Value | Wide:
        return self.say(node.this)

    def _arithmetic(self, node: exp.Expr) -> Value | Wide:
        left, right = self.say(node.this), self.say(node.expression)
        if isinstance(left, int | Wide) or isinstance(right, int | Wide):
            return _widely(node, left, right)
        if isinstance(node, exp.Div):
            return real(left) / real(right).nullif(0.0)
        if isinstance(node, exp.Mul):
            return left * right
        return left + right if isinstance(node, exp.Add) else left - right

    def _share(self, node: exp.Expr) -> Value:
        over, rows = self.say(node.this), self.plain(node.expression)
        if not isinstance(over, Wide):
            raise unknown(node)
        whole, rest = over.share(ibis.cases((rows < MOST_ROWS, rows), else_=1))
        nearer = ibis.cases(((whole < 0) & (rest > 0), whole + 1), else_=whole)
        return ibis.cases((rows < MOST_ROWS, nearer), else_=0)

    def _comparison(self, node: exp.Expr) -> Value:
        return _COMPARED[type(node)](self.plain(node.this), self.plain(node.expression))

    def _connected(self, node: exp.Expr) -> Value:
        left, right = self.plain(node.this), self.plain(node.expression)
        return left & right if isinstance(node, exp.And) else left | right

    def _is(self, node: exp.Expr) -> Value:
        return self.plain(node.this).isnull()

    def _in(self, node: exp.Expr) -> Value:
        value = self.plain(node.this)
        listed = [_constant(one) for one in node.expressions]
        if None in listed:
            among = [value == self.plain(one) for one in node.expressions]
            found = among[0]
            for one in among[1:]:
                found = found | one
            return found
        return value.isin(listed)

    def _between(self, node: exp.Expr) -> Value:
        return self.plain(node.this).between(
            self.plain(node.args["low"]), self.plain(node.args["high"])
        )

    def _case(self, node: exp.Expr) -> Value:
        tests = [self.plain(one.this) for one in node.args["ifs"]]
        values = [self.say(one.args["true"]) for one in node.args["ifs"]]
        other = node.args.get("default")
        last = None if other is None else self.say(other)
        if isinstance(last, Wide):  # of a unit within its limits, so that it fits
            (test,) = tests
            out = test.fill_null(False)
            last = last.each(lambda one: ibis.cases((out, 0), else_=one)).narrow()
        real_ = any(_is_real(one) for one in (*values, last) if one is not None)
        values = [real(one) if real_ else one for one in values]
        if last is None:
            return ibis.cases(*zip(tests, values, strict=True))
        return ibis.cases(*zip(tests, values, strict=True), else_=real(last) if real_ else last)

    def _flat(self, node: exp.Expr) -> Value | Wide:
        values = [self.say(one) for one in (node.this, *node.expressions)]
        if isinstance(values[0], Wide):
            return values[0].each(lambda one: one.coalesce(0))
        if any(map(_is_real, values)):
            values = [real(one) for one in values]
        if isinstance(node, exp.Coalesce):
            return ibis.coalesce(*values)
        return (ibis.least if isinstance(node, exp.Least) else ibis.greatest)(*values)

    def _nullif(self, node: exp.Expr) -> Value:
        return self.plain(node.this).nullif(self.plain(node.expression))

    def _not(self, node: exp.Expr) -> Value:
        return ~self.plain(node.this)

    def _negative(self, node: exp.Expr) -> Value:
        return -self.plain(node.this)

    def _abs(self, node: exp.Expr) -> Value:
        return self.plain(node.this).abs()

    def _whole(self, node: exp.Expr) -> Value:
        value = real(self.plain(node.this))
        if node.args.get("decimals") is not None:
            raise unknown(node)
        small = value.abs() < _WHOLE_FROM
        safe = ibis.cases((small, value), else_=0.0)
        if isinstance(node, exp.Round):
            size = safe.abs().floor().cast("float64")
            up = ibis.cases((safe.abs() - size >= 0.5, 1.0), else_=0.0)
            made = ibis.cases((safe < 0, -1.0), else_=1.0) * (size + up)
        else:
            made = safe.floor() if isinstance(node, exp.Floor) else safe.ceil()
        return ibis.cases((small, made.cast("float64")), else_=value)

    def _like(self, node: exp.Expr) -> Value:
        if not isinstance(node.expression, exp.Literal):
            raise unknown(node)
        words = {"%": ".*", "_": "."}
        pattern = "".join(words.get(one) or re.escape(one) for one in node.expression.name)
        return self.plain(node.this).re_search(f"(?s)^{pattern}$")

    def _count(self, node: exp.Expr) -> Value:
        if isinstance(node.this, exp.Star):
            rows: Any = self.columns["*"]
            return rows.count()
        if isinstance(node.this, exp.Distinct):
            return self.plain(node.this.expressions[0]).nunique()
        return self.plain(node.this).count()

    def _sum(self, node: exp.Expr) -> Wide:
        value = self.say(node.this)
        if isinstance(value, Wide):
            return value.total()
        if _is_real(value):
            raise unknown(node)  # a sum of doubles depends on the order of rows
        # A part must not be negative: what is below zero is counted apart.
        above = ibis.cases((value > 0, value), (value <= 0, 0))
        below = ibis.cases((value < 0, -value), (value >= 0, 0))
        return Wide(((1, above), (-1, below))).total()

    def _anonymous(self, node: exp.Expr) -> Value:
        if node.name.upper() != "HASH" or not isinstance(node.expressions[-1], exp.Placeholder):
            raise unknown(node)
        told: Value = ibis.literal(str(self._salt))
        for one in node.expressions[:-1]:
            told = told + "|" + self.plain(one).cast("string").fill_null("")
        return told.hash()


def unknown(node: exp.Expr) -> Unsupported:
    """What cannot be said through Ibis."""
    return Unsupported(
        f"Ibis has no exact words for {type(node).__name__.upper()} as DuckDB means it. Ask "
        "without it, or copy the table into DuckDB. Nothing was spent."
    )


def real(value: Value) -> Value:
    """An integer or double as a double."""
    if isinstance(value, int):
        return float(value)
    return value if not hasattr(value, "type") or _is_real(value) else cast(value, "float64")


def cast(value: Value, to: str) -> Value:
    """The value as another type, NULL where it cannot be one."""
    kind = value.type()
    if kind.is_null() or str(kind) == to or (to == "int64" and kind.is_integer()):
        return value.cast(to) if kind.is_integer() else value
    if kind.is_boolean() and to in ("int64", "float64"):
        return value.cast("int64").cast(to)
    if to == "float64" and kind.is_numeric():
        return value.cast(to)
    if to == "float64" and kind.is_string():
        return _read(value)
    if to == "int64" and kind.is_floating():
        return _even(value)
    if to == "int64" and kind.is_decimal():
        return _even(value.cast("float64"))
    if to == "boolean" and kind.is_numeric():
        return value != 0
    if to == "boolean" and kind.is_string():
        low = value.lower()
        return ibis.cases((low.isin(spelling.TRUE), True), (low.isin(spelling.FALSE), False))
    if to == "string" and (kind.is_integer() or kind.is_boolean() or kind.is_date()):
        return value.cast("string")
    if to == "timestamp(6)" and kind.is_date():
        return value.cast(to)
    if to in ("timestamp(6)", "date") and kind.is_string():
        moment = _read_moment(value)
        return moment if to == "timestamp(6)" else moment.date()
    if to == "date" and kind.is_timestamp():
        return value.date()
    if kind.is_temporal() and to in ("float64", "boolean", "int64"):
        return ibis.null(to)
    raise Unsupported(f"Ibis does not make {to} of {kind} as DuckDB does. Nothing was spent.")


def _read(value: Value) -> Value:
    """Text as a number, as DuckDB reads it."""
    bare = value.re_replace(spelling.NOISE, "")
    number = ibis.cases((value.re_search(spelling.NUMBER), bare)).try_cast("float64")
    return ibis.cases(
        (value.re_search(spelling.NOT_A_NUMBER), float("nan")),
        (value.re_search(spelling.INFINITE) & value.contains("-"), float("-inf")),
        (value.re_search(spelling.INFINITE), float("inf")),
        else_=number,
    )


def _read_moment(value: Value) -> Value:
    """Text as a moment, if it is one."""
    if value.get_backend().name != "polars":
        told = ibis.cases((value.re_search(spelling.MOMENT), value))
        return told.replace("T", " ").try_cast("timestamp(6)")
    # Polars, as Ibis has it, reads no moments, so the microseconds from 1970 are reckoned.
    y, m, d, h, minute, s, micro = (
        value.re_extract(spelling.PARTS, place).try_cast("int64") for place in range(1, 8)
    )
    h, minute, s, micro = (one.coalesce(0) for one in (h, minute, s, micro))
    digits = value.re_extract(spelling.PARTS, 7).length().coalesce(0)
    scale = ibis.cases(*((digits == i, 10 ** (6 - i)) for i in range(7)), else_=1)
    leap = ((y % 4 == 0) & (y % 100 != 0)) | (y % 400 == 0)
    last = ibis.cases(
        ((m == 2) & leap, 29), (m == 2, 28), (m.isin([4, 6, 9, 11]), 30), else_=31
    )
    there = m.between(1, 12) & (d >= 1) & (d <= last) & (h < 24) & (minute < 60) & (s < 60)
    # Years begin in March, so that the odd day comes last; 400 of them have 146,097 days.
    year = ibis.cases((m <= 2, y - 1), else_=y) + 400
    month = (m + 9) % 12
    days = year * 365 + quotient(year, 4) - quotient(year, 100) + quotient(year, 400)
    days = days + quotient(month * 153 + 2, 5) + d - 1 - 719_468 - 146_097
    seconds = ((days * 24 + h) * 60 + minute) * 60 + s
    return ibis.cases((there, seconds * 1_000_000 + micro * scale)).as_timestamp("us")


def _even(value: Value) -> Value:
    """A double as an integer, to the even neighbour; NULL where it does not fit."""
    small = value.abs() < _WHOLE_FROM
    safe = ibis.cases((small, value), else_=0.0)
    floor = safe.floor().cast("int64")
    over = safe - floor
    up = (over > 0.5) | ((over == 0.5) & (floor % 2 != 0))
    fits = (value >= -(2.0**63)) & (value < 2.0**63)
    large = ibis.cases((fits, value), else_=0.0).try_cast("int64")
    return ibis.cases((small, floor + ibis.cases((up, 1), else_=0)), (fits, large))


def _is_real(value: Value) -> bool:
    return hasattr(value, "type") and value.type().is_floating()


def _widely(node: exp.Expr, left: Any, right: Any) -> Any:
    """Arithmetic of wide integers, of which a product has a constant side."""
    if isinstance(node, exp.Mul):
        sides = [one for one in (left, right) if isinstance(one, Wide)]
        numbers = [_whole_number(one) for one in (left, right) if not isinstance(one, Wide)]
        if len(sides) == 1 and numbers[0] is not None:
            return sides[0].times(numbers[0])
        raise unknown(node)
    both = [one if isinstance(one, Wide) else Wide(((1, one),)) for one in (left, right)]
    return both[0] + (both[1] if isinstance(node, exp.Add) else both[1].times(-1))


def _whole_number(value: Any) -> int | None:
    if isinstance(value, int):
        return value
    found = value.op()
    return int(found.value) if type(found).__name__ == "Literal" else None


def _constant(node: exp.Expr) -> Any:
    if isinstance(node, exp.Literal):
        return node.name if node.is_string else float(node.name)
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    number = _number(node.this) if isinstance(node, exp.Cast) else _number(node)
    return None if number is None else float(number)


def _number(node: exp.Expr) -> str | None:
    if isinstance(node, exp.Paren):
        return _number(node.this)
    if isinstance(node, exp.Neg):
        inner = _number(node.this)
        return None if inner is None else f"-{inner}"
    return node.name if isinstance(node, exp.Literal) and not node.is_string else None


def _moment(text: str) -> Value:
    try:
        return ibis.literal(datetime.datetime.fromisoformat(text), type="timestamp(6)")
    except ValueError:
        return ibis.null("timestamp(6)")


_READS: dict[type[exp.Expr], Callable[[Values, exp.Expr], Any]] = {
    exp.Column: Values._column,
    exp.Literal: Values._literal,
    exp.Null: lambda _, node: ibis.null(),
    exp.Boolean: lambda _, node: ibis.literal(bool(node.this)),
    exp.Paren: Values._paren,
    exp.Cast: Values._cast,
    exp.TryCast: Values._cast,
    exp.Add: Values._arithmetic,
    exp.Sub: Values._arithmetic,
    exp.Mul: Values._arithmetic,
    exp.Div: Values._arithmetic,
    exp.Neg: Values._negative,
    exp.IntDiv: Values._share,
    exp.And: Values._connected,
    exp.Or: Values._connected,
    exp.Not: Values._not,
    exp.Is: Values._is,
    exp.In: Values._in,
    exp.Between: Values._between,
    exp.Case: Values._case,
    exp.Coalesce: Values._flat,
    exp.Least: Values._flat,
    exp.Greatest: Values._flat,
    exp.Nullif: Values._nullif,
    exp.Abs: Values._abs,
    exp.Floor: Values._whole,
    exp.Ceil: Values._whole,
    exp.Round: Values._whole,
    exp.Like: Values._like,
    exp.Count: Values._count,
    exp.Sum: Values._sum,
    exp.Anonymous: Values._anonymous,
    **dict.fromkeys(_COMPARED, Values._comparison),
}
