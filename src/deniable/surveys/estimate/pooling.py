"""One prevalence from several modes of asking, each with its own design.

Phones, paper cards and kiosks may use different coins. Their counts must not be added, but
their log-likelihoods can be. With (p_i, q_i) and s_i yeses of n_i in mode i, the shared
prevalence maximises sum_i s_i log(r_i) + (n_i - s_i) log(1 - r_i), where
r_i = q_i + (p_i - q_i) prevalence. This is concave. The interval holds every prevalence that
the likelihood ratio test does not reject.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from deniable.errors import InvalidParameter
from deniable.exact.html_tables import html_text
from deniable.exact.rationals import Number, confidence_level
from deniable.exact.text_formats import percent
from deniable.mechanisms import Tally
from deniable.mechanisms.local.tally import read_tally
from deniable.surveys.estimate.among_respondents import YesNo


@dataclass(frozen=True, slots=True)
class PooledPrevalence:
    """One prevalence from several modes. `homogeneity` is the p-value of the test that all
    modes have the same prevalence; if it is small, they should not be pooled."""

    value: float
    standard_error: float
    interval: tuple[float, float]
    confidence: float
    respondents: int
    homogeneity: float

    def _repr_html_(self) -> str:
        return html_text(self)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.3f} ({percent(self.confidence)}: {low:.3f} to {high:.3f})"


def pool(
    modes: Sequence[tuple[YesNo, Sequence[int] | Tally]], *, confidence: Number = 0.95
) -> PooledPrevalence:
    """The maximum-likelihood prevalence from the (no, yes) counts of several modes.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> phone, paper = RandomizedResponse(odds=3), RandomizedResponse.warner(0.7)
    >>> print(pool([(phone, (600, 400)), (paper, (580, 420))]))
    0.300 (95 %: 0.253 to 0.348)
    """
    if not modes:
        raise InvalidParameter(
            "`modes` must hold one or more pairs (design, counts). Found none."
        )
    level = confidence_level(confidence)
    parts = []
    for design, counts in modes:
        tally = read_tally(counts, design, 2)
        parts.append((tally[1], tally.respondents, float(design.p), float(design.q)))
    best = _peak(parts)
    top = _likelihood(parts, best)
    reach = _chi2(float(level))
    information = sum(
        n * (p - q) ** 2 / (r * (1 - r))
        for _, n, p, q in parts
        for r in [min(max(q + (p - q) * best, 1e-12), 1 - 1e-12)]
    )
    apart = 2 * sum(
        _likelihood([part], _peak([part])) - _likelihood([part], best) for part in parts
    )
    return PooledPrevalence(
        value=best,
        standard_error=1 / math.sqrt(information),
        interval=(
            _crossing(parts, best, 0.0, top - reach / 2),
            _crossing(parts, best, 1.0, top - reach / 2),
        ),
        confidence=float(level),
        respondents=sum(n for _, n, _, _ in parts),
        homogeneity=_tail(max(apart, 0.0), len(parts) - 1),
    )


Part = tuple[int, int, float, float]


def _likelihood(parts: Sequence[Part], prevalence: float) -> float:
    total = 0.0
    for yes, n, p, q in parts:
        rate = q + (p - q) * prevalence
        for count, chance in ((yes, rate), (n - yes, 1 - rate)):
            if count:
                total += count * math.log(chance) if chance > 0 else -math.inf
    return total


def _peak(parts: Sequence[Part]) -> float:
    """Where the concave likelihood is largest in [0, 1], by bisecting its slope."""

    def slope(x: float) -> float:
        total = 0.0
        for yes, n, p, q in parts:
            rate = q + (p - q) * x
            up = yes / rate if yes else 0.0
            down = (n - yes) / (1 - rate) if n > yes else 0.0
            total += (p - q) * (up - down)
        return total

    low, high = 0.0, 1.0
    inner = 1e-15
    if slope(inner) <= 0:
        return 0.0
    if slope(1 - inner) >= 0:
        return 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return (low + high) / 2


def _crossing(parts: Sequence[Part], inside: float, end: float, level: float) -> float:
    """Where the likelihood falls to `level` between the peak and one end of [0, 1]."""
    if _likelihood(parts, end) >= level:
        return end
    outside = end
    for _ in range(100):
        middle = (inside + outside) / 2
        if _likelihood(parts, middle) >= level:
            inside = middle
        else:
            outside = middle
    return outside


def _chi2(confidence: float) -> float:
    from scipy.special import chdtri

    return float(chdtri(1, 1 - confidence))


def _tail(statistic: float, freedom: int) -> float:
    from scipy.special import chdtrc

    return float(chdtrc(freedom, statistic)) if freedom else 1.0
