"""How close a mechanism is to the best that is possible at the same loss.

| mechanism | error | bound |
|---|---|---|
| `Laplace`, `Staircase`, `Gaussian` | variance of one number | unbiased answers |
| `Density` | total variance of its sums | unbiased answers, in the record's direction |
| `RandomizedResponse` of yes/no | variance of one reading | unbiased answers |
| `Duchi`, `Piecewise`, `Hybrid`, `SquareWave`, `NumberOrNot` | the same | the same |
| `OUE` and similar, `Ordinal`, more answers | total variance of all shares | Ye & Barg |
| `Exponential`, `PermuteAndFlip`, `NoisyMax` | missing the best score | packing, ties |
| `SparseVector` | reporting the wrong side of the threshold | two points |
| `Quantiles` | margin in ranks | packing |
| `Thresholding` | a group that is not shown | Desfontaines et al. |
| `Majority`, `InverseSensitivity` | a wrong answer | two points, unbiased choices |
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from deniable.errors import InvalidParameter, Unsupported
from deniable.exact.rationals import rational
from deniable.mechanisms import (
    Density,
    Gaussian,
    InverseSensitivity,
    Laplace,
    Loloha,
    Majority,
    Ordinal,
    Quantiles,
    RandomizedResponse,
    SparseVector,
    Staircase,
    Thresholding,
)
from deniable.mechanisms.choose.choice_by_score import ChoiceByScore
from deniable.mechanisms.local.frequency_oracle import FrequencyOracle
from deniable.mechanisms.noise.density import squared_l2_reach
from deniable.mechanisms.noise.staircase import StaircaseNoise
from deniable.price import choice_bounds, local_bounds
from deniable.price.lower_bounds import Bound, discrete, unbiased

_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Efficiency:
    """A mechanism's error, and the least that is possible.

    `measure` says what the error is: the variance of a released number (or of all of them
    together), the probability of a wrong answer, or a margin in ranks. `among` names the
    mechanisms that the bound is about.

    >>> print(efficiency(Laplace(epsilon=0.5)))
    variance 7.8354, and no unbiased mechanism of this loss has less than 3.9177:
    at most 2 times what is possible (1.41 times in standard error)
    """

    error: float
    least: float
    measure: str
    bound: Bound
    among: str = "unbiased mechanism of this loss"

    @property
    def ratio(self) -> float:
        """The error divided by the least possible error; 1 is the best.

        >>> round(efficiency(Laplace(epsilon=3)).ratio, 9)
        2.0
        """
        if self.least > 0:
            return self.error / self.least
        return 1.0 if self.error == self.least else math.inf

    @property
    def error_ratio(self) -> float:
        """The ratio of standard errors, for a variance; else the same ratio.

        >>> round(efficiency(RandomizedResponse(odds=3)).error_ratio, 9)
        1.0
        """
        return math.sqrt(self.ratio) if "variance" in self.measure else self.ratio

    def __str__(self) -> str:
        errors = f" ({self.error_ratio:.3g} times in standard error)"
        return (
            f"{self.measure} {self.error:.5g}, and no {self.among} has less "
            f"than {self.least:.5g}:\nat most {self.ratio:.3g} times what is possible"
            + errors
            * ("variance" in self.measure)
        )


def efficiency(mechanism: Any, data: Any = None) -> Efficiency:
    """A mechanism's error against the strongest bound that applies to its loss.

    How often a choice is wrong depends on the data, so choices are compared on `data`, which
    may be made up: votes for `Majority`, records for `InverseSensitivity`, scores for
    `Exponential`, `PermuteAndFlip` and `NoisyMax`, a number's distance from the threshold for
    `SparseVector`, a number of rows for `Quantiles`, of units for `Thresholding`.

    >>> round(efficiency(Gaussian(mu=0.5)).ratio, 4)
    1.1598
    >>> efficiency(Majority(epsilon=0.1), [520, 481]).ratio
    1.0
    >>> from deniable.mechanisms import PermuteAndFlip
    >>> round(efficiency(PermuteAndFlip(epsilon=1), [0, 4]).ratio, 6)
    1.0
    """
    for kinds, compare in _WITHOUT_DATA:
        if isinstance(mechanism, kinds):
            return compare(mechanism)
    if local_bounds.is_numeric(mechanism):
        return _mean(mechanism)
    for kinds, judge, example in _ON_DATA:
        if isinstance(mechanism, kinds):
            if data is None:
                raise InvalidParameter(
                    f"The error of {type(mechanism).__name__} depends on the data. Give "
                    f"some, as in efficiency(mechanism, {example}). The result depends on "
                    "them, so it is not private."
                )
            return judge(mechanism, data)
    raise Unsupported(
        f"There is no bound for {type(mechanism).__name__} here. If you know how many records "
        "must change for each answer to become the right one, see price.discrete(distances, "
        "epsilon)."
    )


def _response(mechanism: RandomizedResponse[Any]) -> Efficiency:
    if mechanism.categories > 2:
        return _shares(mechanism)
    p, q = mechanism.p, mechanism.q
    worst = max(p * (1 - p), q * (1 - q)) / (p - q) ** 2
    return _variance(float(worst), unbiased(mechanism.loss))


def _noise(mechanism: Laplace | Staircase | Gaussian) -> Efficiency:
    bound = unbiased(mechanism.loss, reach=mechanism.sensitivity)
    return _variance(noise_variance(mechanism), bound)


def _density(mechanism: Density) -> Efficiency:
    """All sums of cosines together: an unbiased vector's covariance is at least d d' / chi2 for
    every direction d in which one record can move it, so its trace is |d|**2 / chi2 or more."""
    if mechanism.terms == "private":
        raise Unsupported(
            'Density(terms="private") chooses how many numbers it releases: there is no bound '
            "for it here. Compare it at a fixed number of terms."
        )
    terms, widest = (
        int(mechanism.terms),
        squared_l2_reach(int(mechanism.terms), mechanism.neighbors),
    )
    released = terms + (mechanism.neighbors == "add-remove")
    total = released * noise_variance(mechanism.noise(terms))
    bound = unbiased(mechanism.loss, reach=math.isqrt(widest))
    among = "unbiased mechanism of this loss for these sums"
    return Efficiency(total, bound.value, "total variance", bound, among)


def _shares(mechanism: Any) -> Efficiency:
    odds = getattr(mechanism, "odds", None)
    single = mechanism.loss_once if isinstance(mechanism, Loloha) else mechanism.loss
    epsilon = math.log(odds) if odds is not None else single.epsilon()
    bound = local_bounds.all_shares(mechanism.categories, rational(epsilon))
    total = local_bounds.total_variance(mechanism)
    among = "locally private mechanism, for many people and equal shares,"
    return Efficiency(total, bound.value, "total variance", bound, among)


def _mean(mechanism: Any) -> Efficiency:
    variance, width = local_bounds.mean_variance(mechanism)
    return _variance(variance, unbiased(mechanism.loss, reach=rational(width)))


def _selection(mechanism: ChoiceByScore, scores: Any) -> Efficiency:
    gaps = choice_bounds.behind(scores, mechanism.sensitivity)
    law = mechanism.pmf(scores)
    chances = list(law.values()) if isinstance(law, dict) else law.tolist()
    right = math.fsum(p for p, gap in zip(chances, gaps, strict=True) if gap == 0)
    epsilon = rational(mechanism.loss.epsilon())
    bound = choice_bounds.selection(gaps, epsilon, monotone=mechanism.monotone)
    among = "mechanism of this loss that treats candidates alike"
    return Efficiency(1 - right, bound.value, "error probability", bound, among)


def _sparse(mechanism: SparseVector, distance: Any) -> Efficiency:
    far = rational(distance, "distance")
    above = mechanism.pmf([False], [far], threshold=0)
    below = mechanism.pmf([True], [-far], threshold=0)
    bound = choice_bounds.threshold(
        far / mechanism.sensitivity, rational(mechanism.loss.epsilon())
    )
    among = "mechanism of this loss"
    return Efficiency(max(above, below), bound.value, "error probability", bound, among)


def _ranks(mechanism: Quantiles, rows: Any) -> Efficiency:
    bound = max(
        (
            choice_bounds.rank_margin(
                rows=rows,
                cells=mechanism.grid.size,
                epsilon=rational(mechanism.loss.epsilon()),
                neighbors=mechanism.neighbors,
                quantile=q,
                confidence=_CONFIDENCE,
            )
            for q in mechanism.quantiles
        ),
        key=lambda bound: bound.value,
    )
    margin = float(mechanism.margin(_CONFIDENCE, rows=rows))
    among = "method of this loss at 95 % confidence"
    return Efficiency(margin, bound.value, "rank margin", bound, among)


def _hidden(mechanism: Thresholding, units: Any) -> Efficiency:
    bound = choice_bounds.kept(units, mechanism.epsilon, mechanism.delta)
    hidden = 1 - mechanism.keep_probability(units)
    return Efficiency(
        hidden, 1 - bound.value, "error probability", bound, "mechanism of this loss"
    )


def noise_variance(mechanism: Laplace | Staircase | Gaussian) -> float:
    """The variance of the noise on one whole number.

    >>> round(noise_variance(Laplace(epsilon=1)), 8)
    1.84134719
    """
    square = float(mechanism.step) ** 2
    if isinstance(mechanism, Laplace):
        rate = min(float(1 / mechanism.noise().scale), 700.0)
        return square * 2 * math.exp(-rate) / math.expm1(-rate) ** 2
    if isinstance(mechanism, Gaussian):
        return square * _rounded_variance(float(mechanism.noise().variance))
    return square * _stairs(mechanism.noise())


def _variance(variance: float, bound: Bound) -> Efficiency:
    return Efficiency(variance, bound.value, "variance", bound)


def _majority(mechanism: Majority, votes: Any) -> Efficiency:
    """Its own error is the least: see the proof in the mechanism's file."""
    law = mechanism.pmf(votes)
    wrong = float(min(law.values() if isinstance(law, dict) else law))
    bound = Bound(1 - wrong, "probability", "tight at every lead; Ghosh et al. 2009 for counts")
    return Efficiency(wrong, wrong, "error probability", bound)


