"""Two randomized questions at once: the table of true answers behind the table of reports.

If each answer went through its own coins, the reported table is R = A T B' with the channels
A and B and the true table T, so T = A^-1 R B^-1', unbiased, and its covariance is that of the
multinomial R carried through the same map. Channels keep independence: T has independent
margins just when R has, so the ordinary chi-square test on the reports is valid as it stands
(and every association is attenuated by exactly the product of the slopes).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.rationals import Number
from deniable.mechanisms.answers import read
from deniable.mechanisms.channels import expectation_maximisation
from deniable.mechanisms.estimate import level_of
from deniable.privacy import Loss, PureLoss
from deniable.surveys.corrected import MatrixChannel, channel_of, on_simplex

Matrix = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class CrossTab:
    """The estimated table of two questions.

    `raw` is unbiased and adds up to 1, but cells may be negative; `covariance` is that of its
    cells, row by row, as estimates for the population. `loss` is what both answers of one
    person cost together.
    """

    raw: Matrix
    covariance: Matrix
    counts: NDArray[np.int64]
    respondents: int
    loss: Loss
    channels: tuple[Matrix, Matrix]

    @property
    def standard_error(self) -> Matrix:
        """Those of the cells."""
        return np.asarray(np.sqrt(np.diag(self.covariance)).reshape(self.raw.shape))

    @property
    def value(self) -> Matrix:
        """The nearest table without negative cells."""
        return np.array(on_simplex(self.raw.ravel().tolist())).reshape(self.raw.shape)

    def likeliest(self) -> Matrix:
        """The table under which the reports are likeliest."""
        channel = np.kron(*self.channels)
        found = expectation_maximisation([(channel, self.counts.ravel().astype(float))])
        return found.reshape(self.raw.shape)

    def interval(self, confidence: Number = 0.95) -> tuple[Matrix, Matrix]:
        """Lower and upper ends for every cell, by the normal approximation, within [0, 1]."""
        from scipy.special import ndtri

        z = float(ndtri((1 + float(level_of(confidence))) / 2))
        low, high = (self.raw + sign * z * self.standard_error for sign in (-1, 1))
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)

    def independence(self) -> "Independence":
        """Pearson's chi-square test that the two answers have nothing to do with each other.

        >>> from deniable.mechanisms import RandomizedResponse
        >>> coins = RandomizedResponse(odds=3)
        >>> table = crosstab(coins, coins, counts=[[1150, 850], [850, 1150]])
        >>> table.independence().statistic
        90.0
        """
        from scipy.stats import chi2

        rows, columns = self.counts.sum(axis=1), self.counts.sum(axis=0)
        if not (rows.all() and columns.all()):
            raise InvalidData("A row or column has no reports: there is nothing to test.")
        expected = np.outer(rows, columns) / self.respondents
        statistic = float(((self.counts - expected) ** 2 / expected).sum())
        freedom = (rows.size - 1) * (columns.size - 1)
        return Independence(statistic, freedom, float(chi2.sf(statistic, freedom)))

    def __str__(self) -> str:
        return "\n".join(
            "  ".join(f"{x:7.4f} ± {1.96 * e:.4f}" for x, e in zip(row, errors, strict=True))
            for row, errors in zip(self.raw, self.standard_error, strict=True)
        )


@dataclass(frozen=True, slots=True)
class Independence:
    """The chi-square statistic of a test, its degrees of freedom and its p-value."""

    statistic: float
    freedom: int
    p_value: float


def crosstab(
    rows: MatrixChannel | None,
    columns: MatrixChannel | None,
    reports: tuple[Any, Any] | None = None,
    *,
    counts: Sequence[Sequence[int]] | NDArray[Any] | None = None,
) -> CrossTab:
    """The table of two questions, from both reports of each person or from their counts.

    `None` in place of a design stands for a column that was never randomized.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> coins = RandomizedResponse(odds=3)
    >>> crosstab(coins, coins, counts=[[1150, 850], [850, 1150]]).raw.round(6).tolist()
    [[0.4, 0.1], [0.1, 0.4]]
    """
    if (reports is None) == (counts is None):
        raise InvalidParameter("Give either the reports of both questions or `counts=`.")
    if reports is not None:
        table = _counted(rows, columns, *reports)
    else:
        table = np.array(counts, dtype=np.int64)
        if table.ndim != 2 or (table < 0).any() or not table.sum():
            raise InvalidData("`counts` must be a table of whole numbers, not all of them 0.")
    one, other = (
        np.eye(side) if design is None else channel_of(design)
        for design, side in zip((rows, columns), table.shape, strict=True)
    )
    if (one.shape[0], other.shape[0]) != table.shape:
        raise InvalidData(
            f"The table must have {one.shape[0]} rows and {other.shape[0]} columns, as the "
            f"designs have answers. Found {table.shape[0]} and {table.shape[1]}."
        )
    n = int(table.sum())
    rates = table.ravel() / n
    back = np.kron(np.linalg.inv(one), np.linalg.inv(other))
    spread = back @ (np.diag(rates) - np.outer(rates, rates)) @ back.T / n
    return CrossTab(
        raw=(back @ rates).reshape(table.shape),
        covariance=spread,
        counts=table,
        respondents=n,
        loss=_loss(rows) + _loss(columns),
        channels=(one, other),
    )


def _counted(rows: Any, columns: Any, first: Any, second: Any) -> NDArray[np.int64]:
    sides = [
        int(np.max(values)) + 1 if design is None else len(design.matrix)
        for design, values in ((rows, first), (columns, second))
    ]
    a, b = read(first, sides[0]).numbers, read(second, sides[1]).numbers
    if a.size != b.size:
        raise InvalidData(f"Both questions need as many reports. Found {a.size} and {b.size}.")
    flat = np.bincount(a * sides[1] + b, minlength=sides[0] * sides[1])
    return np.asarray(flat.reshape(sides), dtype=np.int64)


def _loss(design: Any) -> PureLoss:
    return PureLoss(0) if design is None else design.loss
