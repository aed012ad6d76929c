"""Casts through Ibis: no value makes them fail, and they give DuckDB's results."""

import datetime

import ibis
from sqlglot import exp

from deniable.engines.dialect import text_patterns
from deniable.engines.ibis.wide_integers import Value
from deniable.errors import Unsupported

WHOLE_FROM = 2.0**52  # larger doubles are whole numbers
_MONTHS_OF_31_DAYS = (1, 3, 5, 7, 8, 10, 12)  # months of 31 days


def unsupported(node: exp.Expr) -> Unsupported:
    """The error for an expression that Ibis cannot reproduce."""
    return Unsupported(
        f"Ibis cannot reproduce DuckDB's {type(node).__name__.upper()} exactly. Leave it out, "
        "or copy the table into DuckDB. Nothing was spent."
    )


def to_double(value: Value) -> Value:
    """An integer or double as a double."""
    if isinstance(value, int):
        return float(value)
    return value if not hasattr(value, "type") or is_double(value) else cast(value, "float64")


def divide(value: Value, by: Value) -> Value:
    """value / by. Polars multiplies by the constant 1 / by, which gives another number; so a
    constant is made a column."""
    is_constant = not hasattr(by, "op") or by.op().shape.is_scalar()
    return value / (ibis.cases((value.notnull(), by)) if is_constant else by)


def cast(value: Value, to: str) -> Value:
    """The value as another type; NULL if it cannot be converted."""
    kind = value.type()
    if kind.is_null() or str(kind) == to or (to == "int64" and kind.is_integer()):
        return value.cast(to) if kind.is_integer() else value
    if kind.is_boolean() and to in ("int64", "float64"):
        return value.cast("int64").cast(to)
    if to == "float64" and kind.is_numeric():
        return value.cast(to)
    if to == "float64" and kind.is_string():
        return _text_to_double(value)
    if to == "int64" and kind.is_floating():
        return _round_to_even(value)
    if to == "int64" and kind.is_decimal():
        return _round_to_even(value.cast("float64"))
    if to == "boolean" and kind.is_numeric():
        return value != 0
    if to == "boolean" and kind.is_string():
        low = value.lower()
        return ibis.cases(
            (low.isin(text_patterns.TRUE), True), (low.isin(text_patterns.FALSE), False)
        )
    if to == "string" and (kind.is_integer() or kind.is_boolean() or kind.is_date()):
        return value.cast("string")
    if to == "string" and kind.is_floating():
        return _double_to_text(value)
    if to == "timestamp(6)" and kind.is_date():
        return value.cast(to)
    if to in ("timestamp(6)", "date") and kind.is_string():
        moment = _text_to_moment(value)
        return moment if to == "timestamp(6)" else moment.date()
    if to == "date" and kind.is_timestamp():
        return value.date()
    if kind.is_temporal() and to in ("float64", "boolean", "int64"):
        return ibis.null(to)
    raise Unsupported(
        f"Ibis cannot cast {kind} to {to} exactly as DuckDB does. Nothing was spent."
    )


def _double_to_text(value: Value) -> Value:
    """A double with its shortest digits, as DuckDB and Python write it."""
    backend = value.get_backend().name
    if backend not in ("duckdb", "polars"):
        raise Unsupported(
            f"Through Ibis, {backend} does not write numbers as DuckDB does. Nothing was spent."
        )
    return (
        _shortest_digits(value.cast("float64")) if backend == "polars" else value.cast("string")
    )


_shortest_digits = ibis.udf.scalar.python(
    lambda x: None if x is None else repr(x), signature=(("float64",), "string")
)


def _text_to_double(value: Value) -> Value:
    """Text as a double, as DuckDB reads it."""
    bare = value.re_replace(text_patterns.NOISE, "")
    number = ibis.cases((value.re_search(text_patterns.NUMBER), bare)).try_cast("float64")
    return ibis.cases(
        (value.re_search(text_patterns.NOT_A_NUMBER), float("nan")),
        (value.re_search(text_patterns.INFINITE) & value.contains("-"), float("-inf")),
        (value.re_search(text_patterns.INFINITE), float("inf")),
        else_=number,
    )


def _text_to_moment(value: Value) -> Value:
    """Text as a moment; NULL if it is not one."""
    if value.get_backend().name == "polars":
        return _moment_from_parts(value)
    day, time = (value.re_extract(text_patterns.MOMENT, place) for place in (1, 2))
    matched = ibis.cases((value.re_search(text_patterns.MOMENT), day + time.replace("T", " ")))
    return matched.try_cast("timestamp(6)")


def _moment_from_parts(value: Value) -> Value:
    """A moment from its parts: through Ibis, Polars fails on text that is not a moment."""
    parts = [value.re_extract(text_patterns.MOMENT_PARTS, place) for place in range(1, 7)]
    year, month, day, hour, minute, second = (part.try_cast("int64") for part in parts)
    fraction = (
        value.re_extract(text_patterns.MOMENT_PARTS, 7)
        .rpad(6, "0")
        .try_cast("int64")
        .fill_null(0)
    )
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    days = ibis.cases(
        (month.isin(_MONTHS_OF_31_DAYS), 31), (month != 2, 30), (leap, 29), else_=28
    )
    hour, minute, second = (part.fill_null(0) for part in (hour, minute, second))
    valid = (year >= 1) & month.between(1, 12) & (day >= 1) & (day <= days)
    valid = (valid & (hour <= 23) & (minute <= 59) & (second <= 59)).fill_null(False)
    parts = [year, month, day, hour, minute, second]
    harmless = (1970, 1, 1, 0, 0, 0)
    safe = [
        ibis.cases((valid, part), else_=harmless_part)
        for part, harmless_part in zip(parts, harmless, strict=True)
    ]
    moment = ibis.timestamp(*safe) + fraction.as_interval("us")
    return ibis.cases((valid, moment.cast("timestamp(6)")))


def _round_to_even(value: Value) -> Value:
    """A double as an integer, rounded half to even; NULL if it does not fit."""
    small = value.abs() < WHOLE_FROM
    safe = ibis.cases((small, value), else_=0.0)
    floor = safe.floor().cast("int64")
    fraction = safe - floor
    up = (fraction > 0.5) | ((fraction == 0.5) & (floor % 2 != 0))
    fits = (value >= -(2.0**63)) & (value < 2.0**63)
    large = ibis.cases((fits, value), else_=0.0).try_cast("int64")
    return ibis.cases((small, floor + ibis.cases((up, 1), else_=0)), (fits, large))


def is_double(value: Value) -> bool:
    """Whether a value is a double."""
    return hasattr(value, "type") and value.type().is_floating()


def moment_literal(text: str) -> Value:
    """The moment in a literal, or NULL."""
    try:
        moment = datetime.datetime.fromisoformat(text).replace(tzinfo=None)
        return ibis.literal(moment, type="timestamp(6)")
    except ValueError:
        return ibis.null("timestamp(6)")
