"""The square-root factorisation of running sums, with whole numbers.

Running sums are the matrix A of ones on and below its diagonal. Its square root is the Toeplitz
matrix of f_0 = 1, f_k = f_(k-1) (1 - 1 / (2 k)): f * f = 1, 1, 1, ... We measure C x with C the
Toeplitz matrix of F_k = f_k rounded to a grid of 2**-16, in grid steps: whole numbers, so the
norm of a column is exact. Estimates are A C**-1 of the measurements: the weights `b` are the
running sums of the series 1 / F. The worst standard deviation is within an additive constant of
the best that any factorisation has (Fichtenberger, Henzinger & Upadhyay 2023; Matousek, Nikolov
& Talwar 2020).
"""

from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

BITS = 16  # of the grid of the coefficients
# The square of the norm of a column of any length is below this: f_k is at most 1 / sqrt(pi k),
# so F_k is 0 from k = 2**34 / pi on, and the squares before that add up to 8.7 * 2**32 at most.
LARGEST_SQUARE = 9 << 2 * BITS
_FIXED = 96  # bits of the fixed-point numbers that they are computed with


@lru_cache(maxsize=8)
def coefficients(length: int) -> Whole:
    """F_0, F_1, ...: the same whole numbers on every machine.

    >>> coefficients(4).tolist()
    [65536, 32768, 24576, 20480]
    """
    numbers, exact, half = np.empty(length, np.int64), 1 << _FIXED, 1 << _FIXED - BITS - 1
    for k in range(length):
        if k:
            exact = exact * (2 * k - 1) // (2 * k)
        numbers[k] = exact + half >> _FIXED - BITS
    numbers.setflags(write=False)
    return numbers


@lru_cache(maxsize=8)
def column_square(length: int) -> int:
    """The square of the norm of the longest column: the sum of all F squared, exactly.

    >>> column_square(2) == 65536**2 + 32768**2
    True
    """
    # Each square is below 2**33, and the sum of 2**30 of them below 2**63.
    return int(np.sum(coefficients(length) ** 2))


@lru_cache(maxsize=8)
def step_weights(length: int) -> Floats:
    """The series 1 / F, by Newton's method: how a step's own input is estimated.

    >>> step_weights(3) * 65536
    array([ 1.   , -0.5  , -0.125])
    """
    series = coefficients(length).astype(np.float64)
    inverse, known = np.array([1 / series[0]]), 1
    while known < length:
        known = min(2 * known, length)
        rest = -_product(series[:known], inverse, known)
        rest[0] += 2.0
        inverse = _product(inverse, rest, known)
    inverse.setflags(write=False)
    return inverse


@lru_cache(maxsize=8)
def sum_weights(length: int) -> Floats:
    """The weights b_k with which measurements k steps ago enter the estimate of a sum."""
    weights = np.cumsum(step_weights(length))
    weights.setflags(write=False)
    return weights


@lru_cache(maxsize=16)
def running_norms(length: int, *, of_sums: bool) -> tuple[Floats, Floats]:
    """The sums of the squares, and of the absolute values, of the first weights."""
    weights = sum_weights(length) if of_sums else step_weights(length)
    return np.cumsum(weights * weights), np.cumsum(np.abs(weights))


def _product(a: Floats, b: Floats, length: int) -> Floats:
    """The first coefficients of the product of two series."""
    if min(len(a), len(b)) < 64:
        return np.convolve(a, b)[:length]
    size = 1 << (len(a) + len(b) - 1).bit_length()
    spectrum = np.fft.rfft(a, size) * np.fft.rfft(b, size)
    return np.fft.irfft(spectrum, size)[:length]
