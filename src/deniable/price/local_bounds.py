"""Lower bounds for surveys in which each respondent randomizes the answer before sending it.

**All shares of k answers.** Subset selection with the best size of its sets has, at equal
shares, a total variance of

    M = min over d of (k - 1)**2 (d e + k - d)**2 / (k d (k - d) (e - 1)**2),   e = e**epsilon,

or M / n for n people. No locally private scheme has asymptotically less at the worst shares:
Ye & Barg, "Optimal locally private estimation under l_p loss for 1 <= p <= 2", 2019.

**A mean.** One person's report, read without bias, is an unbiased answer about one record. The
bound of Hammersley, Chapman and Robbins applies, where one change moves the answer by the width
of the range.
"""

import math
from typing import Any

import numpy as np

from deniable.exact.rationals import Number, positive, whole
from deniable.mechanisms.local.numbers.numeric_design import NumericDesign
from deniable.price.lower_bounds import Bound


def all_shares(categories: int, epsilon: Number) -> Bound:
    """The least total variance of the shares of all answers, times the number of people.

    >>> print(all_shares(16, 1))
    total variance >= 51.9139 (Ye & Barg 2019, for many people; at 1 change)
    """
    k, e = (
        whole(categories, "categories", least=2),
        math.exp(float(positive(epsilon, "epsilon"))),
    )
    least = min(
        (k - 1) ** 2 * (d * e + k - d) ** 2 / (k * d * (k - d) * (e - 1) ** 2)
        for d in range(1, k)
    )
    return Bound(least, "total variance", "Ye & Barg 2019, for many people")


def total_variance(design: Any) -> float:
    """The total variance of all shares, at equal shares, times the number of people.

    >>> from deniable.mechanisms import SubsetSelection
    >>> round(total_variance(SubsetSelection(epsilon=1, categories=16)), 4)
    51.9139
    """
    k = design.categories
    if hasattr(design, "ratio"):  # on a scale, by the inverse channel
        channel = np.array(design.matrix, dtype=float)
        rates = channel.mean(axis=1)
        back = np.linalg.inv(channel)
        return float(np.trace(back @ (np.diag(rates) - np.outer(rates, rates)) @ back.T))
    p, q = float(design.p), float(design.q)
    rate = q + (p - q) / k
    return float(k * rate * (1 - rate) / (p - q) ** 2)


def mean_variance(design: Any) -> tuple[float, float]:
    """The variance of one unbiased reading at the worst answer, and the width of the range.

    >>> from deniable.mechanisms import Duchi
    >>> mean_variance(Duchi(odds=3, low=0, high=1))
    (1.0, 1.0)
    """
    width = float(design.high - design.low)
    ends = (design.low, (design.low + design.high) / 2, design.high)
    return max(design.variance(x, respondents=1) for x in ends), width


def is_numeric(design: Any) -> bool:
    """Whether a design is about numbers.

    >>> is_numeric(3)
    False
    """
    return isinstance(design, NumericDesign)
