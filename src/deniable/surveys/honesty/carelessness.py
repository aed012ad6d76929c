"""Careless answers taken out of any question, by an anchor.

A share g of the people answers truly, the others blindly: they give any answer, and the device
randomizes it like any other. The mean reading of a question (see `readings`) is then
F = g f + (1 - g) c, with f that of the attentive and c that of blind answers, which is known:
every answer equally often, a number anywhere in its range, a box ticked by a coin. An anchor,
to which every true answer is no, has F = (1 - g) / 2, which gives g; so f = c + (F - c) / g,
for every design that can be read. After Atsusaka & Stevenson, "A bias-corrected estimator for
the crosswise model", 2021, who do it for one yes/no design.

Errors are to first order. With S the covariance of F and v that of g,

    Cov f = S / g**2 + (f - c)(f - c)' (v - 2 g (1 - g) s) / g**2,

where s = (people who have both reports) / (reports of the question * of the anchor): who is
careless is so in both, and that much of the two errors cancels.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms import RandomizedResponse
from deniable.mechanisms.local.tally import Tally, read_tally
from deniable.surveys.estimate.unbiased_readings import ReportReader, reader_for

Matrix = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Attention:
    """The share of people who answer truly, its standard error, and how many were asked."""

    share: float
    error: float
    respondents: int


def attention(anchor: RandomizedResponse, counts: Any) -> Attention:
    """From (no, yes) counts of an anchor, a yes/no question whose true answer is always no.

    >>> found = attention(RandomizedResponse(odds=3), (700, 300))  # honest noes: 25 % yes
    >>> round(found.share, 6)
    0.8
    """
    tally: Tally = read_tally(counts, anchor, 2)
    n, slope = tally.respondents, float(anchor.p - anchor.q)
    rate = tally[1] / n
    share = 1 - 2 * (rate - float(anchor.q)) / slope
    if share <= 0:
        raise InvalidParameter(
            f"The anchor's rate of yeses, {rate:.3f}, is that of people who all answer at "
            "random: nothing about the question can be learnt from them."
        )
    return Attention(share, 2 * float(np.sqrt(rate * (1 - rate) / n)) / abs(slope), n)


@dataclass(frozen=True, slots=True, eq=False)
class AttentiveAnswers:
    """What the attentive answer, on average: a share for each answer (or box, or end of a
    number's range), with the covariance of these numbers."""

    shares: Matrix
    covariance: Matrix
    reader: ReportReader

    @property
    def standard_error(self) -> Matrix:
        """Those of the shares."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    def mean(self, scores: Any = None) -> tuple[float, float]:
        """The mean of a number among those who said one, or of `scores` of the answers, with
        its standard error.

        >>> from deniable.mechanisms import Hybrid
        >>> pay = Hybrid(odds=9, low=0, high=100)
        >>> all_true = Attention(1.0, 0.0, 5000)
        >>> mean, error = remove_careless_answers(
        ...     pay, pay.randomize([40] * 5000), all_true
        ... ).mean()
        >>> abs(mean - 40) < 7 * error
        True
        """
        if scores is not None:
            points = np.asarray(scores, dtype=float)
            value, move = float(points @ self.shares), points
        elif self.reader.ends is not None:
            low, high = self.reader.ends
            said = float(self.shares[:2].sum())
            part = float(self.shares[1]) / said
            value = low + (high - low) * part
            move = np.zeros(self.shares.size)
            move[:2] = np.array([-part, 1 - part]) * (high - low) / said
        else:
            raise InvalidParameter("Give `scores`: these answers are no numbers.")
        return value, float(np.sqrt(max(move @ self.covariance @ move, 0.0)))


def remove_careless_answers(
    design: Any, reports: Any, found: Attention, *, both: int | None = None
) -> AttentiveAnswers:
    """The answers of the attentive to a question of any design, from its reports.

    `both` is how many people have a report of the question and of the anchor: by default all.

    >>> from deniable.mechanisms import OUE
    >>> sport = OUE(odds=9, categories=12)
    >>> reports = sport.randomize([7] * 1600 + list(range(12)) * 33)  # one in five is careless
    >>> cleaned = remove_careless_answers(sport, reports, Attention(0.8, 0.02, 1996))
    >>> bool(abs(cleaned.shares[7] - 1) < 7 * cleaned.standard_error[7])
    True
    """
    n = len(reports)
    if n < 2:
        raise InvalidData("Give two reports or more.")
    read = reader_for(design)
    readings = read(np.asarray(reports))
    g, observed = found.share, readings.mean(axis=0)
    f = read.careless + (observed - read.careless) / g
    common = min(n, found.respondents) if both is None else both
    shared = 2 * g * (1 - g) * common / (n * found.respondents) if g < 1 else 0.0
    apart = np.outer(f - read.careless, f - read.careless)
    spread = np.cov(readings, rowvar=False).reshape(f.size, f.size) / n
    covariance = (spread + apart * (found.error**2 - shared)) / g**2
    return AttentiveAnswers(f, covariance, read)
