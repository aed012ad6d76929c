"""The nearest table without negative cells."""

import numpy as np
from numpy.typing import NDArray


def project_table(table: NDArray[np.float64], total: float) -> NDArray[np.float64]:
    """The nearest table whose cells are at least 0 and add up to `total`, in least squares.

    >>> project_table(np.array([3.0, 2.0, -1.0]), 4.0).tolist()
    [2.5, 1.5, 0.0]
    """
    if total <= 0:
        return np.zeros_like(table)
    ordered = np.sort(table.ravel())[::-1]
    above = np.cumsum(ordered) - total
    count = np.arange(1, ordered.size + 1)
    last = int(np.nonzero(ordered - above / count > 0)[0][-1])
    return np.asarray(np.maximum(table - above[last] / (last + 1), 0.0))
