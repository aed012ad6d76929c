"""The exact samplers: arrays of draws with exactly the mathematical distribution.

Scales are rationals up to 2**50. Each sampler prepares tables for its parameters once and
caches them. `source` is for tests; releases use the system's bits.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from deniable.errors import InvalidParameter
from deniable.exact.bits import SYSTEM, BitSource, draw_integer
from deniable.exact.distributions import (
    ExponentialDistribution,
    GaussianDistribution,
    ListedDistribution,
    RoundedGaussianDistribution,
)
from deniable.exact.enclosures import Enclosure, exp_neg
from deniable.exact.rationals import positive, probability, rational, whole
from deniable.exact.table_sampler import TableSampler
from deniable.exact.uniform_comparison import uniform_is_below
from deniable.exact.wide_sampler import WideSampler

Integers: TypeAlias = npt.NDArray[Any]  # int64, or Python integers if one does not fit

LARGEST_SCALE = 1 << 50
_CELLS_PER_SCALE = 64  # of an exponential distribution; a Gaussian has twice as many
_CACHED_TABLES = 128


def discrete_laplace(scale: Fraction, size: int, *, source: BitSource = SYSTEM) -> Integers:
    """P(z) proportional to exp(-|z| / scale), on all integers.

    >>> discrete_laplace(Fraction(10), 1000).shape
    (1000,)
    """
    return _exponential_sampler(positive(scale, "scale"), True).draw(_check_size(size), source)


def geometric(scale: Fraction, size: int, *, source: BitSource = SYSTEM) -> Integers:
    """P(k) proportional to exp(-k / scale), k = 0, 1, 2, ...

    >>> bool((geometric(Fraction(10), 1000) >= 0).all())
    True
    """
    return _exponential_sampler(positive(scale, "scale"), False).draw(_check_size(size), source)


def discrete_gaussian(variance: Fraction, size: int, *, source: BitSource = SYSTEM) -> Integers:
    """P(z) proportional to exp(-z**2 / (2 variance)), on all integers.

    >>> discrete_gaussian(Fraction(9), 1000).shape
    (1000,)
    """
    return _gaussian_sampler(positive(variance, "variance"), False).draw(
        _check_size(size), source
    )


def rounded_gaussian(variance: Fraction, size: int, *, source: BitSource = SYSTEM) -> Integers:
    """The continuous Gaussian, rounded to the nearest integer, which is post-processing.

    >>> rounded_gaussian(Fraction(9), 1000).shape
    (1000,)
    """
    return _gaussian_sampler(positive(variance, "variance"), True).draw(
        _check_size(size), source
    )


def categorical(
    lengths: Sequence[int],
    exponents: Sequence[Fraction],
    size: int,
    *,
    source: BitSource = SYSTEM,
) -> Integers:
    """Index i with probability proportional to lengths[i] * exp(-exponents[i]).

    >>> categorical([1, 0, 0], [Fraction(0)] * 3, 4).tolist()
    [0, 0, 0, 0]
    """
    if len(lengths) != len(exponents):
        raise InvalidParameter(
            f"`lengths` and `exponents` must have the same length. Found {len(lengths)} "
            f"and {len(exponents)}."
        )
    if not any(length > 0 for length in lengths) or any(length < 0 for length in lengths):
        raise InvalidParameter(
            "`lengths` must be zero or more, and at least one must be positive."
        )
    # Weights may be private, so an error must not quote them, as one of `rational` would.
    exact = [Fraction(int(x.numerator), int(x.denominator)) for x in exponents]
    least = min(x for x, length in zip(exact, lengths, strict=True) if length)
    # Cells of length zero have no weight, whatever their exponent is.
    shifted = tuple(max(x - least, Fraction(0)) for x in exact)
    table = _listed_sampler(tuple(int(length) for length in lengths), shifted)
    return table.draw(_check_size(size), source)


def bernoulli(p: Fraction, size: int, *, source: BitSource = SYSTEM) -> npt.NDArray[np.bool_]:
    """True with probability p exactly.

    >>> bool(bernoulli(Fraction(1), 1000).all())
    True
    """
    share = probability(p)
    if share in (0, 1):
        return np.full(_check_size(size), share == 1)

    def enclose(bits: int) -> Enclosure:
        scaled, rest = divmod(share.numerator << bits, share.denominator)
        return scaled, scaled + (rest > 0)

    return uniform_is_below(enclose, _check_size(size), source)


def bernoulli_exp(
    x: Fraction, size: int, *, source: BitSource = SYSTEM
) -> npt.NDArray[np.bool_]:
    """True with probability exp(-x) exactly, for x >= 0.

    >>> bool(bernoulli_exp(Fraction(0), 1000).all())
    True
    """
    exponent = rational(x, "x")
    if exponent < 0:
        raise InvalidParameter(f"`x` must be zero or more. Found {x}.")
    if exponent == 0:
        return np.ones(_check_size(size), dtype=np.bool_)
    return uniform_is_below(lambda bits: exp_neg(exponent, bits), _check_size(size), source)


def uniform_below(n: int, size: int, *, source: BitSource = SYSTEM) -> Integers:
    """Uniform on 0, 1, ..., n - 1, by rejection.

    >>> bool((uniform_below(6, 1000) < 6).all())
    True
    """
    n, count = whole(n, "n"), _check_size(size)
    bits = (n - 1).bit_length()
    if bits > 63:
        return np.array([_integer_below(n, bits, source) for _ in range(count)], dtype=object)
    values = np.zeros(count, dtype=np.int64)
    missing = np.arange(count if bits else 0)
    while missing.size:
        values[missing] = source.draw(bits, missing.size)
        missing = missing[values[missing] >= n]
    return values


def _integer_below(n: int, bits: int, source: BitSource) -> int:
    while (value := draw_integer(source, bits)) >= n:
        pass
    return value


def _check_size(size: int) -> int:
    return whole(size, "size", least=0)


def _cell_shift(scale: int, cells: int) -> int:
    """log2 of the cell width: the greatest that leaves at least `cells` cells per scale."""
    if scale > LARGEST_SCALE:
        raise InvalidParameter(
            "The noise scale must be at most 2**50 grid steps. Found about "
            f"2**{scale.bit_length() - 1}. Choose a larger epsilon or `step`: such fine digits "
            "hold no information."
        )
    return max(0, (scale // cells).bit_length() - 1)


@lru_cache(maxsize=_CACHED_TABLES)
def _exponential_sampler(scale: Fraction, signed: bool) -> TableSampler | WideSampler:
    shift = _cell_shift(int(scale), _CELLS_PER_SCALE)
    distribution = ExponentialDistribution(scale, signed=signed, shift=shift)
    return WideSampler(distribution) if shift else TableSampler(distribution)


@lru_cache(maxsize=_CACHED_TABLES)
def _gaussian_sampler(variance: Fraction, rounds: bool) -> TableSampler | WideSampler:
    sigma = isqrt(int(variance))
    shift = _cell_shift(sigma, 2 * _CELLS_PER_SCALE)
    if shift or (rounds and sigma >= _CELLS_PER_SCALE):  # erf would be slower
        return WideSampler(GaussianDistribution(variance, shift=shift, rounds=rounds))
    return TableSampler(
        RoundedGaussianDistribution(variance) if rounds else GaussianDistribution(variance)
    )


@lru_cache(maxsize=_CACHED_TABLES)
def _listed_sampler(lengths: tuple[int, ...], exponents: tuple[Fraction, ...]) -> TableSampler:
    return TableSampler(ListedDistribution(lengths, exponents))
