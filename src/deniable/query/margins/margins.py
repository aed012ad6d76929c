"""Margins of answers that are computed from noisy integers: how far each may be off.

The margin is the distance to the clipped, contribution-bounded aggregate, so it covers the
noise and nothing else.

- A linear form (COUNT, SUM, their sums and differences): the quantile of its noise, the same
  for every group and known before anything is spent.
- A ratio of two linear forms (AVG, SUM / COUNT): Fieller's set, on the lattice of the noise
  (`ratios`). Its confidence holds however small D is. Where D may be 0, the interval is the
  whole public range.
- A variance: the same for the mean square around the noisy mean (`variances`).
- Where all noises are 0 with this confidence (a very large epsilon): the value itself.
- A function of one of these: the values that it takes on that interval.
- A smooth formula of several (CORR, SUM(x) * COUNT(*)): `nearest_points`.
- Everything else: `interval_arithmetic`.

The interval is cut to the public range of the true value. The margin is the least half-width
around the shown value that covers what remains.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.noise.additive import Noise
from deniable.mechanisms.noise.thresholding import Thresholding
from deniable.query.margins import nearest_points, ratios, variances
from deniable.query.margins.evaluation import Values, evaluate
from deniable.query.margins.formula_parts import (
    denominators,
    direct_parts,
    noisy_arguments,
    remove_cuts,
    spread_inside,
)
from deniable.query.margins.interval_arithmetic import combine
from deniable.query.margins.linear_forms import (
    LinearForm,
    RatioForm,
    features_of,
    form,
    has_chosen,
)
from deniable.query.margins.noise_quantiles import fixed_margin, is_silent
from deniable.query.margins.slopes import is_smooth
from deniable.query.plan.plan import Block, Node, Operation

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
) -> Floats:
    """The half-width for each group around `shown_values`; infinite if nothing is known.

    `features` are the noisy integers of all groups or, before anything is spent, their expected
    values. Pass `shown_as` if the shown values are already computed.

    >>> from deniable.mechanisms import Laplace
    >>> from deniable.query.plan.plan import Feature
    >>> noises = noise_of_features([Block(("s", "n"), "mean", Laplace(epsilon=1))], None)
    >>> mean = Operation("/", (Feature("s", 0), Feature("n", 0)))
    >>> got = {"s": np.array([500.0, 0.0]), "n": np.array([1000.0, 1.0])}
    >>> margins(mean, noises, got, confidence=Fraction(19, 20), low=0, high=1).round(4).tolist()
    [0.0031, 1.0]
    """
    value = shown_as
    if value is None:
        value = shown_values(node, features, low=low, high=high, keys=keys)
    shape = form(node)
    if shape is None and has_chosen(node):  # no margin is known for formulas of choices
        return np.full(np.shape(value), np.inf)
    lower, upper = interval(node, noises, features, confidence, keys)
    if not isinstance(shape, LinearForm):  # a linear form is not cut
        lower = np.maximum(lower, -np.inf if low is None else float(low))
        upper = np.minimum(upper, np.inf if high is None else float(high))
    with np.errstate(all="ignore"):
        half = np.maximum(np.maximum(upper - value, value - lower), 0.0)
    half = np.where(np.isnan(half), np.inf, half)
    return np.broadcast_to(half, np.shape(value)).astype(np.float64)


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

    >>> from deniable.query.plan.plan import Feature
    >>> mean = Operation("/", (Feature("s", 0), Feature("n", 0)))
    >>> shown_values(mean, {"s": np.array([7.0]), "n": np.array([5.0])}, low=0, high=1).tolist()
    [1.0]
    """
    value = np.asarray(evaluate(node, features, keys), dtype=np.float64)
    if isinstance(form(node), LinearForm):
        return value
    bottom = -np.inf if low is None else float(low)
    return np.clip(value, bottom, np.inf if high is None else float(high))


def interval(
    node: Node,
    noises: Mapping[str, Noise],
    features: Mapping[str, Values],
    confidence: Fraction,
    keys: Sequence[Values] = (),
) -> Interval:
    """What the true value may be, with this confidence, before any public range is used."""
    shape = form(node)
    value = np.asarray(evaluate(node, features, keys), dtype=np.float64)
    if isinstance(shape, LinearForm):
        half = fixed_margin(dict(shape.weights), noises, confidence)
        return value - half, value + half
    used = tuple(noises[name] for name in sorted(features_of(node)))
    if is_silent(used, 1 - confidence):
        return value, value
    if isinstance(shape, RatioForm):
        return ratios.interval(shape, noises, features, confidence)
    spread, rooted = spread_inside(node)
    if spread is not None:
        ends = variances.interval(spread, noises, features, confidence, rooted=rooted)
        lower, upper = (np.maximum(end, 0.0) for end in ends)
        return (np.sqrt(lower), np.sqrt(upper)) if rooted else (lower, upper)
    assert isinstance(node, Operation)
    noisy = noisy_arguments(node)
    if len(noisy) == 1:
        parts = {noisy[0]: interval(noisy[0], noises, features, confidence, keys)}
        return combine(node, parts, features, keys)
    return _of_several(node, noises, features, confidence, keys)


def _of_several(
    node: Operation,
    noises: Mapping[str, Noise],
    features: Mapping[str, Values],
    confidence: Fraction,
    keys: Sequence[Values],
) -> Interval:
    """A formula of several noisy numbers. It may be anything if a denominator may be 0."""
    uncut = remove_cuts(node)
    if not is_smooth(uncut):
        return _by_parts(node, noises, features, confidence, keys)
    lower, upper = nearest_points.interval(uncut, noises, features, confidence, keys)
    unknown = np.isnan(lower) | np.isnan(upper)
    if unknown.any():
        wide = _by_parts(node, noises, features, confidence, keys)
        lower, upper = np.where(unknown, wide[0], lower), np.where(unknown, wide[1], upper)
    for below in denominators(uncut):
        least, most = interval(below, noises, features, confidence, keys)
        weak = (least <= 0) & (most >= 0)
        lower, upper = np.where(weak, -np.inf, lower), np.where(weak, np.inf, upper)
    return lower, upper


def _by_parts(
    node: Node,
    noises: Mapping[str, Noise],
    features: Mapping[str, Values],
    confidence: Fraction,
    keys: Sequence[Values],
) -> Interval:
    """By interval arithmetic, with an equal share of 1 - confidence for each part."""
    parts = direct_parts(node)
    each = 1 - (1 - confidence) / len(parts)
    ends = {part: interval(part, noises, features, each, keys) for part in parts}
    return combine(node, ends, features, keys)
