"""Design weights: people with a larger probability of being asked count for less.

Each report y becomes r = (y - q) / (p - q), which is unbiased for that person's answer, and
sum(w r) is unbiased for the number of yeses (Horvitz & Thompson 1952), where w is one over the
probability of being asked. Its variance is the design variance computed on r, which holds
sum((w**2 - w) V) of the coins' variance V, plus sum(w V). And r (r - 1) is unbiased for V,
because answers are 0 or 1. Adding sum(w**2 V) instead would count the coins twice. The formula
for drawing with replacement needs no addition: it is slightly too large.
Chaudhuri, "Randomized response and indirect questioning techniques in surveys", 2011.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.rationals import Number, confidence_level
from deniable.mechanisms.local.answers import read_answers
from deniable.mechanisms.local.few_people import careful_quantile, careful_variance
from deniable.surveys.estimate.among_respondents import YesNo

Sampling: TypeAlias = Literal["with-replacement", "simple", "independent"]
Vector = NDArray[Any]


@dataclass(frozen=True, slots=True)
class WeightedShare:
    """The weighted number of yeses (`total`) and their share of the population, with errors."""

    total: float
    total_error: float
    share: float
    standard_error: float
    respondents: int
    population: float
    effective: float  # as many people of equal weight would tell as much (Kish 1965)
    coins_error: float  # the part of `standard_error` that the coins have at least

    def interval(self, confidence: Number = 0.95) -> tuple[float, float]:
        """The interval of the share, by the normal approximation, cut to [0, 1]. It is widened
        for few people, and is not shorter than the coins alone would make it."""
        quantile = careful_quantile(self.effective, float(confidence_level(confidence)))
        variance = max(self.standard_error, self.coins_error) ** 2
        half = quantile * math.sqrt(careful_variance(variance, self.share, self.effective))
        low, high = self.share - half, self.share + half
        return min(max(low, 0.0), 1.0), max(min(high, 1.0), 0.0)


def weighted_share(
    design: YesNo,
    reports: Any,
    weights: Any,
    *,
    sampling: Sampling = "with-replacement",
    strata: Any = None,
    population: float | None = None,
) -> WeightedShare:
    """The weighted share of true yeses.

    `sampling` says how people were drawn. "with-replacement" is a safe choice for any design,
    "simple" is a simple random sample (within each of the `strata`, if given), and
    "independent" means that each person was drawn by an independent coin. Without `population`
    the sum of the weights is used, and the error of the share is that of a ratio.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> coins = RandomizedResponse(odds=3)
    >>> weighted = weighted_share(coins, [1, 1, 0, 0, 0], [10, 10, 10, 30, 40])
    >>> round(weighted.share, 6)
    -0.1
    """
    yes = read_answers(reports, 2).numbers
    w = np.asarray(weights, dtype=float).ravel()
    if w.size != yes.size or not np.isfinite(w).all() or (w < 1).any():
        raise InvalidData(
            "`weights` must hold one finite number per report, 1 or more: one over the "
            "probability of being asked."
        )
    if yes.size < 2:
        raise InvalidData("A standard error needs at least two reports.")
    p, q = float(design.p), float(design.q)
    r = (yes - q) / (p - q)
    groups = _groups(strata, yes.size)
    total = float(w @ r)
    size = float(w.sum()) if population is None else float(population)
    total_error = math.sqrt(_variance(r, r, w, groups, sampling))
    share = total / size
    # With an estimated size the share is a ratio, so its error comes from the residuals.
    error = total_error
    if population is None:
        error = math.sqrt(_variance(r - share, r, w, groups, sampling))
    squares = float((w**2).sum())
    few = float(w.sum()) ** 2 / squares, _coins_error(p, q, squares) / size
    return WeightedShare(total, total_error, share, error / size, yes.size, size, *few)


def _coins_error(p: float, q: float, squares: float) -> float:
    """The least standard error that the coins give to sum(w r)."""
    return math.sqrt(squares * min(p * (1 - p), q * (1 - q))) / abs(p - q)


def _variance(
    values: Vector, r: Vector, w: Vector, groups: Vector, sampling: Sampling
) -> float:
    """The variance of sum(w values), where `values` is r, or r minus a constant."""
    if sampling == "independent":
        variance = float(((w - 1) * w * values**2).sum())
    elif sampling in ("simple", "with-replacement"):
        variance = sum(
            _stratum_variance(values[groups == g], w[groups == g], sampling)
            for g in np.unique(groups)
        )
    else:
        raise InvalidParameter(
            '`sampling` must be "with-replacement", "simple" or "independent". '
            f"Found {sampling!r}."
        )
    coins = 0.0 if sampling == "with-replacement" else float((w * r * (r - 1)).sum())
    return max(variance + coins, 0.0)


def _stratum_variance(values: Vector, w: Vector, sampling: Sampling) -> float:
    n = values.size
    if n < 2:
        raise InvalidData("Every stratum needs at least two reports.")
    spread = n * float(np.var(w * values, ddof=1))
    if sampling == "with-replacement":
        return spread
    if not np.allclose(w, w[0]):
        raise InvalidData("In a simple random sample all weights of a stratum must be equal.")
    return spread * (1 - 1 / float(w[0]))


def _groups(strata: Any, n: int) -> Vector:
    if strata is None:
        return np.zeros(n)
    numbers = np.unique(np.asarray(strata), return_inverse=True)[1].astype(float).ravel()
    if numbers.size != n:
        raise InvalidData(
            f"`strata` must name one stratum per report. Found {numbers.size} for {n} reports."
        )
    return numbers
