"""Margins of answers that are computed from noisy integers: how far each may be off.

The margin is the distance to the clipped, contribution-bounded aggregate, so it covers the
noise and nothing else. `intervals` says what the true value may be. Groups that are in the
answer because their noisy number of units passed a threshold are judged by the noise of groups
that pass it (`shown_groups`). The interval is cut to the public range of the true value. The
margin is the least half-width around the shown value that covers what remains.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.noise.additive import Noise
from deniable.mechanisms.noise.thresholding import Thresholding
from deniable.query.margins.evaluation import Values, evaluate
from deniable.query.margins.formula_parts import jumps
from deniable.query.margins.intervals import interval
from deniable.query.margins.linear_forms import LinearForm, features_of, form, has_chosen
from deniable.query.margins.shown_groups import interval_if_shown
from deniable.query.plan.plan import Block, Node

Floats: TypeAlias = NDArray[np.float64]
Interval: TypeAlias = tuple[Floats, Floats]


def noise_of_features(
    blocks: Sequence[Block], thresholding: Thresholding | None
) -> dict[str, Noise]:
    """The noise of each feature, by name; `units` is the thresholded number of units.

    >>> from deniable.mechanisms import Laplace
    >>> noise_of_features([Block(("n",), "count", Laplace(epsilon=1))], None)["n"].scale
    Fraction(1, 1)
    """
    noises: dict[str, Noise] = {}
    for block in blocks:  # all integers of a block have noise of one distribution
        noises |= dict.fromkeys(block.features, block.mechanism.noise(len(block.features)))
    if thresholding is not None:
        noises["units"] = thresholding.noise
    return noises


def margins(
    node: Node,
    noises: Mapping[str, Noise],
    features: Mapping[str, Values],
    *,
    confidence: Fraction,
    low: Fraction | None = None,
    high: Fraction | None = None,
    keys: Sequence[Values] = (),
    shown_as: Floats | None = None,
    selected: bool = False,
) -> Floats:
    """The half-width for each group around `shown_values`; infinite if nothing is known.

    `features` are the noisy integers of all groups or, before anything is spent, their expected
    values. Pass `shown_as` if the shown values are already computed, and `selected` if the
    groups are those whose noisy `units` passed the threshold.

    >>> from deniable.mechanisms import Laplace
    >>> from deniable.query.plan.plan import Feature, Operation
    >>> noises = noise_of_features([Block(("s", "n"), "mean", Laplace(epsilon=1))], None)
    >>> mean = Operation("/", (Feature("s", 0), Feature("n", 0)))
    >>> got = {"s": np.array([500.0, 0.0]), "n": np.array([1000.0, 1.0])}
    >>> margins(mean, noises, got, confidence=Fraction(19, 20), low=0, high=1).round(4).tolist()
    [0.0031, 1.0]
    """
    value = shown_as
    if value is None:
        value = shown_values(node, features, low=low, high=high, keys=keys)
    lower, upper = limits(
        node,
        noises,
        features,
        confidence=confidence,
        low=low,
        high=high,
        keys=keys,
        selected=selected,
    )
    return half_widths(value, lower, upper)


def half_widths(value: Floats, lower: Floats, upper: Floats) -> Floats:
    """The least half-widths around values that cover intervals; infinite if one is unknown.

    >>> half_widths(
    ...     np.array([5.0, 5.0]), np.array([4.0, -np.inf]), np.array([7.0, 7.0])
    ... ).tolist()
    [2.0, inf]
    """
    with np.errstate(all="ignore"):
        half = np.maximum(np.maximum(upper - value, value - lower), 0.0)
    half = np.where(np.isnan(half), np.inf, half)
    return np.broadcast_to(half, np.shape(value)).astype(np.float64)


def limits(
    node: Node,
    noises: Mapping[str, Noise],
    features: Mapping[str, Values],
    *,
    confidence: Fraction,
    low: Fraction | None = None,
    high: Fraction | None = None,
    keys: Sequence[Values] = (),
    selected: bool = False,
) -> Interval:
    """Both ends of what the true value may be, in each group: infinite if nothing is known.

    >>> from deniable.mechanisms import Laplace
    >>> from deniable.query.plan.plan import Feature
    >>> noises = noise_of_features([Block(("n",), "count", Laplace(epsilon=1))], None)
    >>> count, got = Feature("n", 0), {"n": np.array([10.0])}
    >>> [end.tolist() for end in limits(count, noises, got, confidence=Fraction(19, 20))]
    [[7.0], [13.0]]
    """
    shape = form(node)
    if shape is None and (has_chosen(node) or jumps(node)):  # no margin is known
        return np.full(1, -np.inf), np.full(1, np.inf)
    find = interval_if_shown if selected and "units" in features_of(node) else interval
    lower, upper = find(node, noises, features, confidence, keys)
    if not isinstance(shape, LinearForm):  # a linear form is not cut
        lower = np.maximum(lower, -np.inf if low is None else float(low))
        upper = np.minimum(upper, np.inf if high is None else float(high))
    return lower, upper


def shown_values(
    node: Node,
    features: Mapping[str, Values],
    *,
    low: Fraction | None = None,
    high: Fraction | None = None,
    keys: Sequence[Values] = (),
) -> Floats:
    """The node's value in each group, cut to its public range unless it is linear.

    Linear answers stay unbiased, so a noisy count may be negative. Cutting the others never
    takes them further from the true value.

    >>> from deniable.query.plan.plan import Feature, Operation
    >>> mean = Operation("/", (Feature("s", 0), Feature("n", 0)))
    >>> shown_values(mean, {"s": np.array([7.0]), "n": np.array([5.0])}, low=0, high=1).tolist()
    [1.0]
    """
    value = np.asarray(evaluate(node, features, keys), dtype=np.float64)
    if isinstance(form(node), LinearForm):
        return value
    bottom = -np.inf if low is None else float(low)
    return np.clip(value, bottom, np.inf if high is None else float(high))
