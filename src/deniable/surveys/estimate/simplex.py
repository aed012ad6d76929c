"""Corrects estimated shares so that they are at least 0 and add up to 1.

Unbiased estimates may lie outside [0, 1]. Keep them for averages, which stay unbiased. For
display there are two corrections. `project_to_simplex` gives the distribution with the least
squared distance (Norm-Sub in the local-privacy literature). `maximum_likelihood` uses
expectation-maximisation with the channel of the reports (Dempster, Laird & Rubin 1977) and is
the better one when shares are near 0. Both are post-processing of reports and cost nothing.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData
from deniable.mechanisms.local.maximum_likelihood import expectation_maximisation


class MatrixChannel(Protocol):
    """A design with numbered reports, and P(report | answer) as a matrix."""

    @property
    def matrix(self) -> tuple[tuple[Fraction, ...], ...]:
        """Row y, column x holds P(y | x)."""
        ...


def project_to_simplex(raw: Sequence[float]) -> tuple[float, ...]:
    """The distribution that is nearest to unbiased estimates.

    >>> [round(share, 6) for share in project_to_simplex([0.92, 0.20, -0.12])]
    [0.86, 0.14, 0.0]
    """
    shares = np.asarray(raw, dtype=float)
    if shares.ndim != 1 or not shares.size or not np.isfinite(shares).all():
        raise InvalidData("`raw` must be a list of one or more finite numbers.")
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, shares.size + 1)
    last = int(np.flatnonzero(falling > excess)[-1])
    return tuple(np.maximum(shares - excess[last], 0.0).tolist())


def maximum_likelihood(design: MatrixChannel, counts: Sequence[int]) -> tuple[float, ...]:
    """The distribution of answers with the largest likelihood of these counts of reports.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> design = RandomizedResponse(odds=6, categories=3)
    >>> [round(share, 6) for share in maximum_likelihood(design, (700, 250, 50))]
    [0.831579, 0.168421, 0.0]
    """
    return tuple(
        expectation_maximisation([(channel_of(design), check_counts(counts))]).tolist()
    )


def channel_of(design: MatrixChannel) -> NDArray[Any]:
    """The channel matrix as floats."""
    return np.array([[float(chance) for chance in row] for row in design.matrix])


def check_counts(counts: Sequence[Any]) -> NDArray[Any]:
    """Counts of reports as floats. Refuses negative counts, and counts that are all 0."""
    numbers = np.array([int(count) for count in counts], dtype=np.float64)
    if numbers.size == 0 or (numbers < 0).any() or numbers.sum() == 0:
        raise InvalidData("`counts` must be whole numbers, 0 or more, and not all of them 0.")
    return numbers
