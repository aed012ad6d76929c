"""The table of true answers to two questions, from two lists of randomized reports.

Each report has an unbiased reading (see `unbiased_readings`), and the coins of two reports are
independent. So the mean product of readings, T = mean of u v', is unbiased for the table of
true answers, for any two designs. Its covariance is that of the products u v' over people. For
designs with numbered reports this is the textbook's T = A^-1 R B^-1' with the channels A and B
and the table R of reports.

A number has two rows, for its low and its high end (see `unbiased_readings`). `means` turns
them into its mean for each answer of the other question. A multiple choice has one row per box;
its rows need not add up to 1.

Independence: if the two answers are independent, so are the readings. The covariance of
sqrt(n) D with D = T - mean(u) mean(v)' is then exactly Cov(u) (x) Cov(v), and
n tr(Cov(u)^-1 D Cov(v)^-1 D') is chi-square in the limit. For numbered reports this is
Pearson's statistic of the table of reports. If true answers add up to 1 but readings do not
(`OUE` and similar designs), D is first projected, by generalised least squares, on tables whose
rows add up to 0, so that the degrees of freedom are (a - 1) (b - 1).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData, InvalidParameter, Unsupported
from deniable.exact.html_tables import html_text
from deniable.exact.rationals import Number, confidence_level
from deniable.mechanisms import Estimate
from deniable.mechanisms.local.answers import read_answers
from deniable.mechanisms.local.estimate import normal_estimate
from deniable.mechanisms.local.few_people import MADE_UP, careful_quantile
from deniable.mechanisms.local.maximum_likelihood import expectation_maximisation
from deniable.privacy import Loss, PureLoss
from deniable.surveys.estimate.reading_products import multiply_readings
from deniable.surveys.estimate.simplex import channel_of, project_to_simplex
from deniable.surveys.estimate.unbiased_readings import ReportReader, count_pairs, reader_for

Matrix = NDArray[Any]

_NOTHING = 1e-9  # relative to the largest value of a covariance
_MOST_CELLS = 1024  # with more, covariances would take too much memory


@dataclass(frozen=True, slots=True, eq=False)
class CrossTab:
    """The estimated table of two questions.

    `raw` is unbiased, but cells may be negative. `covariance` is that of its cells, row by row,
    as estimates for the population; it is None if only variances were computed. `loss` is what
    both answers of one person cost together. `counts` and `channels` are given if the reports
    of both questions are numbered.
    """

    raw: Matrix
    variance: Matrix
    covariance: Matrix | None
    respondents: int
    loss: Loss
    margins: tuple[Matrix, Matrix]
    spreads: tuple[Matrix, Matrix]  # covariances of one reading of the rows, and the columns
    ends: tuple[Matrix, Matrix]  # covariances of the first two rows, and of the columns
    readers: tuple[ReportReader, ReportReader]
    counts: NDArray[np.int64] | None = None
    channels: tuple[Matrix, Matrix] | None = None

    @property
    def standard_error(self) -> Matrix:
        """The standard errors of the cells."""
        return np.asarray(np.sqrt(np.maximum(self.variance, 0)))

    @property
    def value(self) -> Matrix:
        """The nearest table without negative cells; it adds up to 1 if the answers do."""
        if not all(reader.adds_up for reader in self.readers):
            return np.clip(self.raw, 0.0, 1.0)
        return np.array(project_to_simplex(self.raw.ravel().tolist())).reshape(self.raw.shape)

    def maximum_likelihood(self) -> Matrix:
        """The table with the largest likelihood of the reports, if they are numbered."""
        if self.channels is None or self.counts is None:
            raise Unsupported(
                "Maximum likelihood needs designs with numbered reports: RandomizedResponse or "
                "Ordinal. For other designs use `value`."
            )
        channel = np.kron(*self.channels)
        table = expectation_maximisation([(channel, self.counts.ravel().astype(float))])
        return table.reshape(self.raw.shape)

    def interval(self, confidence: Number = 0.95) -> tuple[Matrix, Matrix]:
        """Lower and upper ends for every cell, by the normal approximation, cut to [0, 1] and
        widened for few people."""
        half = self.half_widths(confidence)
        return np.clip(self.raw - half, 0.0, 1.0), np.clip(self.raw + half, 0.0, 1.0)

    def half_widths(self, confidence: Number = 0.95) -> Matrix:
        """How far every cell of `raw` may be off.

        In a rare cell the variance of the products may be too small by chance. It is not taken
        below what it would be if the readings of both questions were independent: most of it
        comes from the coins, which are.
        """
        n, share = self.respondents, np.clip(self.raw, 0.0, 1.0)
        squares = [
            np.diag(spread) + margin**2
            for spread, margin in zip(self.spreads, self.margins, strict=True)
        ]
        independent = (np.outer(*squares) - share**2) / n
        made_up = MADE_UP * (share**2 + (1 - share) ** 2) / n**2
        quantile = careful_quantile(n, float(confidence_level(confidence)))
        return np.asarray(quantile * np.sqrt(np.maximum(self.variance, independent) + made_up))

    def independence(self) -> "Independence":
        """The chi-square test that the two answers are independent.

        >>> from deniable.mechanisms import RandomizedResponse
        >>> coins = RandomizedResponse(odds=3)
        >>> table = crosstab(coins, coins, counts=[[1150, 850], [850, 1150]])
        >>> round(table.independence().statistic, 9)
        90.0
        """
        from scipy.stats import chi2

        apart = self.raw - np.outer(*self.margins)
        freedom, inverses = 1, []
        for side, (reader, spread) in enumerate(zip(self.readers, self.spreads, strict=True)):
            project = _onto_zero_sums(spread) if reader.adds_up else np.eye(spread.shape[0])
            apart = project @ apart if side == 0 else apart @ project.T
            inverse, rank = _inverse(project @ spread @ project.T)
            if rank < reader.answers - reader.adds_up:
                raise InvalidData("A row or column has no reports: there is nothing to test.")
            freedom *= rank
            inverses.append(inverse)
        statistic = self.respondents * float(
            np.trace(inverses[0] @ apart @ inverses[1] @ apart.T)
        )
        return Independence(statistic, freedom, float(chi2.sf(statistic, freedom)))

    def means(self, confidence: Number = 0.95) -> tuple[Estimate, ...]:
        """The mean of a number, one for each answer of the other question.

        The number may be either question. If both are numbers, it is the one in the rows, for
        the two ends of the other. Errors are to first order; intervals are normal.
        """
        number = next((i for i, reader in enumerate(self.readers) if reader.ends), None)
        if number is None:
            raise Unsupported("`means` needs a question for a number. Neither question is one.")
        limits, level = self.readers[number].ends, confidence_level(confidence)
        assert limits is not None
        raw, variance = (
            table if number == 0 else table.T for table in (self.raw, self.variance)
        )
        return tuple(
            self._mean(raw[:2, j], variance[:2, j], float(self.ends[number][j]), limits, level)
            for j in range(raw.shape[1])
        )

    def _mean(
        self,
        cells: Matrix,
        variance: Matrix,
        shared: float,
        limits: tuple[float, float],
        level: Any,
    ) -> Estimate:
        low, high = limits
        people = float(cells.sum())
        if people <= 0:
            return normal_estimate((low + high) / 2, np.inf, self.respondents, level, *limits)
        part = float(cells[1]) / people
        square = part**2 * variance[0] + (1 - part) ** 2 * variance[1]
        square -= 2 * part * (1 - part) * shared
        error = float(np.sqrt(max(square, 0.0))) / people * (high - low)
        return normal_estimate(
            low + (high - low) * part, error, self.respondents, level, *limits
        )

    def _repr_html_(self) -> str:
        return html_text(self)

    def __str__(self) -> str:
        return "\n".join(
            "  ".join(f"{x:7.4f} ± {e:.4f}" for x, e in zip(row, errors, strict=True))
            for row, errors in zip(self.raw, self.half_widths(), strict=True)
        )


@dataclass(frozen=True, slots=True)
class Independence:
    """The chi-square statistic of a test, its degrees of freedom and its p-value."""

    statistic: float
    freedom: int
    p_value: float


def crosstab(
    rows: Any,
    columns: Any,
    reports: tuple[Any, Any] | None = None,
    *,
    counts: Sequence[Sequence[int]] | NDArray[Any] | None = None,
    covariances: bool = True,
) -> CrossTab:
    """The table of two questions, from both reports of each person. If the reports of both are
    numbered answers, their counts are enough.

    A question is any design, or a `DesignedQuestion`. A column that was not randomized is given
    as `None` or as the number of its answers. Without `covariances` only the variances of the
    cells are computed, which is faster for large tables.

    >>> from deniable.mechanisms import OUE, RandomizedResponse
    >>> coins = RandomizedResponse(odds=3)
    >>> crosstab(coins, coins, counts=[[1150, 850], [850, 1150]]).raw.round(6).tolist()
    [[0.4, 0.1], [0.1, 0.4]]
    >>> many = OUE(odds=3, categories=20)
    >>> crosstab(coins, many, (coins.randomize([1, 0]), many.randomize([7, 8]))).raw.shape
    (2, 20)
    """
    if (reports is None) == (counts is None):
        raise InvalidParameter("Give either the reports of both questions or `counts=`.")
    if counts is not None:
        return _from_counts(rows, columns, counts)
    assert reports is not None
    n = count_pairs(*reports)
    if n == 0:
        raise InvalidData("There are no answers. Give one or more.")
    rows, columns = (
        int(np.max(values)) + 1 if design is None else design
        for design, values in ((rows, reports[0]), (columns, reports[1]))
    )
    return _from_reports(rows, columns, reports, n, covariances)


def _from_reports(
    rows: Any, columns: Any, reports: tuple[Any, Any], respondents: int, covariances: bool
) -> CrossTab:
    sides = (reader_for(rows), reader_for(columns))
    cells = sides[0].answers * sides[1].answers
    if covariances and cells > _MOST_CELLS:
        raise InvalidParameter(
            f"The covariances of {cells:,} cells are too many: the limit is {_MOST_CELLS:,}. "
            "For variances only, pass `covariances=False`."
        )
    if _numbered(rows) and _numbered(columns):
        a, b = (
            read_answers(x, side.answers).numbers
            for x, side in zip(reports, sides, strict=True)
        )
        flat = np.bincount(a * sides[1].answers + b, minlength=cells)
        return _from_counts(rows, columns, flat.reshape(sides[0].answers, -1))
    products = multiply_readings(sides, reports, covariances=covariances)
    return CrossTab(
        raw=products.means,
        variance=products.variance,
        covariance=products.covariance,
        respondents=respondents,
        loss=_loss(rows) + _loss(columns),
        margins=products.margins,
        spreads=products.spreads,
        ends=products.ends,
        readers=sides,
    )


def _from_counts(rows: Any, columns: Any, counts: Any) -> CrossTab:
    table = np.array(counts, dtype=np.int64)
    if table.ndim != 2 or (table < 0).any() or not table.sum():
        raise InvalidData("`counts` must be a table of whole numbers, not all of them 0.")
    rows, columns = (
        side if design is None else design
        for design, side in zip((rows, columns), table.shape, strict=True)
    )
    for design in (rows, columns):
        if not _numbered(design):
            raise InvalidParameter(
                f"Counts are not enough for reports of {type(design).__name__}. Give the "
                "reports themselves."
            )
    channels = [
        np.eye(design) if isinstance(design, int) else channel_of(design)
        for design in (rows, columns)
    ]
    shape = tuple(channel.shape[0] for channel in channels)
    if shape != table.shape:
        raise InvalidData(
            f"`counts` must have {shape[0]} rows and {shape[1]} columns, one for each answer "
            f"of the designs. Found {table.shape[0]} and {table.shape[1]}."
        )
    sides = (reader_for(rows), reader_for(columns))
    cells = np.divmod(np.arange(table.size), table.shape[1])
    products = multiply_readings(sides, cells, weights=table.ravel())
    return CrossTab(
        raw=products.means,
        variance=products.variance,
        covariance=products.covariance,
        respondents=int(table.sum()),
        loss=_loss(rows) + _loss(columns),
        margins=products.margins,
        spreads=products.spreads,
        ends=products.ends,
        readers=sides,
        counts=table,
        channels=(channels[0], channels[1]),
    )


def _onto_zero_sums(spread: Matrix) -> Matrix:
    """The projection on vectors that add up to 0, by generalised least squares."""
    pull = spread.sum(axis=1)
    total = float(pull.sum())
    if total <= _NOTHING * float(np.abs(spread).max()):
        return np.eye(spread.shape[0])  # they add up already
    return np.eye(spread.shape[0]) - np.outer(pull / total, np.ones(spread.shape[0]))


def _inverse(spread: Matrix) -> tuple[Matrix, int]:
    values, vectors = np.linalg.eigh(spread)
    nonzero = values > _NOTHING * max(float(values.max()), 0.0)
    basis = vectors[:, nonzero]
    return (basis / values[nonzero]) @ basis.T, int(nonzero.sum())


def _numbered(design: Any) -> bool:
    """Whether the reports of a design are numbers of answers."""
    return isinstance(design, int) or hasattr(design, "matrix")


def _loss(design: Any) -> Loss:
    return PureLoss(0) if isinstance(design, int) else design.loss
