"""The step that several grids share."""

import math
from fractions import Fraction


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
