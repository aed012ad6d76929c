import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.mechanisms.quantiles.log_sums import (
    operation_count,
    peak,
    rounding_error,
    sum_decayed,
    sum_over_gaps,
)


def exact(row, start, tau, unit, i):
    """By definition, in 60 digits."""
    with mpmath.workdps(60):
        total = mpmath.fsum(
            mpmath.exp(mpmath.mpf(w) - mpmath.mpf(unit) * abs(i - k - mpmath.mpf(tau)))
            for k, w in enumerate(row.tolist(), start=start)
            if k < i and w != -np.inf
        )
        return mpmath.log(total) if total else mpmath.mpf("-inf")


@given(
    st.lists(st.floats(-600, 600) | st.just(-np.inf), min_size=1, max_size=40),
    st.integers(0, 5),
    st.integers(0, 160),
    st.floats(1e-6, 30),
    st.integers(0, 60),
    st.integers(0, 30),
)
def test_rows_are_passed_on_within_their_slop(logs, start, quarters, unit, first, width):
    row, tau = np.array(logs), quarters / 4
    window = (first, first + width)
    sums = sum_over_gaps(row, start, (int(tau), tau - int(tau)), unit, window)
    assert sums.size == width + 1
    large = peak(row, sums) + unit * (200 + tau)
    allowed = operation_count(row.size + sums.size) * rounding_error(large)
    for i, value in enumerate(sums.tolist(), start=first):
        wanted = exact(row, start, tau, unit, i)
        assert value == wanted == -np.inf or abs(value - wanted) <= allowed


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=70), st.integers(1, 80))
def test_windows(logs, length):
    row, unit = np.array(logs), 0.3
    sums = np.exp(sum_decayed(row, length, unit))
    for p in range(row.size):
        some = row[p : p + length]
        assert sums[p] == pytest.approx(np.exp(some - unit * np.arange(some.size)).sum())


def test_peak_ignores_what_is_not_there():
    assert peak(np.array([-np.inf, -3.0, 2.0]), np.array([])) == 3
    assert peak(np.array([-np.inf])) == 0
