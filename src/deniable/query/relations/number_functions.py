"""Functions of numbers. Each is NULL where it is not defined."""

import math
from collections.abc import Callable
from fractions import Fraction

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.plan.grid_steps import common_step
from deniable.query.relations import value_ranges
from deniable.query.relations.basic_functions import Function
from deniable.query.relations.sql_nodes import Sql, case, double, try_cast
from deniable.query.relations.value_ranges import ValueRange

_LARGEST_EXPONENT = 700  # e to this power is still a double
_ZERO = Fraction(0)
_MOST_DIGITS = 12


def _call(name: str, *arguments: Sql) -> Sql:
    return exp.func(name, *arguments, dialect="duckdb", copy=False)


def _sign(arguments: list[Sql]) -> Sql:
    """As a double: DuckDB's is an integer of eight bits, and a sum of many would fail."""
    return double(_call("SIGN", arguments[0]))


def _number(value: float | Fraction) -> Sql:
    return exp.cast(exp.Literal.number(repr(float(value))), "double", copy=False)


def _where(test: Sql, value: Sql) -> Sql:
    return case(test, value)


def _at_least(value: Sql, least: int, *, strictly: bool = False) -> Sql:
    kind = exp.GT if strictly else exp.GTE
    return kind(this=value, expression=_number(Fraction(least)))


def _at_most(value: Sql, most: int) -> Sql:
    """The value, or `most` if it is greater. LEAST(NULL, most) would be `most`, not NULL."""
    high = _number(Fraction(most))
    return case(exp.GT(this=value, expression=high), high.copy(), value.copy())


def _increasing_range(
    function: Callable[[float], float], a: ValueRange, lowest: float
) -> ValueRange:
    """The range of an increasing function, for arguments above `lowest`.

    The bounds are widened by far more than the error of doubles, and values are clipped anyway.
    """

    def end(value: Fraction | None, wider: float) -> Fraction | None:
        if value is None or float(value) <= lowest:
            return None
        try:
            result = function(float(value))
        except OverflowError:
            return None
        margin = wider * max(abs(result), 1e-300) * 1e-12
        return Fraction(result + margin).limit_denominator(10**15)

    return ValueRange("number", end(a.low, -1), end(a.high, 1))


def _root_range(arguments: list[ValueRange]) -> ValueRange:
    values = _increasing_range(math.sqrt, arguments[0], 0)
    return ValueRange("number", values.low or _ZERO, values.high)


def _exponential_range(arguments: list[ValueRange]) -> ValueRange:
    (a,) = arguments
    top = (
        Fraction(_LARGEST_EXPONENT)
        if a.high is None
        else min(a.high, Fraction(_LARGEST_EXPONENT))
    )
    values = _increasing_range(math.exp, ValueRange("number", top, top), -_LARGEST_EXPONENT)
    return ValueRange("number", _ZERO, values.high or Fraction(1))


def _power_range(arguments: list[ValueRange]) -> ValueRange:
    base, power = arguments
    if power.low is None or power.low != power.high:
        raise InvalidQuery("POWER takes a constant exponent, as in POWER(x, 2).")
    times = power.low
    if times.denominator != 1 or not 0 <= times <= 20 or not base.bounded:
        return ValueRange("number")
    assert base.low is not None
    assert base.high is not None
    ends = [base.low ** int(times), base.high ** int(times)]
    if base.low <= 0 <= base.high:
        ends.append(_ZERO)
    step = None if base.step is None or times == 0 else base.step ** int(times)
    return ValueRange("number", min(ends), max(ends), step)


def _power(arguments: list[Sql]) -> Sql:
    """NULL for roots of negative numbers. The base is never -0, whose inverse is -inf, because
    no comparison tells it from 0 (see `one_sign`)."""
    base, power = arguments
    unsigned = exp.paren(exp.Add(this=base, expression=_number(_ZERO)), copy=False)
    result = _call("POWER", unsigned, power)
    rational = exp.EQ(this=_call("FLOOR", power.copy()), expression=power.copy())
    defined = exp.or_(_at_least(base.copy(), 0), rational)
    return _where(exp.paren(defined), result)


