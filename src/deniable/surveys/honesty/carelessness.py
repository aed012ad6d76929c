"""Removes careless answers from the estimates of any question, with an anchor question.

A share g of the people are attentive and answer truly. The others are careless: they answer at
random, and the device randomizes their answers like any other. The mean reading of a question
(see `unbiased_readings`) is then F = g f + (1 - g) c, where f is the mean of the attentive and
c that of careless people. c is known: all answers equally often, a number anywhere in its
range, a box ticked with probability 1/2. An anchor is a question to which every true answer is
no. It has F = (1 - g) / 2, which gives g, and so f = c + (F - c) / g for every design with
unbiased readings. After Atsusaka & Stevenson, "A bias-corrected estimator for the crosswise
model", 2021, who treat one yes/no design.

Errors are to first order. With S the covariance of F and v that of g,

    Cov f = S / g**2 + (f - c)(f - c)' (v - 2 g (1 - g) s) / g**2,

where s = (people who have both reports) / (reports of the question * reports of the anchor). A
careless person is careless in both questions, so a part of the two errors cancels.
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
    """The share of attentive people, its standard error, and how many people were asked."""

    share: float
    error: float
    respondents: int


def attention(anchor: RandomizedResponse, counts: Any) -> Attention:
    """The share of attentive people, from (no, yes) counts of an anchor question.

    An anchor is a yes/no question to which everyone's true answer is no.

    >>> attentive = attention(RandomizedResponse(odds=3), (700, 300))  # honest noes: 25 % yes
    >>> round(attentive.share, 6)
    0.8
    """
    tally: Tally = read_tally(counts, anchor, 2)
    n, slope = tally.respondents, float(anchor.p - anchor.q)
    rate = tally[1] / n
    share = 1 - 2 * (rate - float(anchor.q)) / slope
    if share <= 0:
        raise InvalidParameter(
            f"The anchor's rate of yeses is {rate:.3f}, as if all people answered at random. "
            "Such reports say nothing about the question."
        )
    return Attention(share, 2 * float(np.sqrt(rate * (1 - rate) / n)) / abs(slope), n)


@dataclass(frozen=True, slots=True, eq=False)
class AttentiveAnswers:
    """The mean answer of attentive people: a share for each answer (or box, or end of a
    number's range), with the covariance of these shares."""

    shares: Matrix
    covariance: Matrix
    reader: ReportReader

    @property
    def standard_error(self) -> Matrix:
        """The standard errors of the shares."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    def mean(self, scores: Any = None) -> tuple[float, float]:
        """The mean of a number among people who gave one, or the mean of `scores` of the
        answers, with its standard error.

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
            value, gradient = float(points @ self.shares), points
        elif self.reader.ends is not None:
            low, high = self.reader.ends
            answering = float(self.shares[:2].sum())
            part = float(self.shares[1]) / answering
            value = low + (high - low) * part
            gradient = np.zeros(self.shares.size)
            gradient[:2] = np.array([-part, 1 - part]) * (high - low) / answering
        else:
            raise InvalidParameter("These answers are not numbers. Give `scores` for them.")
        return value, float(np.sqrt(max(gradient @ self.covariance @ gradient, 0.0)))


def remove_careless_answers(
    design: Any, reports: Any, attention: Attention, *, both: int | None = None
) -> AttentiveAnswers:
    """The mean answer of attentive people to a question of any design, from its reports.

    `both` is how many people answered the question and the anchor; by default all of them.

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
    g, observed = attention.share, readings.mean(axis=0)
    f = read.careless + (observed - read.careless) / g
    common = min(n, attention.respondents) if both is None else both
    shared = 2 * g * (1 - g) * common / (n * attention.respondents) if g < 1 else 0.0
    apart = np.outer(f - read.careless, f - read.careless)
    spread = np.cov(readings, rowvar=False).reshape(f.size, f.size) / n
    covariance = (spread + apart * (attention.error**2 - shared)) / g**2
    return AttentiveAnswers(f, covariance, read)
