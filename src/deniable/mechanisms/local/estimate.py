"""Estimates of shares from randomized answers, with their intervals.

If a report is "yes" with probability q + c * share, an exact binomial interval for that
probability (Clopper & Pearson 1934) maps to an interval for the share by this line. Cutting
it to [0, 1] loses no coverage. If nothing is left, the reports are too extreme for every
possible share: the estimate says so, with the p-value of the nearest possible share.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact.html_tables import html_table, html_text
from deniable.exact.rationals import Number, probability, whole
from deniable.exact.text_formats import percent
from deniable.mechanisms.local.tally import Tally

IntervalMethod: TypeAlias = Literal["exact", "wilson"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimated share (or mean), from `respondents` randomized answers.

    `raw` is unbiased and may lie outside [0, 1]; `value` is cut to it. `standard_error` is that
    of `raw` as an estimate for the population, with divisor n, at the nearest report rate that
    the design allows (so it is not 0 when all reports agree). `interval` covers the truth with
    probability at least `confidence`. When `consistent` is false it is (nan, nan): the data
    cannot come from the design, and `p_value` measures the evidence for that.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> print(RandomizedResponse.warner(0.75).estimate(counts=(600, 400)))
    0.300 ± 0.062 (95 %: 0.239 to 0.362)
    """

    value: float
    raw: float
    standard_error: float
    interval: tuple[float, float]
    confidence: float
    respondents: int
    consistent: bool
    p_value: float

    @property
    def margin(self) -> float:
        """The least half-width m for which value ± m contains the interval.

        >>> from deniable.mechanisms import RandomizedResponse
        >>> round(RandomizedResponse.warner(0.75).estimate(counts=(600, 400)).margin, 4)
        0.0622
        """
        return max(self.value - self.interval[0], self.interval[1] - self.value)

    def __str__(self) -> str:
        if not self.consistent:
            return (
                f"{self.value:.3f}: inconsistent with the design (unbiased estimate "
                f"{self.raw:.3f}, p-value {self.p_value:.2g})"
            )
        digits = max(3, 1 - math.floor(math.log10(self.margin))) if self.margin > 0 else 3
        low, high = self.interval
        return (
            f"{self.value:.{digits}f} ± {self.margin:.{digits}f} "
            f"({percent(self.confidence)}: {low:.{digits}f} to {high:.{digits}f})"
        )

    def _repr_html_(self) -> str:
        return html_text(self)


@dataclass(frozen=True, slots=True)
class Estimates:
    """One `Estimate` for each category. `value`, `raw` and the others are tuples.

    The confidence holds for each interval by itself, not for all of them together.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> shares = RandomizedResponse(odds=6, categories=3).estimate(counts=(520, 300, 180))
    >>> [round(value, 3) for value in shares.value]
    [0.632, 0.28, 0.088]
    >>> print(shares[2])
    0.088 ± 0.040 (95 %: 0.051 to 0.128)
    """

    shares: tuple[Estimate, ...]

    def __len__(self) -> int:
        return len(self.shares)

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self.shares)

    @overload
    def __getitem__(self, category: int) -> Estimate: ...
    @overload
    def __getitem__(self, category: slice) -> tuple[Estimate, ...]: ...
    def __getitem__(self, category: int | slice) -> Estimate | tuple[Estimate, ...]:
        return self.shares[category]

    @property
    def value(self) -> tuple[float, ...]:
        """The shares, each cut to [0, 1]."""
        return tuple(share.value for share in self.shares)

    @property
    def raw(self) -> tuple[float, ...]:
        """The unbiased estimates; they add up to 1."""
        return tuple(share.raw for share in self.shares)

    @property
    def standard_error(self) -> tuple[float, ...]:
        """The standard errors of the unbiased estimates."""
        return tuple(share.standard_error for share in self.shares)

    @property
    def interval(self) -> tuple[tuple[float, float], ...]:
        """One interval for each share; the confidence holds for each by itself."""
        return tuple(share.interval for share in self.shares)

    @property
    def margin(self) -> tuple[float, ...]:
        """The half-widths that contain the intervals."""
        return tuple(share.margin for share in self.shares)

    @property
    def consistent(self) -> bool:
        """Whether every category is consistent with the design."""
        return all(share.consistent for share in self.shares)

    def __str__(self) -> str:
        return "\n".join(f"{i}: {share}" for i, share in enumerate(self.shares))

    def _repr_html_(self) -> str:
        rows = [(str(i), str(share)) for i, share in enumerate(self.shares)]
        return html_table(("answer", "share"), rows, (True, False))


def share_variance(
    share: Number, *, p: Fraction, q: Fraction, respondents: int, population: bool
) -> float:
    """The variance of the unbiased estimate (rate - q) / (p - q).

    A report supports an answer with probability p if it is the true one, else q. The estimate
    is of the share in the population, or of the share among these respondents only.

    >>> share_variance(
    ...     0.3, p=Fraction(3, 4), q=Fraction(1, 4), respondents=1000, population=True
    ... )
    0.00096
    """
    x = probability(share, "share")
    n = whole(respondents, "respondents")
    rate = q + x * (p - q)
    spread = rate * (1 - rate) if population else x * p * (1 - p) + (1 - x) * q * (1 - q)
    return float(spread / (n * (p - q) ** 2))


