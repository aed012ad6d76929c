"""What RAPPOR reports say about a list of candidates.

In cohort c the rate of 1s in bit j is p* + (q* - p*) times the share of people whose value
sets that bit, so the shares of candidates solve a linear system with one row a cohort and bit.

Two steps, as in Erlingsson, Pihur & Korolova (2014), made honest:

1. *Select*, if the list is longer than half the rows (beyond that, least squares on all of
   them would double the variance). Non-negative least squares on the even cohorts is sparse by
   itself (Slawski & Hein, "Non-negative least squares for high-dimensional linear models",
   2013); kept is what exceeds the standard error that a candidate would have alone.
2. *Estimate* the survivors by weighted least squares on the odd cohorts. Those are other
   people, so what was selected says nothing about their noise, and errors and intervals hold
   as if the survivors had been named in advance (Cox, "A note on data-splitting", 1975).
   Without selection all cohorts serve both.

Errors count that bits of one person's filter go together (the covariance of a cohort's bits is
that of the fitted shares), and grow by sqrt(chi-square / freedom) where the rows fit the
candidates worse than by chance: values that are missing from the list leave such a trace.
`found` keeps the chance of naming anybody who has no share below 1 - confidence over all
candidates that were tested, by Holm's step-down test (1979).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.rationals import Number
from deniable.mechanisms import Estimate, Tally
from deniable.mechanisms.confidence import confidence_level
from deniable.mechanisms.local.estimate import normal_estimate
from deniable.mechanisms.local.rappor import Rappor

Matrix = NDArray[Any]

_FILLED = 0.5  # candidates to rows; beyond, candidates are selected first
_MOST = 0.8  # survivors to rows
_ROUNDS = 2  # of weighing by what the round before has found


@dataclass(frozen=True, slots=True)
class DecodedCandidate:
    """A candidate, its share, and whether it is there at all at `confidence` over the list."""

    value: str
    share: Estimate
    p_value: float
    found: bool


def decode(
    design: Rappor,
    tally: Tally,
    candidates: Sequence[str],
    *,
    confidence: Number = 0.95,
) -> tuple[DecodedCandidate, ...]:
    """The shares of candidates, the most frequent first.

    From a long list those that were not selected are left out. Each interval holds with
    `confidence`; with the same confidence all that are `found` are really there.

    >>> design = Rappor(cohorts=8)
    >>> reports = design.randomize(["blue"] * 6000 + ["red"] * 4000)
    >>> best, *_ = decode(design, design.aggregate(reports), ["red", "green", "blue"])
    >>> best.value, best.found
    ('blue', True)
    """
    if not isinstance(tally, Tally) or tally.design != design:
        raise InvalidParameter("`tally` must be made by `aggregate` of this design.")
    if not candidates or len(set(candidates)) != len(candidates):
        raise InvalidParameter("`candidates` must be one or more values, each named once.")
    level, system = confidence_level(confidence), _System(design, tally, candidates)
    kept, cohorts = list(range(len(candidates))), system.cohorts
    if len(candidates) > _FILLED * cohorts.size * design.bits and cohorts.size > 1:
        kept, cohorts = _select(system, cohorts[::2]), cohorts[1::2]
    if not kept:
        return ()
    shares, covariance = _fit(system, cohorts, kept)
    errors = np.sqrt(np.diag(covariance))
    p_values = _upper_tail(shares / errors)
    named = _holm(p_values, float(1 - level))
    n = tally.respondents
    decoded = [
        DecodedCandidate(
            candidates[i],
            normal_estimate(float(x), float(e), n, level),
            float(p),
            bool(is_there),
        )
        for i, x, e, p, is_there in zip(kept, shares, errors, p_values, named, strict=True)
    ]
    return tuple(sorted(decoded, key=lambda one: -one.share.raw))


class _System:
    """Which bits each candidate sets, and how often each bit was 1, cohort by cohort."""

    def __init__(self, design: Rappor, tally: Tally, candidates: Sequence[str]) -> None:
        self.high, self.low = (float(rate) for rate in design.rates)
        table = np.array(tally.counts, dtype=float).reshape(design.cohorts, 1 + design.bits)
        self.cohorts = np.flatnonzero(table[:, 0])
        if not self.cohorts.size:
            raise InvalidData("There are no reports to decode.")
        self.people = table[:, 0]
        self.ones = table[:, 1:]
        self.bits = design.bits
        self.filters = {
            int(c): np.array([design.bloom(one, int(c)) for one in candidates], dtype=float).T
            for c in self.cohorts
        }

    def rates(self, cohort: int) -> Matrix:
        return np.asarray(self.ones[cohort] / self.people[cohort])

    def spread(self, cohort: int, filters: Matrix, shares: Matrix | None) -> Matrix:
        """The covariance of a cohort's unbiased bit shares, if candidates have these shares;
        without any, as if bits were independent."""
        slope, rates = self.high - self.low, np.clip(self.rates(cohort), self.low, self.high)
        alone = rates * (1 - rates)
        if shares is None:
            return np.diag(alone / slope**2 / self.people[cohort])
        likely = np.clip(shares, 0.0, 1.0)
        likely = likely / max(1.0, float(likely.sum()))
        mean = filters @ likely
        found = (filters * likely) @ filters.T - np.outer(mean, mean)
        found[np.diag_indices(self.bits)] = alone / slope**2
        return np.asarray(found / self.people[cohort])


def _fit(system: _System, cohorts: Matrix, kept: list[int]) -> tuple[Matrix, Matrix]:
    """Shares of some candidates by generalised least squares, and their covariance."""
    shares: Matrix | None = None
    for _ in range(_ROUNDS):
        normal_, right, parts = np.zeros((len(kept), len(kept))), np.zeros(len(kept)), []
        for cohort in cohorts.tolist():
            filters = system.filters[cohort][:, kept]
            weigh = np.linalg.pinv(system.spread(cohort, filters, shares), hermitian=True)
            observed = (system.rates(cohort) - system.low) / (system.high - system.low)
            normal_ += filters.T @ weigh @ filters
            right += filters.T @ weigh @ observed
            parts.append((filters, weigh, observed))
        covariance = np.linalg.pinv(normal_, hermitian=True)
        shares = covariance @ right
    assert shares is not None
    misfit = sum(
        float((observed - filters @ shares) @ weigh @ (observed - filters @ shares))
        for filters, weigh, observed in parts
    )
    freedom = max(1, len(cohorts) * system.bits - len(kept))
    usual = freedom + 2 * (2 * freedom) ** 0.5  # by chance seldom more
    return shares, covariance * (misfit / freedom if misfit > usual else 1.0)


def _select(system: _System, cohorts: Matrix) -> list[int]:
    """The candidates that non-negative least squares needs, beyond the error of each alone."""
    from scipy.optimize import nnls

    rows, right = [], []
    for cohort in cohorts.tolist():
        filters = system.filters[cohort]
        error = np.sqrt(np.diag(system.spread(cohort, filters, None)))
        rows.append(filters / error[:, None])
        observed = (system.rates(cohort) - system.low) / (system.high - system.low)
        right.append(observed / error)
    matrix = np.concatenate(rows)
    found, _ = nnls(matrix, np.concatenate(right))
    alone = 1 / np.sqrt(np.maximum((matrix**2).sum(axis=0), 1e-300))
    most = max(1, int(_MOST * (system.cohorts.size // 2) * system.bits))
    order = np.argsort(-found)[:most]
    return [int(i) for i in order if found[i] > alone[i]]


def _upper_tail(z: Matrix) -> Matrix:
    from scipy.special import ndtr

    return np.asarray(ndtr(-z))


def _holm(p_values: Matrix, alpha: float) -> Matrix:
    """Which hypotheses fall, one after the other, while the whole list errs at most alpha."""
    order, m = np.argsort(p_values), p_values.size
    falls = p_values[order] <= alpha / (m - np.arange(m))
    first = m if falls.all() else int(np.argmin(falls))
    named = np.zeros(m, dtype=bool)
    named[order[:first]] = True
    return named
