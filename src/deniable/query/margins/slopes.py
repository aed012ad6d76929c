"""The value of a smooth formula and its slopes in the noisy numbers, in all groups at once.

The formula becomes a list of steps, in which equal parts occur once and linear forms are single
steps. The values are computed forwards and the slopes backwards, so all slopes together cost
about as much as three more values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.query.margins.evaluation import Values, evaluate
from deniable.query.margins.linear_forms import LinearForm, features_of, form
from deniable.query.plan.plan import Node, Operation, walk

Floats: TypeAlias = NDArray[np.float64]

_SMOOTH = frozenset(("+", "-", "*", "/", "negative", "power", "sqrt", "cast number"))


def is_smooth(node: Node) -> bool:
    """Whether a formula has slopes nearly everywhere.

    >>> from deniable.query.plan.plan import Feature
    >>> a, b = Feature("a", 0), Feature("b", 0)
    >>> is_smooth(Operation("*", (a, b))), is_smooth(Operation("least", (a, b)))
    (True, False)
    """
    return all(
        inner.name in _SMOOTH
        for inner in walk(node)
        if isinstance(inner, Operation) and features_of(inner)
    )


@dataclass(frozen=True, slots=True)
class _Step:
    """A linear form, a constant (no name), or an operation on earlier steps."""

    name: str = ""
    arguments: tuple[int, ...] = ()
    linear: LinearForm | None = None
    constant: Values | None = None


class SmoothFormula:
    """A formula of features, with keys and constants filled in.

    >>> from deniable.query.plan.plan import Feature
    >>> product = SmoothFormula(Operation("*", (Feature("a", 0), Feature("b", 0))))
    >>> value, slopes = product.value_and_slopes(np.array([[3.0], [5.0]]))
    >>> value.tolist(), slopes.tolist()
    ([15.0], [[5.0], [3.0]])
    """

    def __init__(
        self,
        node: Node,
        features: Mapping[str, Values] | None = None,
        keys: Sequence[Values] = (),
    ) -> None:
        self.names = sorted(features_of(node))
        self._given = features or {}, keys
        self._steps: list[_Step] = []
        self._places: dict[Node, int] = {}
        self._add(node)
        self._weights = [
            None
            if step.linear is None
            else np.array([float(dict(step.linear.weights).get(n, 0)) for n in self.names])
            for step in self._steps
        ]

    def _add(self, node: Node) -> int:
        if node in self._places:
            return self._places[node]
        linear = form(node)
        if isinstance(linear, LinearForm) and linear.weights:
            step = _Step(linear=linear)
        elif not features_of(node):
            features, keys = self._given
            step = _Step(constant=np.asarray(evaluate(node, features, keys), dtype=np.float64))
        else:
            assert isinstance(node, Operation)
            step = _Step(node.name, tuple(self._add(inner) for inner in node.arguments))
        self._steps.append(step)
        self._places[node] = len(self._steps) - 1
        return len(self._steps) - 1

    def value_and_slopes(
        self, point: Floats, part: NDArray[np.intp] | None = None
    ) -> tuple[Floats, Floats]:
        """The value at a point (one row for each feature), and the slope in each feature.
        `part` says which groups the columns are, if not all."""
        values: list[Floats] = []
        with np.errstate(all="ignore"):
            for step, weights in zip(self._steps, self._weights, strict=True):
                values.append(self._forward(step, weights, values, point, part))
            slopes = self._backwards(values, point)
        return np.broadcast_to(values[-1], point.shape[1:]), slopes

    def _forward(
        self,
        step: _Step,
        weights: Floats | None,
        values: list[Floats],
        point: Floats,
        part: NDArray[np.intp] | None,
    ) -> Floats:
        if step.linear is not None and weights is not None:
            return np.asarray(float(step.linear.constant) + weights @ point)
        if step.constant is not None:
            whole = part is None or step.constant.ndim == 0
            return step.constant if whole else np.asarray(step.constant[part])
        return _apply(step.name, [values[place] for place in step.arguments])

    def _backwards(self, values: list[Floats], point: Floats) -> Floats:
        back: list[Floats | float] = [0.0] * len(values)
        back[-1] = 1.0
        slopes = np.zeros_like(point)
        for i in range(len(values) - 1, -1, -1):
            step, weights = self._steps[i], self._weights[i]
            if weights is not None:
                slopes += weights[:, None] * back[i]
            if step.name:
                inner = [values[place] for place in step.arguments]
                shares = _slopes(step.name, inner, values[i])
                for place, share in zip(step.arguments, shares, strict=True):
                    back[place] = back[place] + back[i] * share
        return slopes


def _apply(name: str, values: list[Floats]) -> Floats:
    first = values[0]
    if name in ("negative", "sqrt", "cast number"):
        return -first if name == "negative" else np.sqrt(first) if name == "sqrt" else first
    if name == "-" and len(values) == 1:
        return -first
    for other in values[1:]:
        if name == "+":
            first = first + other
        elif name == "-":
            first = first - other
        elif name == "*":
            first = first * other
        else:
            first = np.divide(first, other) if name == "/" else np.power(first, other)
    return first


def _slopes(name: str, values: list[Floats], result: Floats) -> list[Floats | float]:
    """The slope of one step in each of its arguments."""
    first = values[0]
    if name in ("+", "cast number"):
        return [1.0] * len(values)
    if name in ("-", "negative"):
        return [1.0 if len(values) > 1 else -1.0, *[-1.0] * (len(values) - 1)]
    if name == "sqrt":
        return [0.5 / result]
    second = values[1]
    if name == "*":
        return [_product(values[:i] + values[i + 1 :]) for i in range(len(values))]
    if name == "/":
        return [1 / second, -result / second]
    with np.errstate(all="ignore"):
        in_exponent = np.where(first > 0, result * np.log(np.abs(first)), 0.0)
    return [second * np.power(first, second - 1), in_exponent]


def _product(values: list[Floats]) -> Floats:
    product = values[0]
    for value in values[1:]:
        product = product * value
    return product
