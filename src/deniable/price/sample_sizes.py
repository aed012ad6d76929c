"""How many records a private answer needs, where a trusted curator adds the noise.

The error of a published mean or proportion is the sampling error plus the noise. Laplace noise
on the sum has variance v, about 2 (range / epsilon)**2, so the mean of n records has variance
sd**2 / n + v / n**2: the term for privacy falls faster with n than the sampling error. It is
negligible if epsilon is well above 1 / sqrt(n), and no method avoids it if epsilon is below
(Acharya, Sun & Zhang 2021). Numbers of records are rounded up.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, positive, rational, whole
from deniable.mechanisms import Laplace
from deniable.price.efficiency import noise_variance
from deniable.price.feasibility import enough_epsilon
from deniable.price.lower_bounds import Bound, unbiased
from deniable.price.survey_sizes import inside, normal_quantile
from deniable.privacy import PureLoss


@dataclass(frozen=True, slots=True)
class CountPrice:
    """What a private count costs in accuracy, and the least that any method costs.

    >>> print(count(epsilon=0.5))
    ± 6 at 95 % confidence (Laplace noise of epsilon 0.5; standard error 2.799).
    No unbiased method has a standard error below 1.979: at most 1.41 times better is possible.
    """

    epsilon: float
    confidence: float
    margin: int | float
    standard_error: float
    bound: Bound

    @property
    def least_error(self) -> float:
        """The least standard error of any unbiased method.

        >>> round(count(epsilon=1).least_error, 4)
        0.9595
        """
        return math.sqrt(self.bound.value)

    def __str__(self) -> str:
        better = self.standard_error / self.least_error
        return (
            f"± {self.margin} at {100 * self.confidence:g} % confidence (Laplace noise of "
            f"epsilon {self.epsilon:g}; standard error {self.standard_error:.4g}).\n"
            f"No unbiased method has a standard error below {self.least_error:.4g}: at most "
            f"{better:.3g} times better is possible."
        )


def count(*, epsilon: Number, confidence: Number = 0.95, sensitivity: Number = 1) -> CountPrice:
    """The margin of a private count, and the bound for every unbiased method.

    >>> count(epsilon=0.1).margin
    30
    """
    eps, level = positive(epsilon, "epsilon"), inside(confidence, "confidence")
    reach = positive(sensitivity, "sensitivity")
    mechanism = Laplace(epsilon=eps, sensitivity=reach)
    return CountPrice(
        epsilon=float(eps),
        confidence=float(level),
        margin=mechanism.margin(level),
        standard_error=math.sqrt(noise_variance(mechanism)),
        bound=unbiased(PureLoss(eps), reach=reach),
    )


def epsilon_for_count(*, margin: int, confidence: Number = 0.95) -> float:
    """The least epsilon, to six digits and rounded up, that keeps a count within `margin`.

    >>> epsilon_for_count(margin=6)
    0.456902
    """
    steps, level = whole(margin, "margin", least=0), inside(confidence, "confidence")
    near = enough_epsilon(steps, level)
    power = 10.0 ** (6 - math.ceil(math.log10(near)))
    return math.ceil(near * power) / power


def sample_size_for_mean(
    *,
    margin: Number,
    lo: Number,
    hi: Number,
    epsilon: Number,
    standard_deviation: Number | None = None,
    confidence: Number = 0.95,
) -> int:
    """The least n whose private mean lies within `margin` of the population's, at `confidence`.

    Records are clipped to [lo, hi] and n is public (replace-one neighbours). The standard
    deviation defaults to the largest possible, (hi - lo) / 2. By the normal approximation.

    >>> sample_size_for_mean(margin=1, lo=0, hi=100, epsilon=0.5, standard_deviation=20)
    1716
    """
    low, high = rational(lo, "lo"), rational(hi, "hi")
    if low >= high:
        raise InvalidParameter(f"`lo` must lie below `hi`. Found {lo} and {hi}.")
    spread = (high - low) / 2
    if standard_deviation is not None:
        spread = positive(standard_deviation, "standard_deviation")
    if spread > (high - low) / 2:
        raise InvalidParameter(
            f"`standard_deviation` can be at most {float((high - low) / 2):g} between {lo} and "
            f"{hi}. Found {standard_deviation}."
        )
    noise = 2 * (float(high - low) / float(positive(epsilon, "epsilon"))) ** 2
    return _size(positive(margin, "margin"), float(spread) ** 2, noise, confidence)


def sample_size_for_proportion(
    *,
    margin: Number,
    epsilon: Number,
    prevalence: Number | None = None,
    confidence: Number = 0.95,
) -> int:
    """The least n whose private proportion lies within `margin` of the population's.

    >>> sample_size_for_proportion(margin=0.03, epsilon=0.5)  # without privacy: 1068
    1098
    """
    share = Fraction(1, 2) if prevalence is None else rational(prevalence, "prevalence")
    if not 0 <= share <= 1:
        raise InvalidParameter(f"`prevalence` must lie between 0 and 1. Found {prevalence}.")
    noise = noise_variance(Laplace(epsilon=positive(epsilon, "epsilon")))
    return _size(inside(margin, "margin"), float(share * (1 - share)), noise, confidence)


def overhead(*, epsilon: Number, n: int, prevalence: Number = 0.5) -> float:
    """How many times wider privacy makes the margin of a population's proportion.

    About sqrt(1 + 8 / (n epsilon**2)) at one half: almost 1 while epsilon is well above
    1 / sqrt(n).

    >>> [round(overhead(epsilon=e, n=10_000), 3) for e in (1, 0.1, 0.01, 0.001)]
    [1.0, 1.039, 3.0, 28.302]
    """
    share = inside(prevalence, "prevalence")
    noise = noise_variance(Laplace(epsilon=positive(epsilon, "epsilon")))
    return math.sqrt(1 + noise / (whole(n, "n") * float(share * (1 - share))))


def _size(margin: Fraction, sampling: float, noise: float, confidence: Number) -> int:
    """The least n with z**2 (sampling / n + noise / n**2) <= margin**2."""
    z = normal_quantile((1 - inside(confidence, "confidence")) / 2)
    scaled, half = (z / float(margin)) ** 2, (z / float(margin)) ** 2 / 2
    near = half * sampling + math.sqrt((half * sampling) ** 2 + scaled * noise)
    return max(1, math.ceil(near * (1 - 1e-12)))
