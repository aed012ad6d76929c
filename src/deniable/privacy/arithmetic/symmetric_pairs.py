"""One pair for neighbours that may stand either way round.

Two releases can tell the same two tables apart opposite ways: a "yes" becomes a "no" in the
one question and a "no" a "yes" in the other. A lopsided pair P, Q then meets its own reverse,
which no composition of equal directions covers. The symmetric pair whose delta curve is the
greater of both directions' dominates both, so it composes with anything (Zhu, Dong & Wang
2022).

In a = e**x the curves h(a) = sum of (p - a q)+ are convex and piecewise linear, and so is their
maximum: where its slope grows by m, at a > 1, the pair has Q(L = ln a) = m, P(L = ln a) = a m.
"""

from collections.abc import Sequence
from fractions import Fraction

from deniable.exact.rationals import Number, probability
from deniable.privacy.arithmetic.dominating_pairs import Atoms

_Law = list[Fraction]


def either(p: Sequence[Number], q: Sequence[Number]) -> Atoms:
    """The least symmetric pair that dominates P against Q and Q against P.

    >>> either([0.5, 0.5], [0.25, 0.75]).symmetric
    True
    """
    known = Atoms.of(p, q)
    first = [probability(one, "p") for one in p]
    second = [probability(one, "q") for one in q]
    if _profile(first, second) == _profile(second, first):
        return known
    kinks, told = _kinks(first, second)
    up = [a * m for a, m in kinks]
    down = [m for _, m in kinks]
    rest = 1 - sum(up) - sum(down) - told
    return Atoms.of([*up, *down, rest, told, 0], [*down, *up, rest, 0, told])


def _profile(p: _Law, q: _Law) -> dict[Fraction | None, Fraction]:
    """The probability under P of each odds; None for what is impossible under Q."""
    found: dict[Fraction | None, Fraction] = {}
    for a, b in zip(p, q, strict=True):
        if a:
            odds = a / b if b else None
            found[odds] = found.get(odds, Fraction(0)) + a
    return found


def _kinks(p: _Law, q: _Law) -> tuple[list[tuple[Fraction, Fraction]], Fraction]:
    """Where, and by how much, the slope of the greater curve grows beyond a = 1; its end."""
    ends = {max(a / b, b / a) for a, b in zip(p, q, strict=True) if a and b}
    points = sorted({Fraction(1), *ends})
    points.append(points[-1] + 1)  # beyond which both curves are flat
    gaps = [_curve(p, q, a) - _curve(q, p, a) for a in points]
    for i in range(len(points) - 1):
        if gaps[i] * gaps[i + 1] < 0:
            share = gaps[i] / (gaps[i] - gaps[i + 1])
            points.append(points[i] + share * (points[i + 1] - points[i]))
    points.sort()
    heights = [max(_curve(p, q, a), _curve(q, p, a)) for a in points]
    slopes = [
        (heights[i + 1] - heights[i]) / (points[i + 1] - points[i])
        for i in range(len(points) - 1)
    ]
    grown = zip(points[1:-1], slopes[1:], slopes, strict=False)
    return [(a, after - before) for a, after, before in grown if after != before], heights[-1]


def _curve(p: _Law, q: _Law, a: Fraction) -> Fraction:
    return sum((max(x - a * y, Fraction(0)) for x, y in zip(p, q, strict=True)), Fraction(0))
