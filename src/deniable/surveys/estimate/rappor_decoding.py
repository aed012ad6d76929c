"""The shares of candidate texts, decoded from RAPPOR reports.

In cohort c the rate of 1s in bit j is p* + (q* - p*) times the share of people whose value
sets that bit. So the shares of candidates solve a linear system with one row for each cohort
and bit.

There are two steps, as in Erlingsson, Pihur & Korolova (2014), but with valid errors:

1. *Select*, if there are more candidates than half the rows (beyond that, least squares on all
   of them would double the variance). Non-negative least squares on the even cohorts is sparse
   (Slawski & Hein, "Non-negative least squares for high-dimensional linear models", 2013). A
   candidate is selected if its share exceeds the standard error it would have on its own.
2. *Estimate* the selected candidates by least squares on the odd cohorts. Those are other
   people, so the selection does not depend on their noise, and errors and intervals hold as if
   the candidates had been named in advance (Cox, "A note on data-splitting", 1975). Without
   selection all cohorts are used.

Least squares weigh a cohort by its people and by nothing else. Weights from the fitted shares
would follow the noise: with 400 candidates and 1,000 people they made errors so small that one
survey in five named a value that nobody has. The errors have two parts. The coins' variance is
known, because a bit is flipped with one of two public probabilities. That of drawing people is
computed from the fitted shares, and is small beside it. Errors grow by
sqrt(chi-square / freedom) if the rows fit the candidates worse than by chance, which happens
when values are missing from the list. The probability that `found` is true for any candidate
that does not occur is at most 1 - confidence, over all candidates together (Holm's step-down
test, 1979).
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


@dataclass(frozen=True, slots=True)
class DecodedCandidate:
    """A candidate, its share, and whether it occurs at all (at `confidence` over the list)."""

    value: str
    share: Estimate
    p_value: float
    occurs: bool


def decode(
    design: Rappor,
    tally: Tally,
    candidates: Sequence[str],
    *,
    confidence: Number = 0.95,
) -> tuple[DecodedCandidate, ...]:
    """The shares of candidates, the most frequent first.

    If the list is long, candidates that were not selected are left out. Each interval holds
    with `confidence`. With the same confidence all candidates whose `occurs` is true occur.

    >>> design = Rappor(cohorts=8)
    >>> reports = design.randomize(["blue"] * 6000 + ["red"] * 4000)
    >>> best, *_ = decode(design, design.aggregate(reports), ["red", "green", "blue"])
    >>> best.value, best.occurs
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
    shares, errors = _fit(system, cohorts, selected)
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
        self.candidates = len(candidates)
        self.filters = {
            int(c): np.array([design.bloom(text, int(c)) for text in candidates], dtype=float).T
            for c in self.cohorts
        }

    def observed(self, cohorts: Matrix) -> Matrix:
        """The unbiased share of people with each bit, for one cohort after the other."""
        rates = self.ones[cohorts] / self.people[cohorts, None]
        return np.asarray((rates - self.low) / (self.high - self.low)).ravel()

    @property
    def coins(self) -> float:
        """The variance of one unbiased bit, from the coins only."""
        most = max(rate * (1 - rate) for rate in (self.low, self.high))
        return most / (self.high - self.low) ** 2

    def stack(self, cohorts: Matrix, selected: list[int]) -> tuple[Matrix, Matrix]:
        """The filters of some candidates in all these cohorts, and the people of each row."""
        filters = np.concatenate([self.filters[c][:, selected] for c in cohorts.tolist()])
        return filters, np.repeat(self.people[cohorts], self.bits)


def _fit(system: _System, cohorts: Matrix, selected: list[int]) -> tuple[Matrix, Matrix]:
    """Shares of some candidates by least squares, and their standard errors."""
    filters, people = system.stack(cohorts, selected)
    weighted = filters.T * people
    gain = np.linalg.pinv(weighted @ filters, hermitian=True) @ weighted
    observed = system.observed(cohorts)
    shares = gain @ observed
    likely = np.clip(shares, 0.0, 1.0)
    likely = likely / max(1.0, float(likely.sum()))
    variance = gain**2 @ (system.coins / people)
    for i in range(len(cohorts)):  # one person moves all bits of a cohort together
        rows = slice(i * system.bits, (i + 1) * system.bits)
        cohort_gain = gain[:, rows] @ filters[rows]
        drawn = cohort_gain**2 @ likely - (cohort_gain @ likely) ** 2
        variance += np.maximum(drawn, 0.0) / people[rows.start]
    fitted = np.clip(filters @ shares, 0.0, 1.0)
    rates = system.low + (system.high - system.low) * fitted
    each = rates * (1 - rates) / (system.high - system.low) ** 2 / people
    misfit = float(((observed - filters @ shares) ** 2 / each).sum())
    freedom = max(1, people.size - len(selected))
    usual = freedom + 2 * (2 * freedom) ** 0.5  # seldom exceeded by chance
    return shares, np.sqrt(variance * (misfit / freedom if misfit > usual else 1.0))


def _select(system: _System, cohorts: Matrix) -> list[int]:
    """The candidates whose non-negative least squares share exceeds their own error."""
    from scipy.optimize import nnls

    matrix, people = system.stack(cohorts, list(range(system.candidates)))
    scale = np.sqrt(people / system.coins)
    matrix = matrix * scale[:, None]
    shares, _ = nnls(matrix, system.observed(cohorts) * scale)
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
