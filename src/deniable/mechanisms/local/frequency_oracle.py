"""What all frequency oracles share: reports that speak for answers, and unbiased estimates.

In a *pure* protocol (Wang, Blocki, Li & Jha, "Locally differentially private protocols for
frequency estimation", 2017) a report supports some of the answers: the true one with
probability p, each other with probability q. So the support of an answer with share f is
binomial with rate q + f (p - q) when respondents are drawn at random, (rate - q) / (p - q) is
unbiased, and an exact interval for the rate maps to one for the share. The libraries that
simulate such protocols state the variance among the respondents alone; both are here.
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
from deniable.exact.rationals import Number, whole
from deniable.mechanisms import strength
from deniable.mechanisms.local.answers import read, reported
from deniable.mechanisms.local.estimate import (
    Estimates,
    Method,
    level_of,
    share,
    variance,
)
from deniable.mechanisms.local.tally import Tally, some
from deniable.privacy import PureLoss

Reports: TypeAlias = NDArray[Any]  # one row a person
Answered: TypeAlias = NDArray[np.int64]

_CELLS_AT_ONCE = 1 << 22


class FrequencyOracle:
    """Subclasses give `p`, `q`, `width`, `pmf`, `_randomize`, `_support` and
    `_supports`."""

    __slots__ = ()

    most: ClassVar[int] = 1 << 20  # the most categories

    odds: Fraction
    categories: int

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        odds: Number | None = None,
        categories: int,
    ) -> None:
        object.__setattr__(self, "odds", strength.odds_of(epsilon, odds))
        k = whole(categories, "categories", least=2)
        if k > self.most:
            raise InvalidParameter(
                f"`categories` must be at most {self.most:,} here. Found {k:,}."
            )
        object.__setattr__(self, "categories", k)

    @property
    @abstractmethod
    def p(self) -> Fraction:
        """How likely a report supports the true answer."""

    @property
    @abstractmethod
    def q(self) -> Fraction:
        """How likely a report supports any other answer."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many numbers one report has."""

    @abstractmethod
    def pmf(self, report: Any, answer: int) -> Fraction:
        """P(report | answer), exactly."""

    @abstractmethod
    def reports(self) -> Iterator[tuple[int, ...]]:
        """Every report there can be; for proofs on small domains."""

    @abstractmethod
    def _randomize(self, truth: Answered, source: BitSource) -> Reports: ...

    @abstractmethod
    def _support(self, reports: Reports) -> Answered: ...

    @abstractmethod
    def _supports(self, reports: Reports) -> NDArray[np.bool_]: ...

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
        return self._randomize(read(answers, self.categories).numbers, source)

    def aggregate(self, reports: Reports) -> Tally:
        """How many reports support each answer; tallies of batches add up."""
        rows = self._rows(reports)
        return Tally(self, tuple(self._support(rows).tolist()), rows.shape[0])

    def supports(self, reports: Reports) -> NDArray[np.bool_]:
        """Which answers each report speaks for: a row a person, a column an answer.

        `aggregate` counts the columns without making this table; tables of two questions
        need it.
        """
        rows = self._rows(reports)
        self._support(rows)  # refuses what cannot be a report
        return self._supports(rows)

    def _rows(self, reports: Reports) -> Reports:
        rows = reported(reports)
        if rows.ndim != 2 or rows.shape[1] != self.width or rows.dtype.kind not in "iu":
            raise InvalidData(
                f"Reports must be an array of whole numbers with {self.width} columns, one row "
                "a person, as `randomize` gives them."
            )
        if not rows.size:
            raise InvalidData("There are no reports. Give one or more.")
        return rows

    def poll(self, answers: Any) -> Tally:
        """`aggregate(randomize(answers))`, some people at a time, so that no report is kept."""
        truth = read(answers, self.categories).numbers
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
        method: Method = "exact",
    ) -> Estimates:
        """The share of each answer, from reports or from their tally.

        Each is unbiased by itself, so that they need not add up to 1: see
        `deniable.surveys.on_simplex`.
        """
        if (responses is None) == (counts is None):
            raise InvalidParameter("Give either the responses or `counts=`, and not both.")
        level = level_of(confidence)
        if counts is None:
            assert responses is not None
            counts = self.aggregate(responses)
        if not isinstance(counts, Tally) or counts.design != self:
            raise InvalidParameter(
                f"`counts` must be a tally made by `aggregate` of {self!r}: how often each "
                "answer is supported does not tell how many people there were."
            )
        n, p, q = some(counts).respondents, self.p, self.q
        return Estimates(
            tuple(share(one, n, p=p, q=q, confidence=level, method=method) for one in counts)
        )

    def variance(
        self, share: Number = 0, *, respondents: int, population: bool = True
    ) -> float:
        """That of the unbiased estimate, with the chance of the sample or without."""
        return variance(
            share, p=self.p, q=self.q, respondents=respondents, population=population
        )
