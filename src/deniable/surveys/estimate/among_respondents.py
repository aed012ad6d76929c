"""The share of yeses among the respondents themselves, not in the population.

The respondents are fixed, and only the coins are random: with m yeses among n people the number
of yes reports is Bin(m, p) + Bin(n - m, q). The interval holds every m that a test at half the
error on each side does not reject, so its coverage is exact (Neyman 1937).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.exact.rationals import Number, confidence_level
from deniable.mechanisms import Estimate, Tally
from deniable.mechanisms.local.estimate import estimate_share
from deniable.mechanisms.local.tally import read_tally

_FAR = 12.0  # standard deviations; the probability beyond is below 1e-30


class YesNo(Protocol):
    """A design for yes/no questions."""

    @property
    def p(self) -> Fraction:
        """P(yes | yes)."""
        ...

    @property
    def q(self) -> Fraction:
        """P(yes | no)."""
        ...


def among_respondents(
    design: YesNo, counts: Sequence[int] | Tally, *, confidence: Number = 0.95
) -> Estimate:
    """The share of true yeses among those who answered, from (no, yes) counts.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> share = among_respondents(RandomizedResponse(odds=3), (60, 40))
    >>> round(share.value, 3), share.interval
    (0.3, (0.12, 0.47))
    """
    level = confidence_level(confidence)
    tally = read_tally(counts, design, 2)
    n, yes, p, q = tally.respondents, tally[1], design.p, design.q
    wide = estimate_share(yes, n, p=p, q=q, confidence=level)
    if p < q:  # swap the two reports
        yes, p, q = n - yes, 1 - p, 1 - q
    half = float(1 - level) / 2
    least = _first(n, lambda m: _at_least(yes, m, n, float(p), float(q)) > half)
    most = _first(n, lambda m: _at_most(yes, m, n, float(p), float(q)) <= half) - 1
    consistent = least <= n and most >= 0
    x = min(max(Fraction(wide.raw), Fraction(0)), Fraction(1))
    spread = float(x * p * (1 - p) + (1 - x) * q * (1 - q))
    return replace(
        wide,
        standard_error=math.sqrt(spread / n) / float(abs(p - q)),
        interval=(least / n, most / n) if consistent else (math.nan, math.nan),
        consistent=consistent,
    )


def _first(n: int, holds: Callable[[int], bool]) -> int:
    """The least m from 0 to n at which a monotone condition holds; else n + 1."""
    low, high = 0, n + 1
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _at_least(yes: int, m: int, n: int, p: float, q: float) -> float:
    """P(Bin(m, p) + Bin(n - m, q) >= yes)."""
    from scipy.stats import binom

    places = _middle(m, p)
    return float((binom.pmf(places, m, p) * binom.sf(yes - places - 1, n - m, q)).sum())


def _at_most(yes: int, m: int, n: int, p: float, q: float) -> float:
    """P(Bin(m, p) + Bin(n - m, q) <= yes)."""
    from scipy.stats import binom

    places = _middle(m, p)
    return float((binom.pmf(places, m, p) * binom.cdf(yes - places, n - m, q)).sum())


def _middle(m: int, p: float) -> NDArray[Any]:
    """The outcomes of Bin(m, p) whose probability is not negligible."""
    reach = _FAR * math.sqrt(m * p * (1 - p)) + 20
    return np.arange(max(0, math.floor(m * p - reach)), min(m, math.ceil(m * p + reach)) + 1)
