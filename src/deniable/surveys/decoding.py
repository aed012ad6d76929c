"""What RAPPOR reports say about a list of candidates.

In cohort c the rate of 1s in bit j is p* + (q* - p*) times the share of people whose value
sets that bit, so the shares of candidates solve a linear system with one row a cohort and
bit, weighted by the rows' variances. While candidates are few (at most four fifths of the rows)
least squares on all of them is unbiased, and its errors are known. With more, non-negative
least squares picks candidates first (Slawski & Hein 2013), as many as fit. Values that are not
on the list are missing from all of it, so leave nothing common out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.rationals import Number
from deniable.mechanisms import Estimate, Tally
from deniable.mechanisms.estimate import level_of, normal
from deniable.mechanisms.rappor import Rappor

_FILLED = 0.8


@dataclass(frozen=True, slots=True)
class Decoded:
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
) -> tuple[Decoded, ...]:
    """The shares of candidates, the most frequent first.

    `found` corrects for the length of the list: with the stated confidence nobody is on it who
    has no share (Bonferroni).

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
    level = level_of(confidence)
    rows, shares, weights = _system(design, tally, candidates)
    kept = _kept(rows, shares, weights)
    scaled = rows[:, kept] * weights[:, None]
    covariance = np.linalg.pinv(scaled.T @ scaled)
    found = covariance @ (scaled.T @ (shares * weights))
    errors = np.sqrt(np.diag(covariance))
    level_each = float(1 - level) / len(candidates)
    decoded = [
        _decoded(candidates[i], float(x), float(e), tally.respondents, level, level_each)
        for i, x, e in zip(kept, found, errors, strict=True)
    ]
    return tuple(sorted(decoded, key=lambda one: -one.share.raw))


def _decoded(value: str, x: float, e: float, n: int, level: Any, each: float) -> Decoded:
    from scipy.special import ndtr

    p_value = float(ndtr(-x / e))
    return Decoded(value, normal(x, e, n, level), p_value, p_value < each)


def _system(
    design: Rappor, tally: Tally, candidates: Sequence[str]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Rows of the linear system, its right side, and one over each row's error."""
    table = np.array(tally.counts, dtype=float).reshape(design.cohorts, 1 + design.bits)
    used = np.flatnonzero(table[:, 0])
    if not used.size:
        raise InvalidData("There are no reports to decode.")
    high, low = (float(rate) for rate in design.rates)
    people = np.repeat(table[used, 0], design.bits)
    rates = table[used, 1:].ravel() / people
    filters = np.array(
        [[design.bloom(one, int(c)) for c in used] for one in candidates], dtype=float
    )
    nearest = np.clip(rates, low, high)
    errors = np.sqrt(nearest * (1 - nearest) / people) / (high - low)
    return filters.reshape(len(candidates), -1).T, (rates - low) / (high - low), 1 / errors


def _kept(rows: NDArray[Any], shares: NDArray[Any], weights: NDArray[Any]) -> list[int]:
    """All candidates if they are few enough, else those that non-negative shares need."""
    most = max(1, int(_FILLED * rows.shape[0]))
    if rows.shape[1] <= most:
        return list(range(rows.shape[1]))
    from scipy.optimize import nnls

    found, _ = nnls(rows * weights[:, None], shares * weights)
    order = np.argsort(-found)[:most]
    return [int(i) for i in order if found[i] > 0] or [int(order[0])]
