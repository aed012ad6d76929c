"""Mean products of the readings of two questions, with their variances.

People are processed in chunks, so that no table of people by cells is kept in memory.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.surveys.estimate.unbiased_readings import ReportReader

Matrix = NDArray[Any]

_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class ReadingProducts:
    """`means` of u v' over people; `variance` and `covariance` are those of these means.

    `margins` are the means of u and of v, `spreads` the covariances of a single u and v. `ends`
    are the covariances between the first two rows, one for each column, and between the first
    two columns, one for each row.
    """

    means: Matrix
    variance: Matrix
    covariance: Matrix | None
    margins: tuple[Matrix, Matrix]
    spreads: tuple[Matrix, Matrix]
    ends: tuple[Matrix, Matrix]


def multiply_readings(
    sides: tuple[ReportReader, ReportReader],
    reports: tuple[Any, Any],
    *,
    weights: Any = None,
    covariances: bool = True,
) -> ReadingProducts:
    """Multiplies the readings of paired reports. Each pair counts once, or `weights` times.

    >>> from deniable.surveys.estimate.unbiased_readings import reader_for
    >>> plain = reader_for(2)
    >>> multiply_readings((plain, plain), ([0, 1], [0, 1]), weights=[3, 1]).means.tolist()
    [[0.75, 0.0], [0.0, 0.25]]
    """
    a, b = (side.answers for side in sides)
    first, second = (np.asarray(part) for part in reports)
    w = np.ones(len(first)) if weights is None else np.asarray(weights, dtype=float)
    sums, n = _Sums(a, b, covariances), float(w.sum())
    people = max(1, _AT_ONCE // (a * b if covariances else a + b))
    for start in range(0, len(first), people):
        chunk = slice(start, start + people)
        sums.add(sides[0](first[chunk]), sides[1](second[chunk]), w[chunk, None])
    means, margins = sums.raw / n, (sums.margins[0] / n, sums.margins[1] / n)
    covariance = None
    if sums.products is not None:
        covariance = (sums.products / n - np.outer(means.ravel(), means.ravel())) / n
    spreads = [m / n - np.outer(x, x) for m, x in zip(sums.squares, margins, strict=True)]
    variance = (sums.cells / n - means**2) / n
    ends = (
        (sums.ends[0] / n - means[0] * means[1]) / n,
        (sums.ends[1] / n - means[:, 0] * means[:, 1]) / n,
    )
    return ReadingProducts(means, variance, covariance, margins, (spreads[0], spreads[1]), ends)


class _Sums:
    """The sums over people."""

    def __init__(self, a: int, b: int, covariances: bool) -> None:
        self.raw, self.cells = np.zeros((a, b)), np.zeros((a, b))
        self.products = np.zeros((a * b, a * b)) if covariances else None
        self.margins = [np.zeros(a), np.zeros(b)]
        self.squares = [np.zeros((a, a)), np.zeros((b, b))]
        self.ends = [np.zeros(b), np.zeros(a)]

    def add(self, u: Matrix, v: Matrix, w: Matrix) -> None:
        # einsum, not @: for small products threads cost more than they save on a busy machine
        weighed, squared = (w * u, v), (w * u**2, v**2)
        self.raw += np.einsum("ni,nj->ij", *weighed)
        self.cells += np.einsum("ni,nj->ij", *squared)
        self.ends[0] += np.einsum("n,nj->j", weighed[0][:, 0] * u[:, 1], squared[1])
        self.ends[1] += np.einsum("n,ni->i", v[:, 0] * v[:, 1], squared[0])
        for i, part in enumerate((u, v)):
            self.margins[i] += np.einsum("no,ni->i", w, part)
            self.squares[i] += np.einsum("no,ni,nj->ij", w, part, part)
        if self.products is not None:
            pairs = (u[:, :, None] * v[:, None, :]).reshape(u.shape[0], -1)
            self.products += (w * pairs).T @ pairs
