"""Intervals for a share that hold at every look at once: confidence sequences.

A 95 % interval holds at one look that was fixed in advance. Anyone who looks after every batch
and may stop at any time needs intervals that all hold together: with probability 95 % no look
ever misses the truth. This is such a sequence, exact for every number of reports.

A report is "yes" with probability r = q + (p - q) share. For each rate r in question, weigh the
likelihoods of all other rates by a Beta(k r, k (1 - r)) distribution, whose mean is r. Divided
by the likelihood of r itself this gives, after s yeses of n,

    M_n(r) = B(k r + s, k (1 - r) + n - s) / (B(k r, k (1 - r)) r**s (1 - r)**(n - s)).

If r is the truth, M is a martingale that starts at 1. So it ever reaches 1/alpha with
probability at most alpha (Ville 1939), and the rates with M_n(r) < 1/alpha are a sequence
(Robbins, "Statistical methods related to the law of the iterated logarithm", 1970). log M is
convex in r, since it is a constant plus sum_i log(k + i / r) + sum_j log(k + j / (1 - r)) over
i < s and j < n - s; and M <= 1 at r = s / n. So these rates are one interval around s / n, and
bisection finds its ends. k is fixed before the first report; it makes the intervals shortest
around a quarter of the planned number of people (Howard, Ramdas, McAuliffe & Sekhon,
"Time-uniform, nonparametric, nonasymptotic confidence sequences", 2021).

Floats find the ends, and err on the safe side: an end is a rate whose log M exceeds the limit
by more than all rounding errors.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, confidence_level, whole
from deniable.mechanisms import Estimate

PLANNED = 2000  # people, if the survey has fixed no number

_HALVINGS = 60
_ROUNDING = 64 * np.finfo(float).eps  # relative to the largest terms; tests measure far less


def prior_strength(planned: int, confidence: Fraction) -> float:
    """k: the number of imagined reports that the mixture is worth.

    >>> round(prior_strength(4000, Fraction(19, 20)), 1)
    126.0
    """
    reach = -2 * math.log(1 - confidence)
    return planned / 4 / (reach + math.log1p(reach))


def sequence_of_rates(
    yes: Any, reports: Any, *, confidence: Number = 0.95, planned: int = PLANNED
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Lower and upper ends for the rate of yeses, for one look or an array of looks.

    `planned` is the number of people that the survey plans for. It must not depend on the
    reports.

    >>> low, high = sequence_of_rates([3, 30, 300], [10, 100, 1000], planned=1000)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.009, 0.172, 0.256], [0.897, 0.453, 0.346])
    """
    level = confidence_level(confidence)
    k = prior_strength(whole(planned, "planned"), level)
    s, n = np.broadcast_arrays(np.asarray(yes, float), np.asarray(reports, float))
    if (s < 0).any() or (s > n).any() or (n < 1).any():
        raise InvalidParameter("`yes` must lie between 0 and `reports`, and `reports` above 0.")
    limit = -math.log(1 - level)
    rate = s / n
    return _end(rate, np.zeros_like(rate), s, n, k, limit), _end(
        rate, np.ones_like(rate), s, n, k, limit
    )


def _end(
    inside: NDArray[Any],
    outside: NDArray[Any],
    s: NDArray[Any],
    n: NDArray[Any],
    k: float,
    limit: float,
) -> NDArray[Any]:
    """Bisects between a rate that is in the sequence and 0 or 1; returns the outer bound."""
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        value, rounding = log_mixture(middle, s, n, k)
        refuted = value - rounding >= limit
        outside = np.where(refuted, middle, outside)
        inside = np.where(refuted, inside, middle)
    return outside


def log_mixture(
    rate: NDArray[Any], s: NDArray[Any], n: NDArray[Any], k: float
) -> tuple[NDArray[Any], NDArray[Any]]:
    """log M_n(rate), and a bound on its rounding error.

    >>> value, rounding = log_mixture(np.array(0.5), np.array(1.0), np.array(1.0), 2.0)
    >>> bool(abs(value) <= rounding)  # after one report both rates explain it equally well
    True
    """
    from scipy.special import gammaln, xlog1py, xlogy  # slow to import

    a, b = k * rate, k * (1 - rate)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = (
            gammaln(a + s) - gammaln(a),
            gammaln(b + n - s) - gammaln(b),
            gammaln(k) - gammaln(k + n),
            -xlogy(s, rate),
            -xlog1py(n - s, -rate),
        )
        value = sum(terms)
    sizes = gammaln(k + n) + 3 * (n + k) * np.log(k + n + 2) + np.abs(terms[3] + terms[4])
    return np.where(np.isfinite(value), value, -np.inf), _ROUNDING * sizes


def share_sequence(
    yes: int,
    respondents: int,
    *,
    p: Fraction,
    q: Fraction,
    confidence: Number = 0.95,
    planned: int = PLANNED,
) -> Estimate:
    """The share of people with a trait, with an interval that holds at every look at once.

    With the trait they report "yes" with probability p, else q. `p_value` also holds at any
    time: if the reports come from this design, it is ever below x with probability at most x.

    >>> coins = {"p": Fraction(3, 4), "q": Fraction(1, 4)}
    >>> print(share_sequence(400, 1000, **coins, planned=1000))
    0.300 ± 0.098 (95 %: 0.204 to 0.398)
    """
    level = confidence_level(confidence)
    n = whole(respondents, "respondents")
    slope, rate = p - q, Fraction(yes, n)
    rates = sequence_of_rates(yes, n, confidence=level, planned=planned)
    ends = sorted((Fraction(float(end)) - q) / slope for end in rates)
    low, high = _down(ends[0]), _up(ends[1])
    nearest = min(max(rate, min(p, q)), max(p, q))
    raw = (rate - q) / slope
    consistent = high >= 0 and low <= 1
    return Estimate(
        value=float(min(max(raw, Fraction(0)), Fraction(1))),
        raw=float(raw),
        standard_error=math.sqrt(nearest * (1 - nearest) / n) / abs(float(slope)),
        interval=(max(low, 0.0), min(high, 1.0)) if consistent else (math.nan, math.nan),
        confidence=float(level),
        respondents=n,
        consistent=consistent,
        p_value=_anytime_p_value(yes, n, nearest, prior_strength(planned, level)),
    )


def _anytime_p_value(yes: int, n: int, nearest: Fraction, k: float) -> float:
    """1 / M at the nearest rate that the design allows."""
    if Fraction(yes, n) == nearest:
        return 1.0
    value, rounding = log_mixture(
        np.array(float(nearest)), np.array(float(yes)), np.array(float(n)), k
    )
    return min(1.0, math.exp(min(0.0, float(rounding - value))))


def _down(end: Fraction) -> float:
    return math.nextafter(float(end), -math.inf)


def _up(end: Fraction) -> float:
    return math.nextafter(float(end), math.inf)
