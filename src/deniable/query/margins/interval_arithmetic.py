"""Confidence intervals of any formula: its parts' intervals, put through its operations.

Each part gets its share of 1 - confidence, so all parts hold together with the requested
confidence, whatever the formula does with them. The result is valid but wide, because it
ignores that errors of several parts seldom add up. It is used for formulas without slopes
(LEAST of two averages), and where slopes say nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.query.margins.evaluation import Values, evaluate
from deniable.query.margins.linear_forms import features_of
from deniable.query.plan.plan import KeyColumn, Node, Number, Operation, walk

Floats: TypeAlias = NDArray[np.float64]
Interval: TypeAlias = tuple[Floats, Floats]

# These grow with each argument, so all arguments are at their lower ends, or all at the upper.
_GROWING = frozenset(
    (
        *("+", "sqrt", "floor", "ceil", "round", "round to", "trunc", "sign", "exp", "least"),
        *("greatest", "clamp", "cast number", "cast integer", "and", "or"),
    )
)
# In each argument these are monotone, so extreme values lie at the ends of all intervals.
_MONOTONE = frozenset(("-", "*", "negative", "<", "<=", ">", ">=", "not"))


def combine(
    node: Node,
    parts: Mapping[Node, Interval],
    features: Mapping[str, Values],
    keys: Sequence[Values],
) -> Interval:
    """The interval of a formula, given those of its parts.

    >>> from deniable.query.plan.plan import Feature
    >>> a, b = Feature("a", 0), Feature("b", 0)
    >>> parts = {a: (np.array([1.0]), np.array([2.0])), b: (np.array([-3.0]), np.array([4.0]))}
    >>> low, high = combine(Operation("*", (a, b)), parts, {}, ())
    >>> low.tolist(), high.tolist()
    ([-6.0], [8.0])
    """
    if node in parts:
        return parts[node]
    if not features_of(node):
        value = np.asarray(evaluate(node, features, keys), dtype=np.float64)
        return value, value
    assert isinstance(node, Operation)
    inner = [combine(argument, parts, features, keys) for argument in node.arguments]
    return apply(node, inner, features, keys)


def apply(
    node: Operation,
    inner: Sequence[Interval],
    features: Mapping[str, Values],
    keys: Sequence[Values],
) -> Interval:
    """The values of one call, where its arguments are anywhere in their intervals."""

    def at(*ends: Floats) -> Floats:
        places = tuple(KeyColumn(len(keys) + i) for i in range(len(ends)))
        call = Operation(node.name, places)
        return np.asarray(evaluate(call, features, (*keys, *ends)), dtype=np.float64)

    if node.name == "coalesce":  # the others count only where the first is not known
        first = walk(node.arguments[0])
        may_be_null = any(isinstance(a, Operation) and a.name == "nullif" for a in first)
        return _hull([end for pair in inner for end in pair]) if may_be_null else inner[0]
    rule = _RULES.get(node.name)
    if node.name == "power" and not isinstance(node.arguments[1], Number):
        rule = None
    if rule is not None:
        return rule(node, inner, at)
    if node.name in _GROWING:
        return _hull([at(*ends) for ends in zip(*inner, strict=True)])
    if node.name in _MONOTONE:
        return _hull([at(*ends) for ends in product(*inner)])
    shape = np.broadcast(*(end for pair in inner for end in pair)).shape
    return np.full(shape, -np.inf), np.full(shape, np.inf)


def _folded(node: Operation, inner: Sequence[Interval], at: Callable[..., Floats]) -> Interval:
    """A function of one argument that is monotone on either side of 0."""
    (low, high), *rest = inner
    others = [pair[0] for pair in rest]
    ends = [at(low, *others), at(high, *others)]
    around = (low <= 0) & (high >= 0)
    ends.append(np.where(around, at(np.zeros_like(low), *others), ends[0]))
    return _hull(ends)


def _power(node: Operation, inner: Sequence[Interval], at: Callable[..., Floats]) -> Interval:
    """A power with a constant exponent. A negative one has no limit at 0."""
    low, high = inner[0]
    result = _folded(node, inner, at)
    exponent = node.arguments[1]
    assert isinstance(exponent, Number)
    if exponent.value >= 0:
        return result
    around = (low <= 0) & (high >= 0)
    return np.where(around, -np.inf, result[0]), np.where(around, np.inf, result[1])


def _quotient(
    node: Operation, inner: Sequence[Interval], at: Callable[..., Floats]
) -> Interval:
    low, high = inner[1]
    lower, upper = _hull([at(*ends) for ends in product(*inner)])
    around = (low <= 0) & (high >= 0)
    return np.where(around, -np.inf, lower), np.where(around, np.inf, upper)


def _logarithm(
    node: Operation, inner: Sequence[Interval], at: Callable[..., Floats]
) -> Interval:
    """Without limit below where the argument may be 0."""
    low, high = inner[0]
    lower, upper = _hull([at(np.where(low > 0, low, high)), at(high)])
    return np.where(low > 0, lower, -np.inf), upper


_RULES = {"abs": _folded, "/": _quotient, "power": _power} | dict.fromkeys(
    ("ln", "log10", "log2"), _logarithm
)


def _hull(ends: Sequence[Floats]) -> Interval:
    """The least and the greatest; unknown if any of them is (0 times infinity is one)."""
    unknown = np.logical_or.reduce(np.broadcast_arrays(*map(np.isnan, ends)))
    lower, upper = (f.reduce(np.broadcast_arrays(*ends)) for f in (np.minimum, np.maximum))
    return np.where(unknown, -np.inf, lower), np.where(unknown, np.inf, upper)
