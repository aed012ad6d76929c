"""The shares of candidate texts, decoded from RAPPOR reports.

In cohort c the rate of 1s in bit j is p* + (q* - p*) times the share of people whose value
sets that bit. So the shares of candidates solve a linear system with one row for each cohort
and bit.

There are two steps, as in Erlingsson, Pihur & Korolova (2014), but with valid errors:

1. *Select*, if there are more candidates than half the rows (beyond that, least squares on all
   of them would double the variance). Non-negative least squares on the even cohorts is sparse
   (Slawski & Hein, "Non-negative least squares for high-dimensional linear models", 2013). A
   candidate is selected if its share exceeds the standard error it would have on its own.
2. *Estimate* the selected candidates by weighted least squares on the odd cohorts. Those are
   other people, so the selection does not depend on their noise, and errors and intervals hold
   as if the candidates had been named in advance (Cox, "A note on data-splitting", 1975).
   Without selection all cohorts are used.

Errors include the correlation between bits of one person's filter (the covariance of a cohort's
bits is that of the fitted shares). They grow by sqrt(chi-square / freedom) if the rows fit the
candidates worse than by chance, which happens when values are missing from the list. The
probability that `found` is true for any candidate that does not occur is at most
1 - confidence, over all candidates together (Holm's step-down test, 1979).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.rationals import Number, confidence_level
from deniable.mechanisms import Estimate, Tally
from deniable.mechanisms.local.estimate import normal_estimate
from deniable.mechanisms.local.rappor import Rappor

Matrix = NDArray[Any]

_FILLED = 0.5  # candidates per row; above this, candidates are selected first
_MOST = 0.8  # selected candidates per row
_ROUNDS = 2  # of weighted least squares, each with the shares of the one before


@dataclass(frozen=True, slots=True)
class DecodedCandidate:
    """A candidate, its share, and whether it occurs at all (at `confidence` over the list)."""

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

    If the list is long, candidates that were not selected are left out. Each interval holds
    with `confidence`. With the same confidence all candidates that are `found` occur.

    >>> design = Rappor(cohorts=8)
    >>> reports = design.randomize(["blue"] * 6000 + ["red"] * 4000)
    >>> best, *_ = decode(design, design.aggregate(reports), ["red", "green", "blue"])
    >>> best.value, best.found
    ('blue', True)
    """
    if not isinstance(tally, Tally) or tally.design != design:
        raise InvalidParameter("`tally` must come from `aggregate` of the same design.")
    if not candidates or len(set(candidates)) != len(candidates):
        raise InvalidParameter("`candidates` must be one or more values, each named once.")
    level, system = confidence_level(confidence), _System(design, tally, candidates)
    selected, cohorts = list(range(len(candidates))), system.cohorts
    if len(candidates) > _FILLED * cohorts.size * design.bits and cohorts.size > 1:
        selected, cohorts = _select(system, cohorts[::2]), cohorts[1::2]
    if not selected:
        return ()
    shares, covariance = _fit(system, cohorts, selected)
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
        for i, x, e, p, is_there in zip(selected, shares, errors, p_values, named, strict=True)
    ]
    return tuple(sorted(decoded, key=lambda candidate: -candidate.share.raw))


class _System:
    """Which bits each candidate sets, and how often each bit was 1, for every cohort."""

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
            int(c): np.array([design.bloom(text, int(c)) for text in candidates], dtype=float).T
            for c in self.cohorts
        }

    def rates(self, cohort: int) -> Matrix:
        return np.asarray(self.ones[cohort] / self.people[cohort])

    def spread(self, cohort: int, filters: Matrix, shares: Matrix | None) -> Matrix:
        """The covariance of a cohort's unbiased bit shares, if candidates have these shares.
        Without shares, bits are taken as independent."""
        slope, rates = self.high - self.low, np.clip(self.rates(cohort), self.low, self.high)
        variances = rates * (1 - rates)
        if shares is None:
            return np.diag(variances / slope**2 / self.people[cohort])
        likely = np.clip(shares, 0.0, 1.0)
        likely = likely / max(1.0, float(likely.sum()))
        mean = filters @ likely
        covariance = (filters * likely) @ filters.T - np.outer(mean, mean)
        covariance[np.diag_indices(self.bits)] = variances / slope**2
        return np.asarray(covariance / self.people[cohort])


def _fit(system: _System, cohorts: Matrix, selected: list[int]) -> tuple[Matrix, Matrix]:
    """Shares of some candidates by generalised least squares, and their covariance."""
    shares: Matrix | None = None
    for _ in range(_ROUNDS):
        normal_, right, parts = (
            np.zeros((len(selected), len(selected))),
            np.zeros(len(selected)),
            [],
        )
        for cohort in cohorts.tolist():
            filters = system.filters[cohort][:, selected]
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
    freedom = max(1, len(cohorts) * system.bits - len(selected))
    usual = freedom + 2 * (2 * freedom) ** 0.5  # seldom exceeded by chance
    return shares, covariance * (misfit / freedom if misfit > usual else 1.0)


def _select(system: _System, cohorts: Matrix) -> list[int]:
    """The candidates whose non-negative least squares share exceeds their own error."""
    from scipy.optimize import nnls

    rows, right = [], []
    for cohort in cohorts.tolist():
        filters = system.filters[cohort]
        error = np.sqrt(np.diag(system.spread(cohort, filters, None)))
        rows.append(filters / error[:, None])
        observed = (system.rates(cohort) - system.low) / (system.high - system.low)
        right.append(observed / error)
    matrix = np.concatenate(rows)
    shares, _ = nnls(matrix, np.concatenate(right))
    own_error = 1 / np.sqrt(np.maximum((matrix**2).sum(axis=0), 1e-300))
    most = max(1, int(_MOST * (system.cohorts.size // 2) * system.bits))
    order = np.argsort(-shares)[:most]
    return [int(i) for i in order if shares[i] > own_error[i]]


def _upper_tail(z: Matrix) -> Matrix:
    from scipy.special import ndtr

    return np.asarray(ndtr(-z))


def _holm(p_values: Matrix, alpha: float) -> Matrix:
    """Which hypotheses Holm's test rejects at a family-wise error of alpha."""
    order, m = np.argsort(p_values), p_values.size
    rejected = p_values[order] <= alpha / (m - np.arange(m))
    first = m if rejected.all() else int(np.argmin(rejected))
    named = np.zeros(m, dtype=bool)
    named[order[:first]] = True
    return named
