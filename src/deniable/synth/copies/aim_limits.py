"""How large AIM's models are, how often they are fitted, and how long that may take.

The size that is allowed grows as the budget is used, so that early choices do not use up all of
it; it is a quarter at first.
"""

from collections.abc import Sequence
from math import prod

AIM_CELLS = 1 << 18  # of all cliques of a model
BETWEEN, LAST = 40, 500  # rounds of fitting, between measurements and at the end
_FIRST = 0.25  # of the cells
_SECONDS = 2e-8  # for one cell in one round of fitting, on one core


def allowed_cells(used: float) -> float:
    """The most cells of a model after this share of the budget.

    >>> allowed_cells(0.5)
    131072.0
    """
    return AIM_CELLS * max(used, _FIRST)


def fitting_seconds(sizes: Sequence[int], measurements: int) -> float:
    """How long all fitting may take, on one core of an ordinary machine.

    >>> round(fitting_seconds([10] * 15, 30))
    6
    """
    most = prod(sizes)
    between = sum(
        BETWEEN * min(most, allowed_cells(number / measurements))
        for number in range(1, measurements + 1)
    )
    return _SECONDS * (between + LAST * min(most, AIM_CELLS))
