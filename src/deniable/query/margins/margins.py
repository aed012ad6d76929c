"""Margins of answers that are computed from noisy integers: how far each may be off.

The margin is the distance to the clipped, contribution-bounded aggregate, so it covers the
noise and nothing else.

- A linear form (COUNT, SUM, their sums and differences): the quantile of its noise, the same
  for every group and known before anything is spent.
- A ratio of two linear forms (AVG, SUM / COUNT): Fieller's set, all r with |N - r D| within the
  quantile of the noise of N - r D. Its confidence holds however small D is. Where D may be 0,
  the interval is the whole public range.
- A variance: the same for the mean square around the noisy mean (`variances`).
- Where all noises are 0 with this confidence (a very large epsilon): the value itself.
- What jumps (CASE, MOD and comparisons of noisy values): none.
- Everything else (POWER, CORR): the slope of the formula over one standard deviation of each
  noise, at the noisy values. STDDEV and other monotone functions of one of these map its
  interval.

The interval is cut to the public range of the true value. The margin is the least half-width
around the shown value that covers what remains.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.noise.additive import Noise
from deniable.mechanisms.noise.thresholding import Thresholding
from deniable.query.margins import variances
from deniable.query.margins.evaluation import Values, evaluate
from deniable.query.margins.linear_forms import (
    LinearForm,
    RatioForm,
    features_of,
    form,
    has_chosen,
)
from deniable.query.margins.noise_quantiles import (
    fixed_margin,
    is_silent,
    moments,
    spread_quantile,
    standard_quantile_squared,
)
from deniable.query.margins.variances import variance_form
from deniable.query.plan.node_kinds import BOOLEAN
from deniable.query.plan.plan import (
    Block,
    KeyColumn,
    Node,
    Operation,
    walk,
)

_LOGARITHMS = ("ln", "log10", "log2")
_JUMPS = frozenset(["case", "mod", "length"])

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
    [0.0032, 1.0]
    """
    value = shown_as
    if value is None:
        value = shown_values(node, features, low=low, high=high, keys=keys)
    shape = form(node)
    if shape is None and (has_chosen(node) or jumps(node)):  # no margin is known
        return np.full(np.shape(value), np.inf)
    lower, upper = _interval(node, noises, features, confidence, keys)
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


def _interval(
    node: Node,
    noises: Mapping[str, Noise],
    features: Mapping[str, Values],
    confidence: Fraction,
    keys: Sequence[Values],
) -> Interval:
    """What the true value may be, with this confidence."""
    shape = form(node)
    if isinstance(shape, LinearForm):
        value = np.asarray(evaluate(node, features, keys), dtype=np.float64)
        half = fixed_margin(dict(shape.weights), noises, confidence)
        return value - half, value + half
    used = tuple(noises[name] for name in sorted(features_of(node)))
    if is_silent(used, 1 - confidence):
        value = np.asarray(evaluate(node, features, keys), dtype=np.float64)
        return value, value
    if isinstance(shape, RatioForm):
        return _fieller(shape, noises, features, confidence)
    rooted = isinstance(node, Operation) and node.name == "sqrt"
    spread = variance_form(
        node.arguments[0] if isinstance(node, Operation) and rooted else node
    )
    if spread is not None:
        lower, upper = variances.interval(spread, noises, features, confidence, rooted=rooted)
        lower, upper = np.maximum(lower, 0.0), np.maximum(upper, 0.0)
        return (np.sqrt(lower), np.sqrt(upper)) if rooted else (lower, upper)
    inner = _monotone_argument(node)
    if inner is not None and isinstance(node, Operation):
        ends = _interval(inner, noises, features, confidence, keys)
        place = node.arguments.index(inner)
        mapped = [_apply(node, place, end, features, keys) for end in ends]
        if node.name == "abs":
            mapped.append(np.where((ends[0] <= 0) & (ends[1] >= 0), 0.0, mapped[0]))
        if node.name in _LOGARITHMS:  # 0 has no logarithm, so the true value may be anything
            mapped.append(np.where(ends[0] <= 0, -np.inf, mapped[0]))
        return np.fmin.reduce(mapped), np.fmax.reduce(mapped)
    return _by_slopes(node, noises, features, confidence, keys)


