"""The values of a plan's outputs, computed from the noisy integers of all groups at once.

This is post-processing: it sees only noisy values, released keys and constants, and may use
floats. Division by zero and powers that overflow a double are NaN, which a release shows as
NULL. The square root of a noisy negative number is 0, the nearest possible value.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import Unsupported
from deniable.query.plan.plan import (
    Chosen,
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
    if isinstance(node, Feature | Chosen | Told):
        return features[node.name]
    if isinstance(node, KeyColumn):
        return keys[node.place]
    operation = _OPERATIONS.get(node.name)
    if operation is None:
        raise Unsupported(f"{node.name.upper()} cannot be applied to noisy values.")
    arguments = [_evaluate(argument, features, keys) for argument in node.arguments]
    return np.asarray(operation(*arguments))


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
        result = np.where(when, then, result)
    return result


def _coalesce(*arguments: Any) -> Any:
    return reduce(lambda a, b: np.where(_missing(a), b, a), arguments)


def _missing(a: Any) -> Any:
    if np.asarray(a).dtype == object:
        return np.array([value is None or value != value for value in np.ravel(a)])
    return np.isnan(a)


def _order(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A comparison that is false where a key is NULL, or is a date too far away to be read as
    one: Python cannot order None and text."""

    def of_keys(a: Any, b: Any) -> Any:
        if object not in (np.asarray(a).dtype, np.asarray(b).dtype):
            return compare(a, b)
        pairs = np.broadcast(a, b)
        holds = [x is not None and type(x) is type(y) and bool(compare(x, y)) for x, y in pairs]
        return np.array(holds, dtype=np.bool_).reshape(pairs.shape)

    return of_keys


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
    "round": np.round,
    "cast integer": np.round,
    "cast number": lambda a: a,
    "least": lambda *all_: reduce(np.fmin, all_),
    "greatest": lambda *all_: reduce(np.fmax, all_),
    "clamp": lambda a, low, high: np.minimum(np.maximum(a, low), high),
    "coalesce": _coalesce,
    "case": _case,
    "is null": _missing,
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": _order(lambda a, b: a < b),
    "<=": _order(lambda a, b: a <= b),
    ">": _order(lambda a, b: a > b),
    ">=": _order(lambda a, b: a >= b),
    "in": lambda a, *all_: reduce(np.logical_or, [a == value for value in all_]),
    "and": lambda *all_: reduce(np.logical_and, all_),
    "or": lambda *all_: reduce(np.logical_or, all_),
    "not": np.logical_not,
}
OPERATIONS = frozenset(_OPERATIONS)
