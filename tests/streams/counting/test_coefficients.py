"""The factorisation: whole numbers, and weights that undo them."""

from fractions import Fraction

import numpy as np
import pytest

from deniable.streams.counting.coefficients import (
    BITS,
    LARGEST_SQUARE,
    coefficients,
    column_square,
    running_norms,
    step_weights,
    sum_weights,
)


def test_coefficients_are_the_rounded_series():
    exact = Fraction(1)
    for k, coefficient in enumerate(coefficients(300).tolist()):
        exact *= 1 if k == 0 else 1 - Fraction(1, 2 * k)
        assert abs(coefficient - exact * 2**BITS) <= Fraction(1, 2) + Fraction(1, 10**6)


def test_the_norm_is_exact():
    assert column_square(500) == sum(int(f) ** 2 for f in coefficients(500))


@pytest.mark.parametrize("length", [1, 2, 5, 64, 129, 1000])
def test_weights_undo_the_coefficients(length):
    series = coefficients(length).astype(float)
    product = np.convolve(series, step_weights(length))[:length]
    assert np.allclose(product, [1.0] + [0.0] * (length - 1), atol=1e-12)
    sums = np.convolve(series, sum_weights(length))[:length]
    assert np.allclose(sums, 1.0, atol=1e-9)
    squares, sizes = running_norms(length, of_sums=True)
    assert squares[-1] == pytest.approx(np.sum(sum_weights(length) ** 2))
    assert sizes[-1] == pytest.approx(np.sum(np.abs(sum_weights(length))))


def test_no_column_is_longer_than_the_largest():
    """F_k is at most 2**16 / sqrt(pi k) + 1/2, rounded down: summed in blocks, of which each
    has the bound of its first. From 2**33 on that is 0."""
    exact, total = 1 << 12, column_square(1 << 12)
    assert (coefficients(exact)[1:] <= 65536 / np.sqrt(np.pi * np.arange(1, exact)) + 0.5).all()
    while exact < 1 << 33:
        later = exact + max(1, exact // 256)
        total += (later - exact) * int(65536 / np.sqrt(np.pi * exact) + 0.5) ** 2
        exact = later
    assert int(65536 / np.sqrt(np.pi * exact) + 0.5) == 0
    assert 0.9 * LARGEST_SQUARE < total <= LARGEST_SQUARE