def _monotone_argument(node: Node) -> "Node | None":
    """The only noisy argument of a call that is monotone in it (or folds, as ABS does)."""
    if not isinstance(node, Operation):
        return None
    noisy = [argument for argument in node.arguments if features_of(argument)]
    if len(noisy) != 1:
        return None
    if node.name in ("sqrt", "abs", "+", "-", "*", "negative", "round", "floor", "ceil"):
        return noisy[0]
    if node.name in ("trunc", "sign", "exp", *_LOGARITHMS):
        return noisy[0]
    if node.name == "round to" and node.arguments[0] is noisy[0]:
        return noisy[0]
    if node.name == "/" and node.arguments[0] is noisy[0]:
        return noisy[0]
    if node.name in ("least", "greatest", "clamp", "cast number", "cast integer"):
        return noisy[0]
    return None


def jumps(node: Node) -> bool:
    """Whether small changes of noisy values can make a node jump from one value to another."""
    return any(
        isinstance(inner, Operation)
        and (inner.name in _JUMPS or inner.name in BOOLEAN)
        and bool(features_of(inner) or has_chosen(inner))
        for inner in walk(node)
    )


def _apply(
    node: Operation,
    place: int,
    end: Floats,
    features: Mapping[str, Values],
    keys: Sequence[Values],
) -> Floats:
    """The call's value where its noisy argument is at one end of its interval."""
    stand_in = KeyColumn(len(keys))
    arguments = (*node.arguments[:place], stand_in, *node.arguments[place + 1 :])
    result = evaluate(Operation(node.name, arguments), features, (*keys, end))
    return np.asarray(result, dtype=np.float64)


def _fieller(
    ratio: RatioForm,
    noises: Mapping[str, Noise],
    features: Mapping[str, Values],
    confidence: Fraction,
) -> Interval:
    """Both ends of {r: |N - r D| <= q(r)}, by a quadratic at a quantile that is refined.

    With S the noise of N - r D, q(r) is Q(r) times its standard deviation, and Q varies
    slowly: between the normal and the Laplace quantile. Ratios are measured from the r at which
    S varies least. There the noises of N and D are uncorrelated, and no digits cancel.
    """
    named = {name for name, _ in (*ratio.above.weights, *ratio.below.weights)}
    spread = _spread(ratio, tuple((name, noises[name]) for name in sorted(named)))
    n, d = (
        np.atleast_1d(np.asarray(linear.at(features), dtype=np.float64))
        for linear in (spread.above, ratio.below)
    )
    with np.errstate(all="ignore"):
        product, dd = n * d, d * d
        root_part = dd * spread.above_variance
        root_part += n * n * spread.below_variance
        terms = product, dd, root_part
        first = spread.quantile_squared(n / d, confidence)
        lower, upper = (
            _end(sign, spread, terms, spread.quantile_squared(near, confidence))
            for sign in (-1.0, 1.0)
            for near in (_end(sign, spread, terms, first),)
        )
        weak = ~(np.abs(d) > fixed_margin(dict(ratio.below.weights), noises, confidence))
        weak |= np.isnan(lower) | np.isnan(upper)
        lower += float(spread.middle)
        upper += float(spread.middle)
    lower[weak], upper[weak] = -np.inf, np.inf
    return lower, upper


def _end(
    sign: float, spread: "_Spread", terms: tuple[Floats, Floats, Floats], c: Floats
) -> Floats:
    """One root of (dd - c Var D) u**2 - 2 n d u + (n n - c Var N) = 0."""
    product, dd, root_part = terms
    root = root_part - c * (spread.above_variance * spread.below_variance)
    root *= c
    np.maximum(root, 0.0, out=root)
    np.sqrt(root, out=root)
    root *= sign
    root += product
    leading = dd - c * spread.below_variance
    root /= leading
    root[leading <= 0] = sign * np.inf
    return root