def _choice(mechanism: InverseSensitivity, data: Any) -> Efficiency:
    distances = [int(distance) for distance in mechanism.distance(data)]
    law = mechanism.pmf(data)
    right = sum(p for p, d in zip(law.values(), distances, strict=True) if d == 0)
    bound = discrete(distances, rational(mechanism.loss.epsilon()))
    true = sum(d == 0 for d in distances)
    return Efficiency(1 - right, 1 - true * bound.value, "error probability", bound)


def _rounded_variance(variance: float) -> float:
    """The variance of the integer nearest to a normal number: variance + 1/12, if large."""
    from scipy.special import ndtr

    if variance > 4:
        return variance + 1 / 12  # the next term is below 1e-30
    sigma = math.sqrt(variance)
    edges = range(math.ceil(40 * sigma) + 2)
    return float(sum(2 * (2 * c + 1) * ndtr(-(c + 0.5) / sigma) for c in edges))


def _stairs(noise: StaircaseNoise) -> float:
    """The variance of staircase noise, stair by stair."""
    b, stair, flat = math.exp(-noise.epsilon), noise.stair, noise.flat
    total, k, power = 0.0, 0, 1.0
    while power > 1e-18 or k < 2:
        upper = _squares(k * stair, flat)
        lower = _squares(k * stair + flat, stair - flat)
        total += 2 * power * (upper + b * lower)
        k, power = k + 1, power * b
    norm = 2 * (flat + (stair - flat) * b) / -math.expm1(-noise.epsilon) - 1  # zero counts once
    return total / norm


def _squares(first: int, count: int) -> float:
    """first**2 + ... + (first + count - 1)**2."""
    n = count - 1
    return count * first**2 + first * count * n + n * count * (2 * n + 1) / 6


_WITHOUT_DATA: tuple[tuple[Any, Callable[[Any], Efficiency]], ...] = (
    (RandomizedResponse, _response),
    (Laplace | Staircase | Gaussian, _noise),
    (Density, _density),
    (FrequencyOracle | Ordinal, _shares),
)
_ON_DATA: tuple[tuple[Any, Callable[[Any, Any], Efficiency], str], ...] = (
    (Majority, _majority, "votes"),
    (InverseSensitivity, _choice, "records"),
    (ChoiceByScore, _selection, "scores"),
    (SparseVector, _sparse, "distance"),
    (Quantiles, _ranks, "rows"),
    (Thresholding, _hidden, "units"),
)
