"""Shared by all frequency oracles: reports that support answers, and unbiased estimates.

In a *pure* protocol (Wang, Blocki, Li & Jha, "Locally differentially private protocols for
frequency estimation", 2017) a report supports some of the answers: the true answer with
probability p, each other answer with probability q. If respondents are drawn at random, the
support of an answer with share f is binomial with rate q + f (p - q), so (rate - q) / (p - q)
is unbiased, and an exact interval for the rate maps to an interval for the share. Other
libraries state only the variance among the respondents; `variance` gives both.
"""

from abc import abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.bits import SYSTEM, BitSource
from deniable.exact.enclosures import Enclosure
from deniable.exact.rationals import Number, confidence_level, whole
from deniable.mechanisms import epsilon_or_odds
from deniable.mechanisms.local.answers import read_answers, read_reports
from deniable.mechanisms.local.estimate import (
    Estimates,
    IntervalMethod,
    estimate_share,
    share_variance,
)
from deniable.mechanisms.local.tally import Tally, check_not_empty
from deniable.mechanisms.named_arguments import check_arguments
from deniable.privacy import PureLoss

Reports: TypeAlias = NDArray[Any]  # one row per person
Integers: TypeAlias = NDArray[np.int64]

_CELLS_AT_ONCE = 1 << 22


class FrequencyOracle:
    """Subclasses define `p`, `q`, `width`, `pmf`, `reports`, `_randomize`, `_count_support`
    and `_support_table`."""

    __slots__ = ()

    max_categories: ClassVar[int] = 1 << 20

    odds: Fraction
    categories: int

    @check_arguments
    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        odds: Number | None = None,
        categories: int,
    ) -> None:
        object.__setattr__(self, "odds", epsilon_or_odds.odds_of(epsilon, odds))
        k = whole(categories, "categories", least=2)
        if k > self.max_categories:
            raise InvalidParameter(
                f"`categories` must be at most {self.max_categories:,}. Found {k:,}."
            )
        object.__setattr__(self, "categories", k)

    @property
    @abstractmethod
    def p(self) -> Fraction:
        """The probability that a report supports the true answer."""

    @property
    @abstractmethod
    def q(self) -> Fraction:
        """The probability that a report supports any other answer."""

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of integers in one report."""

    @abstractmethod
    def pmf(self, report: Any, answer: int) -> Fraction:
        """P(report | answer), exactly."""

    @abstractmethod
    def reports(self) -> Iterator[tuple[int, ...]]:
        """Every possible report; for proofs on small domains."""

    @abstractmethod
    def _randomize(self, truth: Integers, source: BitSource) -> Reports: ...

    @abstractmethod
    def _count_support(self, reports: Reports) -> Integers: ...

    @abstractmethod
    def _support_table(self, reports: Reports) -> NDArray[np.bool_]: ...

    @property
    def loss(self) -> PureLoss:
        """What one report costs, as exact odds."""
        return PureLoss(odds=self.odds)

    def pmf_bounds(self, report: Any, answer: int, bits: int = 256) -> Enclosure:
        """2**bits * pmf(report, answer), rounded down and up to integers."""
        scaled = self.pmf(report, answer) * (1 << bits)
        return scaled.__floor__(), scaled.__ceil__()

    def randomize(self, answers: Any, *, source: BitSource = SYSTEM) -> Reports:
        """One report for each answer, as the rows of an array."""
        return self._randomize(read_answers(answers, self.categories).numbers, source)

    def aggregate(self, reports: Reports) -> Tally:
        """How many reports support each answer; tallies of batches add up."""
        rows = self._read_reports(reports)
        return Tally(self, tuple(self._count_support(rows).tolist()), rows.shape[0])

    def supports(self, reports: Reports) -> NDArray[np.bool_]:
        """Which answers each report supports: one row per person, one column per answer.

        `aggregate` counts the columns without making this table; cross-tables of two questions
        need it.
        """
        rows = self._read_reports(reports)
        self._count_support(rows)  # raises if a row cannot be a report
        return self._support_table(rows)

    def _read_reports(self, reports: Reports) -> Reports:
        rows = read_reports(reports)
        if rows.ndim != 2 or rows.shape[1] != self.width or rows.dtype.kind not in "iu":
            raise InvalidData(
                f"Reports must be an array of whole numbers with {self.width} columns and one "
                "row per person, as `randomize` returns them."
            )
        if not rows.size:
            raise InvalidData("There are no reports. Give one or more.")
        return rows

    def poll(self, answers: Any) -> Tally:
        """`aggregate(randomize(answers))` in batches, so that no report is stored."""
        truth = read_answers(answers, self.categories).numbers
        people = max(1, _CELLS_AT_ONCE // self.width)
        return sum(
            (
                self.aggregate(self._randomize(truth[start : start + people], SYSTEM))
                for start in range(0, truth.size, people)
            ),
            start=Tally(self, (0,) * self.categories, 0),
        )

    def estimate(
        self,
        responses: Reports | None = None,
        *,
        counts: Tally | None = None,
        confidence: Number = 0.95,
        method: IntervalMethod = "exact",
    ) -> Estimates:
        """The share of each answer, from reports or from their tally.

        Each is unbiased by itself, so they need not add up to 1: see
        `deniable.surveys.project_to_simplex`.
        """
        if (responses is None) == (counts is None):
            raise InvalidParameter("Give either the responses or `counts=`, and not both.")
        level = confidence_level(confidence)
        if counts is None:
            assert responses is not None
            counts = self.aggregate(responses)
        if not isinstance(counts, Tally) or counts.design != self:
            raise InvalidParameter(
                f"`counts` must be a tally made by `aggregate` of {self!r}. Plain counts do "
                "not show how many people there were."
            )
        n, p, q = check_not_empty(counts).respondents, self.p, self.q
        return Estimates(
            tuple(
                estimate_share(count, n, p=p, q=q, confidence=level, method=method)
                for count in counts
            )
        )

    def variance(
        self, share: Number = 0, *, respondents: int, population: bool = True
    ) -> float:
        """The variance of the unbiased estimate, with sampling error or without."""
        return share_variance(
            share, p=self.p, q=self.q, respondents=respondents, population=population
        )
