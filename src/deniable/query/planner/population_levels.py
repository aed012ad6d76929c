"""Where FOR POPULATION looks for the ends of a quantile's interval."""

import math
from collections.abc import Iterator
from fractions import Fraction
from statistics import NormalDist

_ROUND = 1000  # how finely the levels of quantiles are written


def levels_around(level: Fraction, rows: int, tail: float) -> Iterator[Fraction]:
    """Levels that sampling seldom takes a quantile beyond: with the chance `tail` on each side.

    >>> [float(end) for end in levels_around(Fraction(1, 2), 1000, 0.01)]
    [0.446, 0.554]
    """
    # A group with half as many rows as the others should do as well.
    spread = math.sqrt(2 * level * (1 - level) / max(rows, 1))
    far = -NormalDist().inv_cdf(tail) * spread
    away = Fraction(math.ceil(far * _ROUND) + 1, _ROUND)
    yield from (end for end in (level - away, level + away) if 0 < end < 1)
