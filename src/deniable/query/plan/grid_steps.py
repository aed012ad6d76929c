"""Grids of whole steps: how far they may reach, and the step that several of them share."""

import math
from fractions import Fraction

# How many steps from zero a limit of a column may lie, for sums, quantiles and histograms.
# Beyond, a double could round to the wrong step; far beyond, a cast to 64 bits would fail on
# any row, and the failure would reveal the row.
FARTHEST_STEP = 1 << 50


def common_step(steps: list[Fraction | None]) -> Fraction | None:
    """The step of the coarsest grid that contains several grids; None if one is unknown.

    >>> common_step([Fraction(1, 2), Fraction(1, 3)])
    Fraction(1, 6)
    """
    result = Fraction(0)
    for step in steps:
        if step is None:
            return None
        top = math.gcd(result.numerator * step.denominator, step.numerator * result.denominator)
        result = Fraction(top, result.denominator * step.denominator)
    return result


def coarsen_by_tens(
    low: int, high: int, step: Fraction, *, most: int = FARTHEST_STEP, widest: int | None = None
) -> tuple[int, int, Fraction]:
    """The limits and the step of a grid, made coarser by a power of ten until both limits lie
    within `most` steps of zero and, if it is given, `widest` steps of each other.

    >>> coarsen_by_tens(5, 1234, Fraction(1, 100), most=200)
    (0, 124, Fraction(1, 10))
    """
    while max(abs(low), abs(high)) > most or (widest is not None and high - low > widest):
        low, high, step = low // 10, -(-high // 10), step * 10
    return low, high, step
