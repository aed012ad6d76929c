"""Functions of numbers through Ibis, total, and equal to DuckDB's to the last bit.

FLOOR, CEIL, TRUNC, ROUND and SIGN are written out. For the other functions DuckDB calls the C
library. Polars computes powers, logarithms and remainders in another way, so there Python
computes them in this process, with the same C library.
"""

import math
from collections.abc import Callable
from typing import Any

import ibis
from sqlglot import exp

from deniable.engines.dialect.constants import constant_of
from deniable.engines.ibis.casts import (
    WHOLE_FROM,
    divide,
    to_double,
    unsupported,
)
from deniable.engines.ibis.wide_integers import Value

ReadPlain = Callable[[exp.Expr], Value]


def _rounding(node: exp.Expr, translate: ReadPlain, backend: str) -> Value:
    value = to_double(translate(node.this))
    digits = node.args.get("decimals")
    if digits is None:
        return round_double(type(node), value)
    places = constant_of(digits)
    if not isinstance(node, exp.Round) or places is None or places != int(places):
        raise unsupported(node)
    scale = 10.0 ** abs(int(places))
    if places < 0:
        rounded = round_double(exp.Round, divide(value, scale)) * scale
    else:
        rounded = divide(round_double(exp.Round, value * scale), scale)
    return ibis.cases((rounded.isnan() | rounded.isinf(), value), else_=rounded)


def round_double(how: type[exp.Expr], value: Value) -> Value:
    """FLOOR, CEIL, TRUNC or ROUND (half away from zero) of a double, as a double."""
    small = value.abs() < WHOLE_FROM
    safe = ibis.cases((small, value), else_=0.0)
    if how is exp.Floor:
        rounded = safe.floor()
    elif how is exp.Ceil:
        rounded = safe.ceil()
    else:
        size = safe.abs().floor().cast("float64")
        if how is exp.Round:
            size = size + ibis.cases((safe.abs() - size >= 0.5, 1.0), else_=0.0)
        rounded = ibis.cases((safe < 0, -1.0), else_=1.0) * size
    return ibis.cases((small, rounded.cast("float64")), else_=value)


def _sign(node: exp.Expr, translate: ReadPlain, backend: str) -> Value:
    value = to_double(translate(node.this))
    zero = (value == 0.0) | value.isnan()
    return ibis.cases((zero, 0), (value > 0.0, 1), (value < 0.0, -1))


def _root(node: exp.Expr, translate: ReadPlain, backend: str) -> Value:
    value = to_double(translate(node.this))
    return ibis.cases((value >= 0.0, value)).sqrt()


def _transcendental(node: exp.Expr, translate: ReadPlain, backend: str) -> Value:
    """EXP, LN, SIN, COS: Polars and DuckDB both call the C library."""
    if backend not in ("duckdb", "polars"):
        raise unsupported(node)
    value = to_double(translate(node.this))
    if isinstance(node, exp.Ln):
        return ibis.cases((value > 0.0, value)).ln()
    return getattr(value, type(node).__name__.lower())()


def _logarithm(node: exp.Expr, translate: ReadPlain, backend: str) -> Value:
    base, value = constant_of(node.this), to_double(translate(node.expression))
    if base not in (2, 10) or backend not in ("duckdb", "polars"):
        raise unsupported(node)
    positive = ibis.cases((value > 0.0, value))
    log10 = _log10(positive) if backend == "polars" else positive.log10()
    return divide(log10, math.log10(float(base)))


def _power(node: exp.Expr, translate: ReadPlain, backend: str) -> Value:
    return _of_two_doubles(node, translate, backend, _pow, lambda a, b: a.pow(b))


def _remainder(node: exp.Expr, translate: ReadPlain, backend: str) -> Value:
    return _of_two_doubles(node, translate, backend, _fmod, lambda a, b: a % b)


def _of_two_doubles(
    node: exp.Expr, translate: ReadPlain, backend: str, in_python: Any, in_backend: Any
) -> Value:
    if backend not in ("duckdb", "polars"):
        raise unsupported(node)
    both = to_double(translate(node.this)), to_double(translate(node.expression))
    return (in_python if backend == "polars" else in_backend)(*both)


def _distinct(node: exp.Expr, translate: ReadPlain, backend: str) -> Value:
    return ~translate(node.this).identical_to(translate(node.expression))


def _power_of(base: float | None, power: float | None) -> float | None:
    """C's pow: no error if the result is undefined or too large."""
    if base is None or power is None:
        return None
    odd = math.isfinite(power) and power % 2 == 1
    try:
        return math.pow(base, power)
    except OverflowError:
        return -math.inf if base < 0 and odd else math.inf
    except ValueError:  # 0 to a negative power, or the root of a negative number
        return math.nan if base else math.copysign(math.inf, base) if odd else math.inf


def _remainder_of(value: float | None, by: float | None) -> float | None:
    if value is None or by is None:
        return None
    try:
        return math.fmod(value, by)
    except ValueError:  # of an infinite number, or by 0
        return math.nan


def _log10_of(value: float | None) -> float | None:
    return None if value is None else math.log10(value)


_TWO = (("float64", "float64"), "float64")
_pow = ibis.udf.scalar.python(_power_of, signature=_TWO)
_fmod = ibis.udf.scalar.python(_remainder_of, signature=_TWO)
_log10 = ibis.udf.scalar.python(_log10_of, signature=(("float64",), "float64"))

NUMBER_FUNCTIONS: dict[type[exp.Expr], Callable[[Any, ReadPlain, str], Value]] = {
    exp.Floor: _rounding,
    exp.Ceil: _rounding,
    exp.Round: _rounding,
    exp.Trunc: _rounding,
    exp.Sign: _sign,
    exp.Sqrt: _root,
    exp.Exp: _transcendental,
    exp.Ln: _transcendental,
    exp.Sin: _transcendental,
    exp.Cos: _transcendental,
    exp.Log: _logarithm,
    exp.Pow: _power,
    exp.Mod: _remainder,
    exp.NullSafeNEQ: _distinct,
}
