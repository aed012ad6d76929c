"""Confidence sequences for means and for ratios of means, by betting.

Each report has a top t and a bottom b, and r is the true ratio of their means: E(t - r b) = 0.
A mean has b = 1. A share within a group that is itself randomized has t = u v and b = u, with
the unbiased readings u of "is in the group" and v of "has the trait" (see `unbiased_readings`).

Someone who doubts a ratio r bets against it: from every report the capital is multiplied by
1 + h (t - r b), with a stake h so small that this stays positive. If r is the truth, the
capital is a martingale that starts at 1, and so is the average capital over many stakes. It
ever reaches 1/alpha with probability at most alpha (Ville 1939), so the ratios at which it has
not are a confidence sequence (Waudby-Smith & Ramdas, "Estimating means of bounded random
variables by betting", 2023). The stakes are fixed before the first report, so the capital does
not depend on the order of the reports, and it adapts to their variance.

Ratios are refuted cell by cell of a fine grid. For a fixed stake the capital is log-concave in
r. So in a cell it is at least the smaller of its values at both ends, and a cell is refuted
only if the average of these smaller values reaches 1/alpha.

At one look that was fixed in advance, Fieller's interval is narrower. But it trusts a sum to be
about normal, and near shares of 0 or 1 a few reports decide the sum. There the same bets are
made with bolder stakes (`bet_at_one_look`). `has_many` tells the two cases apart.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.exact.rationals import Number, confidence_level
from deniable.surveys.estimate.confidence_sequence import PLANNED, prior_strength

Matrix = NDArray[Any]

_STAKES = 48  # on each side
_FARTHEST = 3.5  # standard deviations of the stakes
_BOLDEST = 0.9  # of the stake that could lose everything
_CELLS = 32
_ROUNDS = 3
_ROUNDING = 1e-9
_ENOUGH = 30  # people of the greatest influence, for a sum to be about normal
_SKEW = 8  # reports by which Fieller's interval is widened


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """How often each pair (top, bottom) was reported.

    `possible` holds the tops and bottoms between which all that could be reported lie, as
    (least top, greatest top, least bottom, greatest bottom). `spread` is a guess at the
    variance of t - r b, made from the design alone: a poor guess widens the intervals, and they
    stay valid.
    """

    tops: Matrix
    bottoms: Matrix
    counts: Matrix
    possible: tuple[float, float, float, float]
    spread: float

    @property
    def respondents(self) -> int:
        """How many people reported."""
        return int(self.counts.sum())

    @property
    def ratio(self) -> float:
        """The estimate; nan if the bottoms do not add up to more than 0."""
        bottom = float(self.counts @ self.bottoms)
        return float(self.counts @ self.tops) / bottom if bottom > 0 else math.nan


def count_outcomes(
    tops: Any,
    bottoms: Any,
    *,
    possible: tuple[float, float, float, float],
    spread: float,
) -> Outcomes:
    """Counts equal pairs, one pair per person.

    >>> count_outcomes([1.5, -0.5, 1.5], [1, 1, 1], possible=(-0.5, 1.5, 1, 1), spread=1).counts
    array([1, 2])
    """
    pairs = np.stack([np.asarray(tops, float), np.asarray(bottoms, float)], axis=1)
    distinct, counts = np.unique(pairs.round(12), axis=0, return_counts=True)
    return Outcomes(distinct[:, 0], distinct[:, 1], counts, possible, spread)


def ratio_sequence(
    outcomes: Outcomes,
    *,
    confidence: Number = 0.95,
    planned: int = PLANNED,
) -> tuple[float, float]:
    """The least interval of ratios from 0 to 1 that holds at every look at once; nan, nan if
    every ratio is refuted.

    >>> seen = count_outcomes(
    ...     [1.5] * 40 + [-0.5] * 60, [1] * 100, possible=(-0.5, 1.5, 1, 1), spread=1
    ... )
    >>> low, high = ratio_sequence(seen, planned=100)
    >>> round(low, 2), round(high, 2)
    (0.03, 0.6)
    """
    level = confidence_level(confidence)
    return _find_ends(outcomes, level, stake_scale(outcomes, level, planned))


def bet_at_one_look(outcomes: Outcomes, *, confidence: Number = 0.95) -> tuple[float, float]:
    """The interval at one look, by the same bets with stakes for few outcomes. It is exact: it
    misses with probability at most 1 - confidence, whatever the shares and however few people.

    >>> nobody = count_outcomes([0] * 100, [1] * 100, possible=(0, 1, 1, 1), spread=1)
    >>> low, high = bet_at_one_look(nobody)
    >>> low, round(high, 2)
    (0.0, 0.06)
    """
    return _find_ends(outcomes, confidence_level(confidence), one_look_scale(outcomes))


def has_many(outcomes: Outcomes) -> bool:
    """Whether Fieller's interval may be trusted: the squares of t - r b add up to those of at
    least 30 people with the greatest influence that a report can have. The skewness of the sum
    is then at most 1 / sqrt(30).

    >>> tops = [1] * 29 + [0] * 971
    >>> has_many(count_outcomes(tops, [1] * 1000, possible=(0, 1, 1, 1), spread=1))
    False
    """
    if math.isnan(outcomes.ratio):
        return False
    ratio = min(max(outcomes.ratio, 0.0), 1.0)
    squares = (outcomes.tops - ratio * outcomes.bottoms) ** 2
    return bool(outcomes.counts @ squares >= _ENOUGH * _reach(outcomes, ratio) ** 2)


def _find_ends(
    outcomes: Outcomes, level: Fraction, scale: tuple[float, float]
) -> tuple[float, float]:
    """The least and the greatest ratio that is not refuted; nan, nan if all are."""
    stakes, weights = _spread_stakes(*scale)
    ends = []
    for side in (0, -1):
        left, right = 0.0, 1.0
        for _ in range(_ROUNDS):
            edges = np.linspace(left, right, _CELLS + 1)
            kept = np.flatnonzero(~_refuted(outcomes, edges, stakes, weights, level))
            if not kept.size:
                break
            left, right = float(edges[kept[side]]), float(edges[kept[side] + 1])
        else:
            ends.append(left if side == 0 else right)
            continue
        if (left, right) == (0.0, 1.0):
            return math.nan, math.nan
        ends.append(right if side == 0 else left)  # a finer look refuted the whole cell
    return min(ends), max(ends)


def stake_scale(outcomes: Outcomes, level: Fraction, planned: int) -> tuple[float, float]:
    """The standard deviation of the stakes, and the farthest stake, from the design alone.

    >>> seen = count_outcomes([1.5], [1], possible=(-0.5, 1.5, 1, 1), spread=1)
    >>> scale, farthest = stake_scale(seen, Fraction(19, 20), 4000)
    >>> round(scale, 4), round(farthest, 4)
    (0.0891, 0.3118)
    """
    reach = max(_reach(outcomes, ratio) for ratio in (0, 1))
    scale = 1 / math.sqrt(prior_strength(planned, level) * outcomes.spread)
    return scale, min(_FARTHEST * scale, _BOLDEST / reach)


def one_look_scale(outcomes: Outcomes) -> tuple[float, float]:
    """The same for one look at few outcomes: there, bold stakes win soonest.

    >>> one_look_scale(count_outcomes([1.5], [1], possible=(-0.5, 1.5, 1, 1), spread=1))
    (0.6666666666666666, 0.6)
    """
    reach = max(_reach(outcomes, ratio) for ratio in (0, 1))
    return 1 / reach, _BOLDEST / reach


def _reach(outcomes: Outcomes, ratio: float) -> float:
    """How far t - r b of one report can be from 0."""
    least_top, most_top, least_bottom, most_bottom = outcomes.possible
    return max(
        abs(top - ratio * bottom)
        for top in (least_top, most_top)
        for bottom in (least_bottom, most_bottom)
    )


def _spread_stakes(scale: float, farthest: float) -> tuple[Matrix, Matrix]:
    """Stakes on both sides of 0, and their weights, which add up to 1."""
    one_side = (np.arange(_STAKES) + 0.5) / _STAKES * farthest
    weights = np.exp(-((one_side / scale) ** 2) / 2)
    both = np.concatenate([-one_side, one_side])
    return both, np.tile(weights / (2 * weights.sum()), 2)


def _refuted(
    outcomes: Outcomes, edges: Matrix, stakes: Matrix, weights: Matrix, level: Fraction
) -> NDArray[np.bool_]:
    """Whether every ratio of a cell is refuted, for each cell between two edges."""
    capital = np.zeros((len(stakes), len(edges)))
    for top, bottom, count in zip(
        outcomes.tops, outcomes.bottoms, outcomes.counts, strict=True
    ):
        capital += count * np.log1p(np.outer(stakes, top - edges * bottom))
    least = np.minimum(capital[:, :-1], capital[:, 1:]) + np.log(weights)[:, None]
    total = np.logaddexp.reduce(least, axis=0)
    return np.asarray(total >= -math.log(1 - level) + _ROUNDING)


def fieller_interval(outcomes: Outcomes, *, confidence: Number = 0.95) -> tuple[float, float]:
    """The interval of ratios from 0 to 1, at one look that was fixed in advance. It is
    approximate, and only for outcomes that `has_many` allows.

    It holds every ratio r with (sum of t - r b)**2 <= z**2 times the sum of (t - r b)**2, as in
    Fieller, "Some problems in interval estimation" (1954), with squares that are not centred,
    and z**2 is raised by 8 / n, since readings are skewed: it then covers in 95 % of surveys of
    200 people too. If the bottom cannot be told from 0, it may be all of [0, 1].

    >>> seen = count_outcomes(
    ...     [1.5] * 40 + [-0.5] * 60, [1] * 100, possible=(-0.5, 1.5, 1, 1), spread=1
    ... )
    >>> low, high = fieller_interval(seen)
    >>> round(low, 2), round(high, 2)
    (0.1, 0.5)
    """
    from scipy.special import ndtri  # slow to import

    square = float(ndtri((1 + float(confidence_level(confidence))) / 2)) ** 2
    t, b, n = outcomes.tops, outcomes.bottoms, outcomes.counts.astype(float)
    square *= 1 + _SKEW / outcomes.respondents
    top, bottom = float(n @ t), float(n @ b)
    a = bottom**2 - square * float(n @ b**2)
    half = top * bottom - square * float(n @ (t * b))
    c = top**2 - square * float(n @ t**2)
    accepted = [r for r in (0.0, 1.0) if a * r * r - 2 * half * r + c <= 0]
    inside = half * half - a * c
    roots = (
        [] if inside < 0 or a == 0 else [(half + s * math.sqrt(inside)) / a for s in (-1, 1)]
    )
    accepted += [r for r in roots if 0 <= r <= 1]
    return (min(accepted), max(accepted)) if accepted else (math.nan, math.nan)


def extremes(values: Sequence[float] | Matrix, *others: Sequence[float] | Matrix) -> Any:
    """The least and greatest product of one value from each list.

    >>> extremes([-0.5, 1.5], [-0.5, 1.5])
    (-0.75, 2.25)
    """
    products = np.asarray(values, float)
    for more in others:
        products = np.outer(products, np.asarray(more, float)).ravel()
    return float(products.min()), float(products.max())
