"""The values of a plan's outputs, computed from the noisy integers of all groups at once.

This is post-processing: it sees only noisy values, released keys and constants, and may use
floats. Division by zero and powers that overflow a double are NaN, which a release shows as
NULL. The square root of a noisy negative number is 0, the nearest possible value. What is true
is 1, what is false is 0, and what is neither is NaN, as NULL is in SQL.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import Unsupported
from deniable.query.margins.released_texts import TEXT_OPERATIONS, compare, is_missing
from deniable.query.plan.plan import (
    Chosen,
    Constant,
    Feature,
    KeyColumn,
    Node,
    Number,
    Told,
)

Values: TypeAlias = NDArray[Any]


def evaluate(node: Node, features: Mapping[str, Values], keys: Sequence[Values] = ()) -> Values:
    """The node's value in every group.

    >>> from deniable.query.plan.plan import Operation
    >>> mean = Operation("/", (Feature("total", 0), Feature("n", 0)))
    >>> evaluate(mean, {"total": np.array([6.0, 1.0]), "n": np.array([3.0, 0.0])}).tolist()
    [2.0, nan]
    """
    with np.errstate(all="ignore"):
        return _evaluate(node, features, keys)


def _evaluate(node: Node, features: Mapping[str, Values], keys: Sequence[Values]) -> Values:
    if isinstance(node, Number):
        return np.asarray(float(node.value))
    if isinstance(node, Constant):
        return _constant(node.value)
    if isinstance(node, Feature | Chosen | Told):
        return _as_numbers(features[node.name])
    if isinstance(node, KeyColumn):
        return keys[node.place]
    operation = _OPERATIONS.get(node.name)
    if operation is None:
        raise Unsupported(f"{node.name.upper()} cannot be applied to noisy values.")
    arguments = [_evaluate(argument, features, keys) for argument in node.arguments]
    return np.asarray(operation(*arguments))


def _as_numbers(values: Values) -> Values:
    """Chosen truth values as 1 and 0; other values as they are."""
    truths = values.dtype == object and values.size and isinstance(values.flat[0], bool)
    return values.astype(np.float64) if truths else values


def _constant(value: str | bool | None) -> Values:
    if isinstance(value, str):
        return np.asarray(value, dtype=object)
    return np.asarray(np.nan if value is None else float(value))


def _minus(first: Any, *rest: Any) -> Any:
    return first - rest[0] if rest else -first


def _over(a: Any, b: Any) -> Any:
    return np.where(b == 0, np.nan, np.divide(a, np.where(b == 0, 1, b)))


def _power(a: Any, b: Any) -> Any:
    """A power; NaN if it overflows."""
    power = np.power(a, b)
    return np.where(np.isinf(power), np.nan, power)


def _case(*arguments: Any) -> Any:
    result = arguments[-1] if len(arguments) % 2 else np.asarray(np.nan)
    pairs = list(zip(arguments[:-1:2], arguments[1::2], strict=False))
    for when, then in reversed(pairs):
        result = np.where(when == 1, then, result)
    return result


def _coalesce(*arguments: Any) -> Any:
    return reduce(lambda a, b: np.where(_missing(a), b, a), arguments)


def _missing(a: Any) -> Any:
    if np.asarray(a).dtype == object:
        missing = [is_missing(value) for value in np.ravel(a)]
        return np.array(missing, dtype=np.bool_).reshape(np.shape(a))
    return np.isnan(a)


def _null_if(a: Any, b: Any) -> Any:
    return np.where(_EQUAL(a, b) == 1, None if np.asarray(a).dtype == object else np.nan, a)


def _all(*arguments: Any) -> Any:
    """AND of SQL: false if one is false, else NULL if one is NULL."""
    false = reduce(np.logical_or, [argument == 0 for argument in arguments])
    unknown = reduce(np.logical_or, [np.isnan(argument) for argument in arguments])
    return np.where(false, 0.0, np.where(unknown, np.nan, 1.0))


def _not(a: Any) -> Any:
    return 1.0 - a


def _any(*arguments: Any) -> Any:
    return _not(_all(*map(_not, arguments)))


def _is_distinct(a: Any, b: Any) -> Any:
    both, one_side = _missing(a) & _missing(b), _missing(a) ^ _missing(b)
    return np.where(both, 0.0, np.where(one_side, 1.0, _not(_EQUAL(a, b))))


def _round_half_away(a: Any, digits: Any = 0.0) -> Any:
    """Halves away from zero, as in DuckDB."""
    scale = np.power(10.0, digits)
    size = np.abs(a) * scale
    whole = np.floor(size)
    rounded = np.copysign(whole + (size - whole >= 0.5), a) / scale
    return np.where(np.isfinite(rounded), rounded, a)


def _logarithm(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda a: function(np.where(a > 0, a, np.nan))


def _remainder(a: Any, b: Any) -> Any:
    return np.where(b == 0, np.nan, np.fmod(a, np.where(b == 0, 1, b)))


def _finite(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function, with NaN where it overflows a double."""

    def run(a: Any) -> Any:
        result = function(a)
        return np.where(np.isinf(result), np.nan, result)

    return run


_EQUAL = compare(lambda a, b: a == b)

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": lambda *all_: reduce(np.add, all_),
    "-": _minus,
    "*": lambda *all_: reduce(np.multiply, all_),
    "/": _over,
    "negative": np.negative,
    "power": _power,
    "sqrt": lambda a: np.sqrt(np.maximum(a, 0)),
    "abs": np.abs,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": _round_half_away,
    "round to": _round_half_away,
    "trunc": np.trunc,
    "sign": np.sign,
    "exp": _finite(np.exp),
    "ln": _logarithm(np.log),
    "log10": _logarithm(np.log10),
    "log2": _logarithm(np.log2),
    "mod": _remainder,
    "cast integer": _round_half_away,
    "cast number": lambda a: a,
    "least": lambda *all_: reduce(np.fmin, all_),
    "greatest": lambda *all_: reduce(np.fmax, all_),
    "clamp": lambda a, low, high: np.minimum(np.maximum(a, low), high),
    "coalesce": _coalesce,
    "case": _case,
    "nullif": _null_if,
    "is null": lambda a: _missing(a).astype(np.float64),
    "is distinct": _is_distinct,
    "=": _EQUAL,
    "<>": compare(lambda a, b: a != b),
    "<": compare(lambda a, b: a < b),
    "<=": compare(lambda a, b: a <= b),
    ">": compare(lambda a, b: a > b),
    ">=": compare(lambda a, b: a >= b),
    "in": lambda a, *all_: _any(*(_EQUAL(a, value) for value in all_)),
    "and": _all,
    "or": _any,
    "not": _not,
    **TEXT_OPERATIONS,
}
OPERATIONS = frozenset(_OPERATIONS)