@dataclass(frozen=True, slots=True)
class _Spread:
    """How the noise of N - (middle + u) D varies with u; `above` is N - middle D."""

    middle: Fraction
    above: LinearForm
    above_variance: float
    below_variance: float
    fourths: tuple[float, ...]  # a third of the fourth cumulant, by powers of u from u**4 down

    def quantile_squared(self, u: Floats, confidence: Fraction) -> Floats:
        """The square of the quantile of the noise at u, in units of its variance."""
        share = u * self.fourths[0]
        for coefficient in self.fourths[1:4]:
            share += coefficient
            share *= u
        share += self.fourths[4]
        variance = u * u
        variance *= self.below_variance
        variance += self.above_variance
        variance *= variance
        share /= variance
        return standard_quantile_squared(share, confidence)


@lru_cache(maxsize=256)  # groups come in slices, and all slices share one spread
def _spread(ratio: RatioForm, noises: tuple[tuple[str, Noise], ...]) -> _Spread:
    over, under = dict(ratio.above.weights), dict(ratio.below.weights)
    cumulants = {name: moments(noise) for name, noise in noises}
    below_variance = sum(
        float(under.get(name, 0)) ** 2 * v for name, (v, _) in cumulants.items()
    )
    both = sum(
        float(over.get(name, 0) * under.get(name, 0)) * v for name, (v, _) in cumulants.items()
    )
    middle = Fraction(both / below_variance)
    above = ratio.above.plus(ratio.below, -middle)
    rest = dict(above.weights)
    fourths = np.zeros(5)
    for name, (_, fourth) in cumulants.items():
        line = np.array([float(under.get(name, 0)), -float(rest.get(name, 0))])
        square = np.convolve(line, line)
        fourths += fourth / 3 * np.convolve(square, square)
    return _Spread(
        middle,
        above,
        sum(float(rest.get(name, 0)) ** 2 * v for name, (v, _) in cumulants.items()),
        below_variance,
        tuple(fourths.tolist()),
    )


def _by_slopes(
    node: Node,
    noises: Mapping[str, Noise],
    features: Mapping[str, Values],
    confidence: Fraction,
    keys: Sequence[Values],
) -> Interval:
    """The interval by linear approximation, and infinite where a denominator may be 0."""
    node = _remove_cuts(node)
    value = np.asarray(evaluate(node, features, keys), dtype=np.float64)
    variance, fourth = np.zeros_like(value), np.zeros_like(value)
    for name in features_of(node):
        own, own_fourth = moments(noises[name])
        step = own**0.5
        at = np.asarray(features[name], dtype=np.float64)
        ahead, behind = (
            np.asarray(evaluate(node, {**features, name: at + by}, keys), dtype=np.float64)
            for by in (step, -step)
        )
        with np.errstate(all="ignore"):
            slope = (ahead - behind) / (2 * step)
            variance = variance + slope**2 * own
            fourth = fourth + slope**4 * own_fourth
    half = spread_quantile(variance, fourth, confidence)
    half = np.where(np.isnan(variance), np.inf, half)
    for below in _denominators(node):
        lower, upper = _interval(below, noises, features, confidence, keys)
        half = np.where((lower <= 0) & (upper >= 0), np.inf, half)
    return value - half, value + half


def _remove_cuts(node: Node) -> Node:
    """The node without its cuts to public limits, where slopes would vanish."""
    if not isinstance(node, Operation):
        return node
    if node.name in ("least", "greatest", "clamp"):
        inner = _monotone_argument(node)
        return node if inner is None else _remove_cuts(inner)
    return Operation(node.name, tuple(_remove_cuts(argument) for argument in node.arguments))


def _denominators(node: Node) -> Iterator[Node]:
    for inner in walk(node):
        if (
            isinstance(inner, Operation)
            and inner.name == "/"
            and features_of(inner.arguments[1])
        ):
            yield inner.arguments[1]
