"""Intervals of means and shares: what the noise leaves open, what sampling does, and both.

Let N and D be the noisy sum and number of rows. For the right mean r of the population,
T(r) = N - r D has two independent parts: the sum of (x - r) over the sampled rows, and the
noise of N - r D, whose law is known. So r belongs to the interval if T(r) is no further from 0
than both may take it (Fieller's set, with the sampling error at r, as in Wilson's interval).
Each part has its own quantile; their squares are added, and so are those of the parts of a sum
of groups (`combine_ends`). That is exact for normal parts, and a little too wide for Laplace
noise.

The number of rows is not known. The sampling error is taken at the largest number that is
within the noise of D, with a chance of 0.1 % to be above it (at 95 % confidence). That chance
is taken from the confidence (Berger and Boos 1994). Without a released variance, a value
between L and H counts as if it were always L or H. No other value with that mean varies more,
and its law is binomial, also where the outcome is rare.

A unit with up to m rows is one draw. Whatever its rows have in common, the sum of its (x - r)
has a square of at most m times the sum of the squares, so the variance is at most m times that
of independent rows: as if m rows at a time were equal. Unit moments say how much it really is.

They do so less well if few units make up a sum: one that was not drawn is in neither the sum
nor its squares. Then errors reach further (`_reach_of_few`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.infer.groups.group_means import GroupMeans
from deniable.infer.groups.local_shares import LocalShares
from deniable.infer.groups.share_quantiles import share_quantiles
from deniable.query.margins import ratios
from deniable.query.margins.linear_forms import LinearForm, RatioForm

Floats: TypeAlias = NDArray[np.float64]
Ends: TypeAlias = tuple[Floats, Floats]
Holds: TypeAlias = Callable[[Floats], NDArray[np.bool_]]
EndsOf: TypeAlias = Callable[[GroupMeans | LocalShares, Fraction], Ends]

_HALVINGS = 32
_DOUBLINGS = 40
_UNKNOWN = Fraction(1, 50)  # of 1 - confidence: for the number of rows, and for the variance


def population_ends(means: GroupMeans | LocalShares, confidence: Fraction) -> Ends:
    """Ends that cover the population's means, noise and sampling together.

    >>> from deniable.infer.groups.group_means import NoisePart
    >>> from deniable.mechanisms import Laplace
    >>> noise = Laplace(epsilon=1).noise()
    >>> parts = (NoisePart(noise, Fraction(1), Fraction(1)), NoisePart(noise, 0, Fraction(1)))
    >>> ward = GroupMeans(("A",), np.array([40.0]), np.array([100.0]), parts, "share")
    >>> [float(end.round(2)[0]) for end in population_ends(ward, Fraction(19, 20))]
    [0.3, 0.51]
    """
    if isinstance(means, LocalShares):
        return means.population_ends(confidence)
    return _search(covering(means, confidence), means)


def covering(means: GroupMeans, confidence: Fraction) -> Holds:
    """By a mean r: whether the interval at this confidence holds it, in each group."""
    chance = (1 - confidence) * _UNKNOWN
    unknown = chance * (1 if means.variance is None and means.moments is None else 2)
    sampling = _sampling_law(means, (1 - confidence - unknown) / 2, chance)
    law = means.noise_law()

    def holds(r: Floats) -> NDArray[np.bool_]:
        down, up = sampling(r)
        noise = law(r, confidence + unknown)
        off = means.above - r * means.below
        return (off <= np.hypot(up, noise)) & (off >= -np.hypot(down, noise))

    return holds


def sampling_ends(means: GroupMeans | LocalShares, confidence: Fraction) -> Ends:
    """Ends for the sampling error alone, as if the numbers had no noise."""
    if isinstance(means, LocalShares):
        return means.sampling_ends(confidence)
    bare = replace(means, above=means.values * means.below, parts=())
    sampling = _sampling_law(bare, (1 - confidence) / 2, 1 - confidence)

    def holds(r: Floats) -> NDArray[np.bool_]:
        down, up = sampling(r)
        off = bare.above - r * bare.below
        return (off <= up) & (off >= -down)

    return _search(holds, bare)


def noise_ends(means: GroupMeans | LocalShares, confidence: Fraction) -> Ends:
    """Ends for the noise alone: what the mean of these very rows may be."""
    if isinstance(means, LocalShares):
        return means.noise_ends(confidence)
    names = [f"f{i}" for i in range(len(means.parts))]
    over = {name: part.above for name, part in zip(names, means.parts, strict=True)}
    under = {name: part.below for name, part in zip(names, means.parts, strict=True)}
    noises = {name: part.noise for name, part in zip(names, means.parts, strict=True)}
    ratio = RatioForm(LinearForm.of(Fraction(0), over), LinearForm.of(Fraction(0), under))
    weights = np.array([[float(p.above), float(p.below)] for p in means.parts]).T
    # Any integers with this sum and number of rows will do: only those two are used.
    integers = np.linalg.pinv(weights) @ np.stack([means.values * means.below, means.below])
    features = dict(zip(names, integers, strict=True))
    low, high = ratios.interval(ratio, noises, features, confidence)
    law = means.noise_law()

    def holds(r: Floats) -> NDArray[np.bool_]:
        off = means.above - r * means.below
        return np.asarray(np.abs(off) <= law(r, confidence))

    least, most = _search(holds, means)
    # Both are Fieller's set: one by the lattice of the noise, the other also for few rows.
    low = np.where(np.isfinite(low), np.clip(np.maximum(low, least), None, means.values), least)
    high = np.where(
        np.isfinite(high), np.clip(np.minimum(high, most), means.values, None), most
    )
    return low, high


def uncut_ends(
    means: GroupMeans, confidence: Fraction, *, sampling: bool
) -> tuple[Floats, Ends]:
    """The noisy means and their ends, not cut to public limits: so that the ends are as far
    away as the noise goes, also near a limit. By the noise alone without `sampling`."""
    law = means.noise_law()

    def near(r: Floats) -> NDArray[np.bool_]:
        return np.asarray(np.abs(means.above - r * means.below) <= law(r, confidence))

    holds = covering(means, confidence) if sampling else near
    endless = replace(means, low=-np.inf, high=np.inf)
    return endless.values, _search(holds, endless)


def combine_ends(
    weights: Sequence[float],
    values: Floats,
    low: Floats,
    high: Floats,
    *,
    shared: bool = False,
) -> tuple[float, float]:
    """Ends for the sum of weights * values, from the ends of each value.

    The distances from the values to their own ends are added in squares (Zou and Donner 2008:
    the variance is recovered from the interval). If the values may depend on each other in any
    way (`shared`), they are added as they are.

    >>> ends = np.array([0.1, 0.2]), np.array([0.3, 0.6])
    >>> low, high = combine_ends([1, -1], np.array([0.2, 0.4]), *ends)
    >>> round(low, 3), round(high, 3)
    (-0.424, 0.024)
    >>> low, high = combine_ends([1, -1], np.array([0.2, 0.4]), *ends, shared=True)
    >>> round(low, 3), round(high, 3)
    (-0.5, 0.1)
    """
    w = np.asarray(weights, dtype=np.float64)
    middle = float(w @ values)
    down = np.where(w > 0, w * (values - low), w * (values - high))
    up = np.where(w > 0, w * (high - values), w * (low - values))
    if shared:
        return middle - float(down.sum()), middle + float(up.sum())
    return middle - float(np.hypot.reduce(down)), middle + float(np.hypot.reduce(up))


def contrast_ends(
    parts: Sequence[GroupMeans | LocalShares],
    weights: Sequence[float],
    of: EndsOf,
    confidence: Fraction,
) -> tuple[float, float]:
    """Ends for the sum of weights * means of several groups, by the ends `of` each.

    If a unit may be in several groups, their sampling errors depend on each other. Then each
    gets its part of the error (Bonferroni), and nothing is assumed about the dependence.
    """
    shared = of is not noise_ends and len(parts) > 1 and any(part.shared for part in parts)
    each = 1 - (1 - confidence) / len(parts) if shared else confidence
    both = [of(part, each) for part in parts]
    low, high = (np.concatenate([pair[i] for pair in both]) for i in (0, 1))
    values = np.concatenate([part.values for part in parts])
    return combine_ends(weights, values, low, high, shared=shared)


def _sampling_law(
    means: GroupMeans, tail: Fraction, chance: Fraction
) -> Callable[[Floats], Ends]:
    """By r, how far the sum of (x - r) over the rows may fall, and rise, by sampling."""
    fewest, rows = means.row_limits(chance)
    width, most = means.high - means.low, means.cluster
    left = np.sqrt(1 - means.sampled)
    limits = None if means.variance is None else means.variance.most(chance)
    student = _student(tail, fewest / most)

    def quantiles(r: Floats) -> Ends:
        if means.variance is None and means.moments is None:
            p = np.clip((r - means.low) / width, 0.0, 1.0)
            down, up = share_quantiles(rows / most, p, float(tail), means.sampled)
            return width * most * down, width * most * up
        total = np.full_like(r, np.inf)
        if np.isfinite(width):
            p = np.clip((r - means.low) / width, 0.0, 1.0)
            total = most * rows * p * (1 - p) * width**2
        if limits is not None:
            total = np.minimum(total, most * rows * limits)
        if means.moments is not None:
            total = np.minimum(total, means.moments.most(r, chance))
        if means.sparse and np.isfinite(width):
            high, low = np.maximum(means.high - r, 0.0), np.maximum(r - means.low, 0.0)
            return reach(total, high), reach(total, low)
        half = left * student * np.sqrt(total)
        return half, half

    def reach(total: Floats, most_of_one: Floats) -> Floats:
        own = student * np.sqrt(total + most_of_one**2)
        return _reach_of_few(own, most_of_one, float(tail), means.sampled)

    return quantiles


def _reach_of_few(own: Floats, w: Floats, tail: float, sampled: float) -> Floats:
    """How far a sum may be off if few units make it up, and one adds up to `w` to the error.

    Of a rare number that was counted as k, the exact end is near k + z sqrt(k + 1) +
    (z**2 + 2) / 3: the variance is that of one unit more, which was not drawn, and the law has
    a long tail. No law of amounts up to `w` has a longer one. With a share f of the population
    the variance is 1 - f times that. The last term is 1 - f / 2 times that, since what was not
    drawn is a sample with a long tail, too.
    """
    z = NormalDist().inv_cdf(1 - tail)
    rest = 1 - np.asarray(sampled)
    off = np.sqrt(rest) * own + (z * z + 2) / 3 * (1 + rest) / 2 * w
    return np.asarray(np.where(rest > 0, off, 0.0))


def _student(tail: Fraction, rows: Floats) -> Floats:
    """Student's quantile, with one degree of freedom less than there are rows."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(np.maximum(rows - 1, 1.0), 1 - float(tail)))


def _search(holds: Holds, means: GroupMeans) -> Ends:
    """Both ends of the means that are covered, from the released one outwards."""
    middle = means.values
    ends = []
    for side, limit in ((-1.0, means.low), (1.0, means.high)):
        inner, outer = middle.copy(), np.full_like(middle, limit)
        if not np.isfinite(limit):
            outer = _reach_out(holds, middle, side)
        whole = holds(outer)
        for _ in range(_HALVINGS):
            between = (inner + outer) / 2
            inside = holds(between)
            inner, outer = np.where(inside, between, inner), np.where(inside, outer, between)
        ends.append(np.where(whole | (means.below <= 0), limit, outer))
    return ends[0], ends[1]


def _reach_out(holds: Holds, middle: Floats, side: float) -> Floats:
    """For means without public limits: numbers that are so far out that they are excluded, if
    such numbers are found."""
    distance = np.maximum(np.abs(middle), 1e-9)
    for _ in range(_DOUBLINGS):
        distance = np.where(holds(middle + side * distance), 2 * distance, distance)
    return np.asarray(middle + side * distance)
