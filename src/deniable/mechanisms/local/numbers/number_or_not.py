"""The mean of numbers from people who may decline to answer, without showing who declined.

An answer at share t of the way from `low` to `high` is first rounded to one of the two ends, up
with probability t, so that its mean is unchanged. "Not said" is a third answer. One of the
three then goes through randomized response at `odds`. Rounding depends only on the answer, so
the whole channel is a mixture of rows of randomized response and costs `odds`; low against high
attains it. Declining costs nothing extra, and is as private as the number.

Let p and q be those of the randomized response. A report is read as h = ([high] - q) / (p - q)
and s = 1 - ([not said] - q) / (p - q); both are unbiased. The mean of those who answered is
E h / E s. Its interval is Fieller's ("Some problems in interval estimation", 1954): all T for
which mean(h - T s) does not differ significantly from 0. If very few people answered, it is the
whole range. For few people it is widened (`few_people`).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.exact import uniform_below
from deniable.exact.bits import BitSource
from deniable.exact.rationals import Number, confidence_level, probability, rational, whole
from deniable.mechanisms.local.estimate import Estimate, estimate_share
from deniable.mechanisms.local.few_people import MADE_UP, careful_quantile
from deniable.mechanisms.local.numbers.numeric_design import NumericDesign
from deniable.mechanisms.local.randomized_response import RandomizedResponse
from deniable.mechanisms.local.tally import Tally

NOT_SAID = 2  # the report after low (0) and high (1)


@dataclass(frozen=True, slots=True, init=False)
class NumberOrNot(NumericDesign):
    """A number from `low` to `high`, or nan from people who decline to answer.

    >>> design = NumberOrNot(epsilon=1, low=0, high=100)
    >>> reports = design.randomize([40.0] * 30_000 + [float("nan")] * 10_000)
    >>> mean = design.estimate(reports, confidence=1 - 1e-9)
    >>> mean.interval[0] < 40 < mean.interval[1]
    True
    >>> 0.15 < design.not_said(reports).value < 0.35
    True
    """

    odds: Fraction
    low: Fraction
    high: Fraction
    step: Fraction

    @property
    def outputs(self) -> int:
        """Three: low, high, not said."""
        return 3

    @property
    def response(self) -> Any:
        """The randomized response among the three."""
        return RandomizedResponse(odds=self.odds, categories=3)

    def _probability(self, report: int, place: int) -> Fraction:
        coins = self.response
        up = Fraction(max(place, 0), self.steps)
        meant = {0: 1 - up, 1: up, NOT_SAID: Fraction(0)}
        if place < 0:
            meant = {0: Fraction(0), 1: Fraction(0), NOT_SAID: Fraction(1)}
        chance: Fraction = coins.q + (coins.p - coins.q) * meant[report]
        return chance

    def _randomize(self, places: NDArray[np.int64], source: BitSource) -> NDArray[np.int64]:
        up = uniform_below(self.steps, places.size, source=source) < places
        meant = np.where(places < 0, NOT_SAID, up.astype(np.int64))
        return np.asarray(self.response.randomize(meant, source=source), dtype=np.int64)

    def _places(self, answers: Any) -> NDArray[np.int64]:
        """The places of numbers; -1 for nan."""
        numbers = np.asarray(answers)
        if numbers.dtype.kind != "f" or isinstance(answers, np.ma.MaskedArray):
            return super(NumberOrNot, self)._places(answers)  # slots: no bare super()
        declined = np.isnan(numbers)
        places = super(NumberOrNot, self)._places(np.where(declined, float(self.low), numbers))
        return np.where(declined.ravel(), -1, places)

    def estimate(
        self,
        responses: Any = None,
        *,
        counts: Tally | None = None,
        confidence: Number = 0.95,
    ) -> Estimate:
        """The mean among those who answered, with Fieller's interval for the population."""
        tally = self._tally(responses, counts)
        n, level = tally.respondents, confidence_level(confidence)
        rates = np.array(tally.counts, dtype=float) / n
        high, answered = self._read(rates)
        spread = self._spread(rates) / n
        mean = high / answered if answered > 0 else 0.5
        error = math.inf
        if answered > 0:
            move = np.array([1.0, -mean]) / answered
            error = math.sqrt(float(move @ spread @ move))
        careful = self._spread((rates * n + MADE_UP) / (n + 3 * MADE_UP)) / n
        quantile = careful_quantile(n, float(level))
        ends = _fieller_interval(high, answered, careful, quantile)
        consistent = ends[1] >= 0 and ends[0] <= 1
        within = self._from_share(max(ends[0], 0.0)), self._from_share(min(ends[1], 1.0))
        return Estimate(
            value=self._from_share(min(max(mean, 0.0), 1.0)),
            raw=self._from_share(mean),
            standard_error=error * float(self.high - self.low),
            interval=within if consistent else (math.nan, math.nan),
            confidence=float(level),
            respondents=n,
            consistent=consistent,
            p_value=_p_value(max(-mean, mean - 1), error),
        )

    def not_said(
        self,
        responses: Any = None,
        *,
        counts: Tally | None = None,
        confidence: Number = 0.95,
    ) -> Estimate:
        """The share of people who declined, with an exact interval.

        >>> design = NumberOrNot(odds=6, low=0, high=9)
        >>> counts = Tally(design, (520, 300, 180), 1000)
        >>> round(design.not_said(counts=counts).value, 3)
        0.088
        """
        tally, coins = self._tally(responses, counts), self.response
        return estimate_share(
            tally[NOT_SAID],
            tally.respondents,
            p=coins.p,
            q=coins.q,
            confidence=confidence_level(confidence),
        )

    def variance(self, mean: Number, *, respondents: int, declining: Number = 0) -> float:
        """The variance of the estimated mean for the population, to first order, if a share
        `declining` of people declines and the others have this mean.

        >>> design = NumberOrNot(odds=3, low=0, high=1)
        >>> round(design.variance(Fraction(1, 2), respondents=100), 6)
        0.0125
        """
        n, gone = whole(respondents, "respondents"), float(probability(declining, "declining"))
        t = float((rational(mean, "mean") - self.low) / (self.high - self.low))
        p, q = float(self.response.p), float(self.response.q)
        meant = np.array([(1 - gone) * (1 - t), (1 - gone) * t, gone])
        move = np.array([1.0, -t]) / (1 - gone)
        width = float(self.high - self.low)
        return float(move @ self._spread(q + (p - q) * meant) @ move) * width**2 / n

    def _read(self, rates: NDArray[Any]) -> tuple[float, float]:
        p, q = float(self.response.p), float(self.response.q)
        return (float(rates[1]) - q) / (p - q), 1 - (float(rates[NOT_SAID]) - q) / (p - q)

    def _spread(self, rates: NDArray[Any]) -> NDArray[np.float64]:
        """The covariance of one report's h and s."""
        up, gone = float(rates[1]), float(rates[NOT_SAID])
        slope = float(self.response.p - self.response.q)
        table = np.array([[up * (1 - up), up * gone], [up * gone, gone * (1 - gone)]])
        return np.asarray(table / slope**2)

    def _from_share(self, part: float) -> float:
        return float(self.low) + part * float(self.high - self.low)


def _fieller_interval(
    high: float, answered: float, spread: NDArray[Any], quantile: float
) -> tuple[float, float]:
    z2 = quantile**2
    a = answered**2 - z2 * float(spread[1, 1])
    b = high * answered - z2 * float(spread[0, 1])
    c = high**2 - z2 * float(spread[0, 0])
    if answered <= 0 or a <= 0:
        return 0.0, 1.0
    root = math.sqrt(max(b * b - a * c, 0.0))
    return (b - root) / a, (b + root) / a


def _p_value(distance: float, error: float) -> float:
    """The probability that the coins alone put a mean so far outside the range."""
    from scipy.special import ndtr

    return float(ndtr(-distance / error)) if distance > 0 and error else 1.0