def estimate_share(
    reports: int,
    respondents: int,
    *,
    p: Fraction,
    q: Fraction,
    confidence: Fraction,
    method: IntervalMethod = "exact",
) -> Estimate:
    """The share of people with a trait. With it they report "yes" with probability p, else q.

    >>> estimate_share(
    ...     0, 10, p=Fraction(3, 4), q=Fraction(1, 4), confidence=Fraction(19, 20)
    ... ).raw
    -0.5
    """
    if method not in _INTERVALS:
        raise InvalidParameter(f'`method` must be "exact" or "wilson". Found {method!r}.')
    slope = p - q
    raw = (Fraction(reports, respondents) - q) / slope
    ends = [
        (end - float(q)) / float(slope)
        for end in _INTERVALS[method](reports, respondents, float(confidence))
    ]
    low, high = min(ends), max(ends)
    consistent = high >= 0 and low <= 1
    rate = min(max(Fraction(reports, respondents), min(p, q)), max(p, q))
    return Estimate(
        value=float(min(max(raw, Fraction(0)), Fraction(1))),
        raw=float(raw),
        standard_error=math.sqrt(rate * (1 - rate) / respondents) / abs(float(slope)),
        interval=(max(low, 0.0), min(high, 1.0)) if consistent else (math.nan, math.nan),
        confidence=float(confidence),
        respondents=respondents,
        consistent=consistent,
        p_value=_p_value(reports, respondents, min(p, q), max(p, q)),
    )


def normal_estimate(
    raw: float,
    error: float,
    respondents: int,
    confidence: Fraction,
    low: float = 0.0,
    high: float = 1.0,
) -> Estimate:
    """An estimate with a normal interval, cut to [low, high].

    >>> print(normal_estimate(0.3, 0.01, 1000, Fraction(19, 20)))
    0.300 ± 0.020 (95 %: 0.280 to 0.320)
    """
    from scipy.special import ndtr, ndtri  # slow to import

    half = float(ndtri((1 + float(confidence)) / 2)) * error
    consistent = raw + half >= low and raw - half <= high
    beyond = max(low - raw, raw - high)
    return Estimate(
        value=min(max(raw, low), high),
        raw=raw,
        standard_error=error,
        interval=(max(raw - half, low), min(raw + half, high))
        if consistent
        else (math.nan, math.nan),
        confidence=float(confidence),
        respondents=respondents,
        consistent=consistent,
        p_value=float(ndtr(-beyond / error)) if beyond > 0 and error else 1.0,
    )


def estimate_mean(
    values: NDArray[Any], tally: Tally, confidence: Fraction, low: float, high: float
) -> Estimate:
    """The mean of `values[y]` over all reports y; report y was sent tally[y] times.

    >>> print(
    ...     estimate_mean(
    ...         np.array([0.0, 10.0]), Tally(None, (50, 50), 100), Fraction(1, 2), 0, 10
    ...     )
    ... )
    5.000 ± 0.339 (50 %: 4.661 to 5.339)
    """
    counts, n = np.array(tally.counts, dtype=float), tally.respondents
    mean = float(counts @ values) / n
    spread = float(counts @ (values - mean) ** 2) / max(n - 1, 1)
    return normal_estimate(mean, math.sqrt(spread / n), n, confidence, low, high)


def binomial_interval(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """The exact (Clopper-Pearson) interval for a probability.

    >>> low, high = binomial_interval(0, 10, 0.95)
    >>> low, round(high, 4)
    (0.0, 0.3085)
    """
    from scipy.special import betaincinv  # slow to import

    tail, failures = (1 - confidence) / 2, trials - successes
    low = float(betaincinv(successes, failures + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, failures, 1 - tail)) if failures else 1.0
    return low, high


def wilson_interval(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """Wilson's interval: all rates that the score test does not reject.

    It is shorter than the exact interval. Its coverage is right on average over all rates, but
    not for each rate.

    >>> [round(end, 4) for end in wilson_interval(0, 10, 0.95)]
    [0.0, 0.2775]
    """
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    middle = (successes + z * z / 2) / (trials + z * z)
    spread = successes * (trials - successes) / trials + z * z / 4
    half = z * math.sqrt(spread) / (trials + z * z)
    low = middle - half if successes else 0.0
    return low, middle + half if successes < trials else 1.0


_INTERVALS = {"exact": binomial_interval, "wilson": wilson_interval}


def _p_value(reports: int, respondents: int, low: Fraction, high: Fraction) -> float:
    """The probability of such an extreme count, at the nearest rate that the design allows."""
    from scipy.special import betainc

    rate = Fraction(reports, respondents)
    if rate < low:
        return float(betainc(respondents - reports, reports + 1, float(1 - low)))
    if rate > high:
        return float(betainc(reports, respondents - reports + 1, float(high)))
    return 1.0
