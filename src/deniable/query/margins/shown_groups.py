"""Intervals for groups that are in the answer because their noisy number of units passed.

A group of n units is shown if Y = n + Z is above the threshold K, where |Z| <= K. Among the
groups that are shown, Y is too high on average: a group of 10 at threshold 16 is only seen if
its noise was above 6. So Y is compared with its distribution given that the group is shown: n
belongs to the interval if neither Y nor more, nor Y or less, is rarer than half of
1 - confidence. For n > 2 K the group is always shown, and the interval is Y ± the usual margin.

Other numbers of the group have noise of their own, which does not depend on Z. Formulas that
use the number of units together with others get half of 1 - confidence for either.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.noise.additive import Noise, least_margin
from deniable.mechanisms.noise.thresholding import TruncatedNoise
from deniable.query.margins.evaluation import Values, evaluate
from deniable.query.margins.formula_parts import denominators
from deniable.query.margins.intervals import interval, some_groups
from deniable.query.margins.lattice_quantiles import cumulative
from deniable.query.margins.linear_forms import features_of
from deniable.query.plan.plan import Feature, KeyColumn, Node, Operation

Floats: TypeAlias = NDArray[np.float64]
Interval: TypeAlias = tuple[Floats, Floats]

_BETWEEN = 5  # numbers of units that are tried, from one end of their interval to the other


def units_interval(noise: TruncatedNoise, shown: Floats, confidence: Fraction) -> Interval:
    """What the number of units of a shown group may be, given the noisy one that is shown.

    >>> from deniable.mechanisms import Thresholding
    >>> noise = Thresholding(epsilon=1, delta=1e-5).noise  # shown above 11
    >>> low, high = units_interval(noise, np.array([12.0, 15.0, 40.0]), Fraction(19, 20))
    >>> low.tolist(), high.tolist()
    ([1.0, 4.0, 37.0], [14.0, 18.0, 43.0])
    """
    bound, allowed = float(noise.bound), float(1 - confidence) / 2
    half = least_margin(noise, confidence)
    low, high = shown - half, shown + half
    near = shown <= 3 * bound
    y = shown[near]

    def at_least(z: Floats) -> Floats:
        """P(Z >= z), with full precision where it is small."""
        return cumulative(noise, -z)

    def enough_above(n: Floats) -> NDArray[np.bool_]:
        return at_least(y - n) > allowed * at_least(bound + 1 - n)

    def enough_below(n: Floats) -> NDArray[np.bool_]:
        visible = at_least(bound + 1 - n)
        return visible - at_least(y + 1 - n) > allowed * visible

    low[near] = _first(enough_above, np.maximum(y - bound, 1.0), y)
    high[near] = -_first(lambda n: enough_below(-n), -(y + bound), -y)
    return low, high


def _first(holds: Callable[[Floats], NDArray[np.bool_]], low: Floats, high: Floats) -> Floats:
    """The least whole number from `low` to `high` at which a monotone condition holds; `high`
    if it holds nowhere before."""
    low, high = low.copy(), np.maximum(low, high)
    while (open_ := low < high).any():
        middle = np.floor((low + high) / 2)
        at_middle = holds(middle)
        high = np.where(open_ & at_middle, middle, high)
        low = np.where(open_ & ~at_middle, middle + 1, low)
    return low


def interval_if_shown(
    node: Node,
    noises: Mapping[str, Noise],
    features: Mapping[str, Values],
    confidence: Fraction,
    keys: Sequence[Values],
) -> Interval:
    """The interval of a formula that uses the number of units of shown groups."""
    noise = noises["units"]
    assert isinstance(noise, TruncatedNoise)
    units = np.atleast_1d(np.asarray(features["units"], dtype=np.float64))
    if isinstance(node, Feature):
        return units_interval(noise, units, confidence)
    lower, upper = (
        np.broadcast_to(end, units.shape).copy()
        for end in interval(node, noises, features, confidence, keys)
    )
    near = units <= 3 * noise.bound
    if near.any():
        own = {name: some_groups(values, near) for name, values in features.items()}
        own_keys = [some_groups(values, near) for values in keys]
        lower[near], upper[near] = _near_threshold(node, noises, own, confidence, own_keys)
    return lower, upper


def _near_threshold(
    node: Node,
    noises: Mapping[str, Noise],
    features: Mapping[str, Values],
    confidence: Fraction,
    keys: Sequence[Values],
) -> Interval:
    """The formula at several numbers of units, each as if that were certain."""
    noise = noises["units"]
    assert isinstance(noise, TruncatedNoise)
    given = _replace_units(node, KeyColumn(len(keys)))
    each = (1 + confidence) / 2 if features_of(given) else confidence
    first, last = units_interval(noise, np.asarray(features["units"], np.float64), each)
    ends: list[Floats] = []
    for share in np.linspace(0, 1, _BETWEEN):
        units = np.round(first + share * (last - first))
        ends += _at(given, noises, features, each, (*keys, units))
    ends = list(np.broadcast_arrays(*ends))
    unknown = np.isnan(ends).any(axis=0)
    for below in denominators(node):
        part = _replace_units(below, KeyColumn(len(keys)))
        values = [
            end
            for units in (first, last)
            for end in _at(part, noises, features, each, (*keys, units))
        ]
        unknown |= (np.min(values, axis=0) <= 0) & (np.max(values, axis=0) >= 0)
    return (
        np.where(unknown, -np.inf, np.min(ends, axis=0)),
        np.where(unknown, np.inf, np.max(ends, axis=0)),
    )


def _at(
    node: Node,
    noises: Mapping[str, Noise],
    features: Mapping[str, Values],
    confidence: Fraction,
    keys: Sequence[Values],
) -> list[Floats]:
    """The ends of a formula, of which the number of units is given among the keys."""
    if features_of(node):
        return list(interval(node, noises, features, confidence, keys))
    value = np.asarray(evaluate(node, features, keys), np.float64)
    return [value, value]


def _replace_units(node: Node, by: Node) -> Node:
    if isinstance(node, Feature):
        return by if node.name == "units" else node
    if isinstance(node, Operation):
        return Operation(node.name, tuple(_replace_units(a, by) for a in node.arguments))
    return node
