"""How well scores tell members from others: area under the curve, hits at few alarms."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def area_under_curve(members: Floats, others: Floats) -> float:
    """The probability that a member has a higher score than another person; 1/2 is a coin.

    >>> area_under_curve(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    """
    ordered = np.sort(others)
    below = np.searchsorted(ordered, members, side="left")
    up_to = np.searchsorted(ordered, members, side="right")
    return float((below + up_to).mean() / 2 / len(others))


def hits_at(members: Floats, others: Floats, alarms: float) -> float:
    """The share of members above a threshold that at most this share of others passes.

    >>> hits_at(np.array([2.0, 3.0]), np.arange(100) / 100, 0.05)
    1.0
    """
    allowed = int(alarms * len(others))
    threshold = np.sort(others)[len(others) - 1 - allowed]
    return float((members > threshold).mean())
