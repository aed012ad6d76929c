"""One symmetric pair that dominates a pair and its reverse.

Two releases can distinguish the same two tables in opposite directions: a "yes" becomes a "no"
in one question, and a "no" becomes a "yes" in the other. An asymmetric pair P, Q then meets
its own reverse, and a composition in one direction does not cover that. The symmetric pair
whose delta curve is the greater of both directions dominates both, so it composes with
anything (Zhu, Dong & Wang 2022).

As functions of a = e**x the curves h(a) = sum of (p - a q)+ are convex and piecewise linear,
and so is their maximum. Where its slope grows by m, at a > 1, the symmetric pair has
Q(L = ln a) = m and P(L = ln a) = a m.
"""

from collections.abc import Sequence
from fractions import Fraction

from deniable.exact.rationals import Number, probability
from deniable.privacy.arithmetic.dominating_pairs import DiscretePair

_Law = list[Fraction]


def symmetric_pair(p: Sequence[Number], q: Sequence[Number]) -> DiscretePair:
    """The least symmetric pair that dominates P against Q and Q against P.

    >>> symmetric_pair([0.5, 0.5], [0.25, 0.75]).symmetric
    True
    """
    pair = DiscretePair.of(p, q)
    first = [probability(value, "p") for value in p]
    second = [probability(value, "q") for value in q]
    if _odds_under_p(first, second) == _odds_under_p(second, first):
        return pair
    kinks, infinite = _kinks(first, second)
    up = [a * m for a, m in kinks]
    down = [m for _, m in kinks]
    rest = 1 - sum(up) - sum(down) - infinite
    return DiscretePair.of([*up, *down, rest, infinite, 0], [*down, *up, rest, 0, infinite])


def _odds_under_p(p: _Law, q: _Law) -> dict[Fraction | None, Fraction]:
    """The probability under P of each ratio P / Q; None stands for an infinite ratio."""
    probabilities: dict[Fraction | None, Fraction] = {}
    for a, b in zip(p, q, strict=True):
        if a:
            odds = a / b if b else None
            probabilities[odds] = probabilities.get(odds, Fraction(0)) + a
    return probabilities


def _kinks(p: _Law, q: _Law) -> tuple[list[tuple[Fraction, Fraction]], Fraction]:
    """Where and by how much the slope of the greater curve grows beyond a = 1; its limit."""
    ends = {max(a / b, b / a) for a, b in zip(p, q, strict=True) if a and b}
    points = sorted({Fraction(1), *ends})
    points.append(points[-1] + 1)  # both curves are constant from there on
    gaps = [_delta_curve(p, q, a) - _delta_curve(q, p, a) for a in points]
    for i in range(len(points) - 1):
        if gaps[i] * gaps[i + 1] < 0:
            share = gaps[i] / (gaps[i] - gaps[i + 1])
            points.append(points[i] + share * (points[i + 1] - points[i]))
    points.sort()
    heights = [max(_delta_curve(p, q, a), _delta_curve(q, p, a)) for a in points]
    slopes = [
        (heights[i + 1] - heights[i]) / (points[i + 1] - points[i])
        for i in range(len(points) - 1)
    ]
    grown = zip(points[1:-1], slopes[1:], slopes, strict=False)
    return [(a, after - before) for a, after, before in grown if after != before], heights[-1]


def _delta_curve(p: _Law, q: _Law, a: Fraction) -> Fraction:
    return sum((max(x - a * y, Fraction(0)) for x, y in zip(p, q, strict=True)), Fraction(0))
