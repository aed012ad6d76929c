"""How near a mechanism comes to the best that any mechanism of the same loss could do."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from deniable.errors import InvalidParameter, Unsupported
from deniable.exact.rationals import rational
from deniable.mechanisms import (
    Gaussian,
    InverseSensitivity,
    Laplace,
    Majority,
    RandomizedResponse,
    Staircase,
)
from deniable.mechanisms.staircase import StaircaseNoise
from deniable.price.bounds import Bound, discrete, unbiased


@dataclass(frozen=True, slots=True)
class Efficiency:
    """A mechanism's error beside the least that is possible.

    The error is the variance of a released number, or the probability of a wrong answer.

    >>> print(efficiency(Laplace(epsilon=0.5)))
    variance 7.8354, and no unbiased mechanism of this loss has less than 3.9177:
    at most 2 times what is possible (1.41 times in standard error)
    """

    error: float
    least: float
    measure: Literal["variance", "error probability"]
    bound: Bound

    @property
    def ratio(self) -> float:
        """The error over the least possible; 1 is the best there is.

        >>> round(efficiency(Laplace(epsilon=3)).ratio, 9)
        2.0
        """
        return self.error / self.least

    @property
    def error_ratio(self) -> float:
        """The ratio of standard errors, for a variance; else the same ratio.

        >>> round(efficiency(RandomizedResponse(odds=3)).error_ratio, 9)
        1.0
        """
        return math.sqrt(self.ratio) if self.measure == "variance" else self.ratio

    def __str__(self) -> str:
        errors = f" ({self.error_ratio:.3g} times in standard error)"
        return (
            f"{self.measure} {self.error:.5g}, and no unbiased mechanism of this loss has less "
            f"than {self.least:.5g}:\nat most {self.ratio:.3g} times what is possible"
            + errors
            * (self.measure == "variance")
        )


def efficiency(mechanism: Any, data: Any = None) -> Efficiency:
    """A mechanism's error against the strongest bound that applies to its loss.

    For noise: the variance of one number, against all unbiased ways to release it. For
    randomized response: one respondent's unbiased answer, at the worse of the two. How often a
    choice is wrong depends on the data: `Majority` and `InverseSensitivity` need some, such as
    made-up votes or records, and are compared at those.

    >>> round(efficiency(Gaussian(mu=0.5)).ratio, 4)
    1.1598
    >>> efficiency(Majority(epsilon=0.1), [520, 481]).ratio
    1.0
    """
    if isinstance(mechanism, RandomizedResponse):
        p, q = mechanism.p, mechanism.q
        worst = max(p * (1 - p), q * (1 - q)) / (p - q) ** 2
        return _variance(float(worst), unbiased(mechanism.loss))
    if isinstance(mechanism, Laplace | Staircase | Gaussian):
        bound = unbiased(mechanism.loss, reach=mechanism.sensitivity)
        return _variance(noise_variance(mechanism), bound)
    if not isinstance(mechanism, Majority | InverseSensitivity):
        raise Unsupported(
            f"No bound here applies to {type(mechanism).__name__}: it releases no unbiased "
            "number, and how far off a choice may be depends on what its scores stand for. If "
            "you know how many records must change for each candidate to become the best, see "
            "price.discrete(distances, epsilon)."
        )
    if data is None:
        raise InvalidParameter(
            f"{type(mechanism).__name__} errs more on some data than on others: give some, as "
            "in efficiency(mechanism, data). The answer is about those, so it is not private."
        )
    return (
        _majority(mechanism, data)
        if isinstance(mechanism, Majority)
        else _choice(mechanism, data)
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


def _variance(found: float, bound: Bound) -> Efficiency:
    return Efficiency(found, bound.value, "variance", bound)


def _majority(mechanism: Majority, votes: Any) -> Efficiency:
    """Its own error is the least: see the proof beside the mechanism."""
    law = mechanism.pmf(votes)
    wrong = float(min(law.values() if isinstance(law, dict) else law))
    bound = Bound(1 - wrong, "probability", "tight at every lead; Ghosh et al. 2009 for counts")
    return Efficiency(wrong, wrong, "error probability", bound)


def _choice(mechanism: InverseSensitivity, data: Any) -> Efficiency:
    distances = [int(one) for one in mechanism.distance(data)]
    law = mechanism.pmf(data)
    right = sum(p for p, d in zip(law.values(), distances, strict=True) if d == 0)
    bound = discrete(distances, rational(mechanism.loss.epsilon()))
    true = sum(d == 0 for d in distances)
    return Efficiency(1 - right, 1 - true * bound.value, "error probability", bound)


def _rounded_variance(variance: float) -> float:
    """Of the integer nearest to a normal number: variance + 1/12, unless it is small."""
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
