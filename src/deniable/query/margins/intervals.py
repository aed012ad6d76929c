"""What the true value of a formula may be, given noisy integers: one rule for each shape.

- A linear form (COUNT, SUM, their sums and differences): the quantile of its noise, the same
  for every group and known before anything is spent.
- A ratio of two linear forms (AVG, SUM / COUNT): Fieller's set, on the lattice of the noise
  (`ratios`). Its confidence holds however small the denominator is. Where it may be 0, nothing
  is known.
- A variance: the same for the mean square around the noisy mean (`variances`).
- Where all noises are 0 with this confidence (a very large epsilon): the value itself.
- A function of one of these: the values that it takes on that interval.
- A smooth formula of several (CORR, SUM(x) * COUNT(*)): `nearest_points`.
- Everything else: `interval_arithmetic`.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.noise.additive import Noise
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
from deniable.query.margins.linear_forms import LinearForm, RatioForm, features_of, form
from deniable.query.margins.noise_quantiles import fixed_margin, is_silent
from deniable.query.margins.slopes import is_smooth
from deniable.query.plan.plan import Node, Operation

Floats: TypeAlias = NDArray[np.float64]
Interval: TypeAlias = tuple[Floats, Floats]


def interval(
    node: Node,
    noises: Mapping[str, Noise],
    features: Mapping[str, Values],
    confidence: Fraction,
    keys: Sequence[Values] = (),
) -> Interval:
    """What the true value may be, with this confidence, before any public range is used.

    >>> from deniable.mechanisms import Laplace
    >>> from deniable.query.plan.plan import Feature, Number
    >>> square = Operation("power", (Feature("n", 0), Number(Fraction(2))))
    >>> noises = {"n": Laplace(epsilon=1).noise()}  # 3 at 95 %
    >>> ends = interval(square, noises, {"n": np.array([10.0])}, Fraction(19, 20))
    >>> [float(end[0]) for end in ends]
    [49.0, 169.0]
    """
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
    value = np.atleast_1d(np.asarray(evaluate(node, features, keys), dtype=np.float64))
    known = np.ones(value.shape, dtype=np.bool_)
    for below in denominators(uncut):
        least, most = interval(below, noises, features, confidence, keys)
        known &= ~((least <= 0) & (most >= 0))
    lower, upper = np.full(value.shape, -np.inf), np.full(value.shape, np.inf)
    if known.any():
        own = {name: some_groups(values, known) for name, values in features.items()}
        own_keys = [some_groups(values, known) for values in keys]
        ends = nearest_points.interval(uncut, noises, own, confidence, own_keys)
        unknown = np.isnan(ends[0]) | np.isnan(ends[1])
        if unknown.any():
            wide = _by_parts(node, noises, own, confidence, own_keys)
            ends = np.where(unknown, wide[0], ends[0]), np.where(unknown, wide[1], ends[1])
        lower[known], upper[known] = ends
    return lower, upper


def some_groups(values: Values, places: NDArray[np.bool_]) -> Values:
    """The values of some groups. Keys that are not used have no values.

    >>> some_groups(np.array([1.0, 2.0]), np.array([False, True])).tolist()
    [2.0]
    """
    return values[places] if np.shape(values) == places.shape else values


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
