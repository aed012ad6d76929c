"""How many records a private answer needs, where a trusted curator adds the noise.

The error of a published mean or proportion is the sampling error plus the noise. Laplace noise
on the sum has variance v, about 2 (range / epsilon)**2, so the mean of n records has variance
sd**2 / n + v / n**2: the term for privacy falls faster with n than the sampling error. It is
negligible if epsilon is well above 1 / sqrt(n), and no method avoids it if epsilon is below
(Acharya, Sun & Zhang 2021). Variances alone do not give a size: the tails of Laplace noise are
heavier than normal ones. So sizes come from the distribution of the two errors together, and
are rounded up.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, positive, rational, whole
from deniable.exact.text_formats import percent
from deniable.mechanisms import Laplace
from deniable.price.efficiency import noise_variance
from deniable.price.feasibility import enough_epsilon
from deniable.price.lower_bounds import Bound, unbiased
from deniable.price.survey_sizes import inside
from deniable.privacy import PureLoss

_CELLS = 1 << 14  # of counts; up to a few million records each count has its own cell
_FAR = 9.0  # standard deviations: beyond them lies less than 1e-18
_ROUNDING = 1e-9  # above the error of all sums
_CLOSE = 24  # a size of more bits is only right to this many, and rounded up


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
            f"± {self.margin} at {percent(self.confidence)} confidence (Laplace noise of "
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
    deviation defaults to the largest possible, (hi - lo) / 2. The sampling error is taken as
    normal, which holds for all but small n. The noise is taken as it is.

    >>> sample_size_for_mean(margin=1, lo=0, hi=100, epsilon=0.5, standard_deviation=20)
    1719
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
    half, level = float(positive(margin, "margin")), float(inside(confidence, "confidence"))
    scale = float(high - low) / float(positive(epsilon, "epsilon"))

    def covers(n: int) -> bool:
        return _cover_of_mean(float(spread) * math.sqrt(n), scale, n * half) >= level

    return _least_size(covers)


def sample_size_for_proportion(
    *,
    margin: Number,
    epsilon: Number,
    prevalence: Number | None = None,
    confidence: Number = 0.95,
) -> int:
    """The least n whose private proportion lies within `margin` of the population's.

    Counted with the exact distributions of the sample and of the noise. The margin is taken
    half a record narrower, so that the size holds wherever the prevalence falls between two
    counts, and larger samples are never worse. Without a `prevalence` it is that of one half,
    where samples vary most.

    >>> sample_size_for_proportion(margin=0.03, epsilon=0.5)  # without privacy: 1100
    1130
    """
    share = Fraction(1, 2) if prevalence is None else rational(prevalence, "prevalence")
    if not 0 <= share <= 1:
        raise InvalidParameter(f"`prevalence` must lie between 0 and 1. Found {prevalence}.")
    half, level = inside(margin, "margin"), float(inside(confidence, "confidence"))
    eps = float(positive(epsilon, "epsilon"))
    spread = max(float(share * (1 - share)), 1e-9)
    near = _least_size(
        lambda n: _cover_of_mean(math.sqrt(n * spread), 1 / eps, float(n * half)) >= level
    )
    return _least_size(lambda n: _cover_of_count(n, share, eps, n * half) >= level, near)


def overhead(*, epsilon: Number, n: int, prevalence: Number = 0.5) -> float:
    """How many times larger privacy makes the standard error of a population's proportion.

    About sqrt(1 + 8 / (n epsilon**2)) at one half: almost 1 while epsilon is well above
    1 / sqrt(n).

    >>> [round(overhead(epsilon=e, n=10_000), 3) for e in (1, 0.1, 0.01, 0.001)]
    [1.0, 1.039, 3.0, 28.302]
    """
    share = inside(prevalence, "prevalence")
    noise = noise_variance(Laplace(epsilon=positive(epsilon, "epsilon")))
    return math.sqrt(1 + noise / (whole(n, "n") * float(share * (1 - share))))


def _least_size(covers: Callable[[int], bool], near: int = 1) -> int:
    """The least n that covers, if all larger ones do; searched from `near`."""
    low, high, step = near, near, max(1, near >> 10)
    while not covers(high):
        low, high, step = high, high + step, 2 * step
    while low > 0 and (low == high or covers(low)):
        low, high, step = max(0, low - step), low, 2 * step
    while high - low > max(1, high >> _CLOSE):
        middle = (low + high) // 2
        low, high = (low, middle) if covers(middle) else (middle, high)
    return high


def _cover_of_mean(sd: float, scale: float, half: float) -> float:
    """P(|N + L| <= half), for a normal N with this deviation and a Laplace L of this scale.

    The tail is P(N > half) + (g(half) - g(-half)) / 2, with g(t) = P(N < t - sd**2 / scale)
    e**(sd**2 / (2 scale**2) - t / scale): integrate the tail of L over N.
    """
    from scipy.special import log_ndtr  # slow to import

    def g(t: float) -> float:
        log = float(log_ndtr(t / sd - sd / scale)) + (sd / scale) ** 2 / 2 - t / scale
        return math.exp(min(log, 0.0))

    tail = math.exp(float(log_ndtr(-half / sd))) + (g(half) - g(-half)) / 2
    return (1 - 2 * tail) * (1 - _ROUNDING)


def _cover_of_count(n: int, share: Fraction, epsilon: float, half: Fraction) -> float:
    """P(|K + Z + U - n share| <= half - 1/2), rounded down, for K of n records, noise Z, and U
    uniform on half a unit to either side.

    This is a lower bound on P(|K + Z - n share| <= half), because |U| <= 1/2. Unlike that, it
    does not jump where `n share + half` passes a whole number. The counts K are taken in
    cells, each at its worse end.
    """
    from scipy.stats import binom  # slow to import

    mean, width = n * share, float(half) - 0.5
    reach = _FAR * math.sqrt(n * share * (1 - share)) + 40
    first, last = max(0, math.floor(mean - reach)), min(n, math.ceil(mean + reach))
    step = -(-(last - first + 1) // _CELLS)
    low = np.arange(first, last + 1, step)
    high = np.minimum(low + step - 1, last)
    if step == 1:
        weight = binom.pmf(low, n, float(share))
    else:
        weight = np.diff(binom.cdf(np.append(low - 1, last), n, float(share)))
    center = (low - first).astype(np.float64) - float(mean - first)
    above = _noise_below(width - center - (high - low).astype(np.float64), epsilon)
    inside_margin = np.maximum(above - _noise_below(-width - center, epsilon), 0.0)
    return float(weight @ inside_margin) * (1 - _ROUNDING)


def _noise_below(y: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """P(Z + U < y) for discrete Laplace noise Z and uniform U: linear between the P(Z <= k) at
    k + 1/2."""
    ratio = math.exp(-epsilon)
    size = np.abs(y) + 0.5
    k = np.floor(size)
    beyond = ratio**k / (1 + ratio) * (1 - (1 - ratio) * (size - k))
    return np.where(y > 0, 1 - beyond, beyond)
