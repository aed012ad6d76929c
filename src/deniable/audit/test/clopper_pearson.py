"""Exact (Clopper-Pearson) bounds for many probabilities at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


def clopper_pearson(hits: Counts | int, trials: int, error: float) -> tuple[Floats, Floats]:
    """(low, high): each bound is wrong with probability at most `error`.

    >>> low, high = clopper_pearson(np.array([0, 5, 10]), 10, 0.025)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.1871, 0.6915], [0.3085, 0.8129, 1.0])
    """
    from scipy.special import betainccinv, betaincinv  # slow to import

    k: Any = np.asarray(hits, dtype=np.float64)
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), trials - k + 1, error), 0.0)
    high = np.where(k < trials, betainccinv(k + 1, np.maximum(trials - k, 1), error), 1.0)
    return low, high
