"""Outputs as linear forms of noisy integers, or as ratios of two, where they are that.

The noise of a linear form has a known law, whatever the data, so its margin is known before
anything is spent. A ratio of two (an average) has Fieller's set. Coefficients are exact.
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
        """Its value where the features are so, number by number.

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
        return all(
            one.denominator == 1 for one in (self.constant, *dict(self.weights).values())
        )


@dataclass(frozen=True, slots=True)
class RatioForm:
    """One linear form over another; the one below has a feature in it."""

    above: LinearForm
    below: LinearForm


ZERO = LinearForm(Fraction(0), ())
ONE = LinearForm(Fraction(1), ())


@lru_cache(maxsize=4096)  # asked for many times over, about the same few nodes
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
    if not isinstance(node, Operation) or node.name not in ("+", "-", "*", "/", "negative"):
        return None
    parts = [form(one) for one in node.arguments]
    if any(one is None for one in parts):
        return None
    known = [one for one in parts if one is not None]
    if node.name == "negative" or (node.name == "-" and len(known) == 1):
        return _times(known[0], LinearForm(Fraction(-1), ()))
    result: LinearForm | RatioForm | None = known[0]
    for part in known[1:]:
        if result is None:
            return None
        result = _combined(node.name, result, part)
    return result


def features_of(node: Node) -> dict[str, Feature]:
    """The noisy integers that a node is computed from, by name."""
    if isinstance(node, Operation):
        return {k: v for one in node.arguments for k, v in features_of(one).items()}
    return {node.name: node} if isinstance(node, Feature) else {}


def has_chosen(node: Node) -> bool:
    """Whether a node is computed from a chosen value, such as a quantile."""
    if isinstance(node, Operation):
        return any(has_chosen(argument) for argument in node.arguments)
    return isinstance(node, Chosen)


def _combined(
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
    one, two = _above(a, below), _above(b, below)
    return None if one is None or two is None else _ratio(one.plus(two, times), below)


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
    """Over a common factor: a multiple of the denominator is a constant."""
    if above == ZERO:
        return ZERO
    names = dict(below.weights)
    if above.weights and {name for name, _ in above.weights} == set(names):
        factor = above.weights[0][1] / names[above.weights[0][0]]
        if below.scaled(factor) == above:
            return LinearForm(factor, ())
    return RatioForm(above, below)
