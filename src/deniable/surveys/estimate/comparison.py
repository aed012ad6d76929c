"""Two groups: is the prevalence the same in both?

The variance of the difference is the sum of the two variances. The interval is normal, with
each report rate pulled towards one half as in Agresti & Caffo ("Simple and effective confidence
intervals for proportions", 2000), which keeps its coverage near the stated one for small groups
too. The two groups may have different designs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from deniable.exact.html_tables import html_text
from deniable.exact.rationals import Number, confidence_level
from deniable.exact.text_formats import percent
from deniable.mechanisms import Tally
from deniable.mechanisms.local.tally import read_tally
from deniable.surveys.estimate.among_respondents import YesNo


@dataclass(frozen=True, slots=True)
class Difference:
    """The first group's prevalence minus the second's; `p_value` tests that they are equal."""

    value: float
    standard_error: float
    interval: tuple[float, float]
    confidence: float
    p_value: float

    def _repr_html_(self) -> str:
        return html_text(self)

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.value:+.3f} ({percent(self.confidence)}: {low:+.3f} to {high:+.3f}, "
            f"p-value {self.p_value:.2g})"
        )


def compare(
    first: tuple[YesNo, Sequence[int] | Tally],
    second: tuple[YesNo, Sequence[int] | Tally],
    *,
    confidence: Number = 0.95,
) -> Difference:
    """The difference between two groups, from the design and the (no, yes) counts of each.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> coins = RandomizedResponse(odds=3)
    >>> print(compare((coins, (600, 400)), (coins, (650, 350))))
    +0.100 (95 %: +0.015 to +0.184, p-value 0.021)
    """
    from scipy.special import ndtr, ndtri

    level = float(confidence_level(confidence))
    value, spread, middle, wide = 0.0, 0.0, 0.0, 0.0
    for sign, (design, counts) in ((1, first), (-1, second)):
        tally = read_tally(counts, design, 2)
        n, yes = tally.respondents, tally[1]
        slope, q = float(design.p - design.q), float(design.q)
        rate, pulled = yes / n, (yes + 1) / (n + 2)
        value += sign * (rate - q) / slope
        middle += sign * (pulled - q) / slope
        spread += rate * (1 - rate) / (n * slope**2)
        wide += pulled * (1 - pulled) / ((n + 2) * slope**2)
    half = float(ndtri((1 + level) / 2)) * math.sqrt(wide)
    return Difference(
        value=value,
        standard_error=math.sqrt(spread),
        interval=(max(middle - half, -1.0), min(middle + half, 1.0)),
        confidence=level,
        p_value=float(2 * ndtr(-abs(middle) / math.sqrt(wide))),
    )
