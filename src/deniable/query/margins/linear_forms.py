"""Outputs that are linear forms of noisy integers, or ratios of two linear forms.

The noise of a linear form has the same distribution whatever the data, so its margin is known
before anything is spent. A ratio of two (an average) has Fieller's set. Coefficients are exact.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from deniable.query.plan.plan import (
    Chosen,
    Feature,
    Node,
    Number,
    Operation,
    walk,
)


@dataclass(frozen=True, slots=True)
class LinearForm:
    """constant + sum of weights[name] * feature."""

    constant: Fraction
    weights: tuple[tuple[str, Fraction], ...]  # sorted by name; none is zero

    @classmethod
    def of(cls, constant: Fraction, weights: dict[str, Fraction]) -> "LinearForm":
        """From a dictionary."""
        return cls(constant, tuple(sorted((k, w) for k, w in weights.items() if w)))

    def plus(self, other: "LinearForm", times: Fraction = Fraction(1)) -> "LinearForm":
        """self + times * other."""
        weights = dict(self.weights)
        for name, weight in other.weights:
            weights[name] = weights.get(name, Fraction(0)) + times * weight
        return LinearForm.of(self.constant + times * other.constant, weights)

    def scaled(self, by: Fraction) -> "LinearForm":
        """by * self."""
        return LinearForm.of(Fraction(0), {}).plus(self, by)

    def at(self, features: Mapping[str, Any]) -> Any:
        """Its value at these features, number by number.

        >>> LinearForm(Fraction(1), (("n", Fraction(2)),)).at({"n": 5.0})
        11.0
        """
        total = float(self.constant)
        for name, weight in self.weights:
            total = total + float(weight) * features[name]
        return total

    @property
    def whole(self) -> bool:
        """Whether it is an integer whenever the features are."""
        coefficients = (self.constant, *dict(self.weights).values())
        return all(coefficient.denominator == 1 for coefficient in coefficients)


@dataclass(frozen=True, slots=True)
class RatioForm:
    """A linear form over another, which contains a feature."""

    above: LinearForm
    below: LinearForm


ZERO = LinearForm(Fraction(0), ())
ONE = LinearForm(Fraction(1), ())


@lru_cache(maxsize=4096)  # called many times with the same few nodes
def form(node: Node) -> LinearForm | RatioForm | None:
    """The node as a linear form or a ratio of two; None where it is neither.

    >>> half = Number(Fraction(1, 2))
    >>> mean = Operation("/", (Feature("s", 0), Feature("n", 0)))
    >>> shifted = form(Operation("+", (half, mean)))
    >>> shifted.above.weights
    (('n', Fraction(1, 2)), ('s', Fraction(1, 1)))
    """
    if isinstance(node, Number):
        return LinearForm(node.value, ())
    if isinstance(node, Feature):
        return LinearForm(Fraction(0), ((node.name, Fraction(1)),))
    if isinstance(node, Operation) and _passes_through(node):
        return form(node.arguments[0])
    if not isinstance(node, Operation) or node.name not in ("+", "-", "*", "/", "negative"):
        return None
    parts = []
    for argument in node.arguments:
        part = form(argument)
        if part is None:
            return None
        parts.append(part)
    if node.name == "negative" or (node.name == "-" and len(parts) == 1):
        return _times(parts[0], LinearForm(Fraction(-1), ()))
    result: LinearForm | RatioForm | None = parts[0]
    for part in parts[1:]:
        if result is None:
            return None
        result = _combine(node.name, result, part)
    return result


def _passes_through(node: Operation) -> bool:
    """Whether a call leaves its first argument as it is, or makes it NULL."""
    if node.name == "nullif":
        return isinstance(node.arguments[1], Number)
    return node.name == "cast number"


def features_of(node: Node) -> dict[str, Feature]:
    """The noisy integers that a node is computed from, by name."""
    return {inner.name: inner for inner in walk(node) if isinstance(inner, Feature)}


def has_chosen(node: Node) -> bool:
    """Whether a node is computed from a chosen value, such as a quantile."""
    return any(isinstance(inner, Chosen) for inner in walk(node))


def _combine(
    name: str, a: LinearForm | RatioForm, b: LinearForm | RatioForm
) -> LinearForm | RatioForm | None:
    if name == "+":
        return _sum(a, b, Fraction(1))
    if name == "-":
        return _sum(a, b, Fraction(-1))
    return _times(a, b) if name == "*" else _over(a, b)


def _sum(
    a: LinearForm | RatioForm, b: LinearForm | RatioForm, times: Fraction
) -> LinearForm | RatioForm | None:
    if isinstance(a, LinearForm) and isinstance(b, LinearForm):
        return a.plus(b, times)
    below = (
        a.below if isinstance(a, RatioForm) else b.below if isinstance(b, RatioForm) else ONE
    )
    first, second = _above(a, below), _above(b, below)
    if first is None or second is None:
        return None
    return _ratio(first.plus(second, times), below)


def _above(a: LinearForm | RatioForm, below: LinearForm) -> LinearForm | None:
    """a * below, where that is linear."""
    if isinstance(a, RatioForm):
        return a.above if a.below == below else None
    return None if a.weights else below.scaled(a.constant)


def _times(
    a: LinearForm | RatioForm, b: LinearForm | RatioForm
) -> LinearForm | RatioForm | None:
    if isinstance(a, LinearForm) and not a.weights:
        a, b = b, a
    if isinstance(b, LinearForm) and not b.weights:
        if isinstance(a, LinearForm):
            return a.scaled(b.constant)
        return _ratio(a.above.scaled(b.constant), a.below)
    if isinstance(a, RatioForm) and isinstance(b, LinearForm) and a.below == b:
        return a.above
    if isinstance(b, RatioForm) and isinstance(a, LinearForm) and b.below == a:
        return b.above
    return None


def _over(
    a: LinearForm | RatioForm, b: LinearForm | RatioForm
) -> LinearForm | RatioForm | None:
    if isinstance(b, LinearForm) and not b.weights:
        return None if b.constant == 0 else _times(a, LinearForm(1 / b.constant, ()))
    if isinstance(a, LinearForm) and isinstance(b, LinearForm):
        return _ratio(a, b)
    if isinstance(a, RatioForm) and isinstance(b, RatioForm) and a.below == b.below:
        return _ratio(a.above, b.above) if b.above.weights else None
    return None


def _ratio(above: LinearForm, below: LinearForm) -> LinearForm | RatioForm:
    """above / below; a constant where one is a multiple of the other."""
    if above == ZERO:
        return ZERO
    names = dict(below.weights)
    if above.weights and {name for name, _ in above.weights} == set(names):
        factor = above.weights[0][1] / names[above.weights[0][0]]
        if below.scaled(factor) == above:
            return LinearForm(factor, ())
    return RatioForm(above, below)