def _remainder_range(arguments: list[ValueRange]) -> ValueRange:
    a, b = arguments
    if b.low is None or b.high is None:
        return ValueRange("number")
    most = max(abs(b.low), abs(b.high))
    negative = a.low is None or a.low < 0
    step = common_step([a.step, b.step])
    return ValueRange("number", -most if negative else _ZERO, most, step)


def _nonzero(value: Sql) -> Sql:
    return exp.func("NULLIF", value, exp.Literal.number(0), copy=False)


def _mod(arguments: list[Sql]) -> Sql:
    return exp.paren(exp.Mod(this=arguments[0], expression=_nonzero(arguments[1])))


def _whole_quotient(arguments: list[Sql]) -> Sql:
    quotient = exp.Div(this=arguments[0], expression=_nonzero(arguments[1]), typed=False)
    return _call("TRUNC", exp.paren(quotient))


def round_digits(places: ValueRange) -> int:
    """The number of digits that ROUND keeps, which must be a whole constant."""
    if places.low is None or places.low != places.high or places.low.denominator != 1:
        raise InvalidQuery("ROUND takes a whole number of digits, as in ROUND(x, 2).")
    if abs(places.low) > _MOST_DIGITS:
        raise InvalidQuery(
            f"ROUND keeps at most {_MOST_DIGITS} digits. Found {int(places.low)}."
        )
    return int(places.low)


def _round_range(arguments: list[ValueRange]) -> ValueRange:
    value, places = arguments
    step = Fraction(1, 10) ** round_digits(places)
    low = None if value.low is None else (value.low / step).__floor__() * step
    high = None if value.high is None else (value.high / step).__ceil__() * step
    return ValueRange("number", low, high, step)


def _round(arguments: list[Sql]) -> Sql:
    value, places = arguments
    return _call("ROUND", value, try_cast(places, "int"))


def _fixed_range(
    low: int, high: int, step: Fraction | None
) -> Callable[[list[ValueRange]], ValueRange]:
    return lambda arguments: ValueRange("number", Fraction(low), Fraction(high), step)


def _logarithm(name: str, function: Callable[[float], float]) -> Function:
    return Function(
        1,
        1,
        "number",
        lambda a: _increasing_range(function, a[0], 0),
        lambda a: _where(_at_least(a[0], 0, strictly=True), _call(name, a[0].copy())),
    )


def _wave(name: str) -> Function:
    return Function(1, 1, "number", _fixed_range(-1, 1, None), lambda a: _call(name, a[0]))


NUMBERS: dict[str, Function] = {
    "sqrt": Function(
        1,
        1,
        "number",
        _root_range,
        lambda a: _where(_at_least(a[0], 0), _call("SQRT", a[0].copy())),
    ),
    "exp": Function(
        1,
        1,
        "number",
        _exponential_range,
        lambda a: _call("EXP", _at_most(a[0], _LARGEST_EXPONENT)),
    ),
    "ln": _logarithm("LN", math.log),
    "log10": _logarithm("LOG10", math.log10),
    "log2": _logarithm("LOG2", math.log2),
    "power": Function(2, 2, "number", _power_range, _power),
    "mod": Function(2, 2, "number", _remainder_range, _mod),
    "quotient": Function(
        2,
        2,
        "number",
        lambda a: value_ranges.rounded(value_ranges.quotient(*a)),
        _whole_quotient,
    ),
    "trunc": Function(
        1, 1, "number", lambda a: value_ranges.rounded(a[0]), lambda a: _call("TRUNC", a[0])
    ),
    "round to": Function(2, 2, "number", _round_range, _round),
    "sign": Function(1, 1, "number", _fixed_range(-1, 1, Fraction(1)), _sign),
    "sin": _wave("SIN"),
    "cos": _wave("COS"),
    "nullif": Function(
        2, 2, "same", lambda a: a[0], lambda a: exp.func("NULLIF", *a, copy=False)
    ),
    "is distinct": Function(
        2,
        2,
        "same",
        lambda a: ValueRange("boolean"),
        lambda a: exp.paren(exp.NullSafeNEQ(this=a[0], expression=a[1]), copy=False),
    ),
}
