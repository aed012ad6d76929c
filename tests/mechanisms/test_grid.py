import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.mechanisms.grid import put_on_grid

STEPS = st.sampled_from(
    [Fraction(text) for text in ("1", "1/2", "1/8", "4", "5", "1/100", "3/7", "1e12", "1e-9")]
)
EXTREMES = [Fraction(text) for text in ("1e30", "1e-30", "2e308", "1e400", "3e-320", "1e-400")]
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def float_or_so(step):
    return f"1e{round(math.log10(step.numerator) - math.log10(step.denominator))}"


def truth(value, step):
    return math.floor(Fraction(value) / step + Fraction(1, 2))


@given(st.lists(FLOATS, min_size=1), STEPS | st.sampled_from(EXTREMES))
def test_floats_round_exactly(values, step):
    wanted = [truth(value, step) for value in values]
    assert put_on_grid(values, step).steps.tolist() == wanted
    assert put_on_grid(np.array(values), step).steps.tolist() == wanted


@given(st.integers(-(10**6), 10**6), STEPS, st.integers(-4, 4))
def test_ties_and_their_float_neighbours_round_exactly(k, step, nudge):
    value = float((k + Fraction(1, 2)) * step)
    for _ in range(abs(nudge)):
        value = math.nextafter(value, math.inf * nudge)
    assert put_on_grid(np.array([value]), step).steps.tolist() == [truth(value, step)]


@given(st.lists(st.integers(-(2**70), 2**70), min_size=1), STEPS | st.sampled_from(EXTREMES))
def test_integers_round_exactly(values, step):
    grid = put_on_grid(values, step)
    assert grid.steps.tolist() == [truth(value, step) for value in values]
    assert grid.real == (step.numerator != 1)


@given(
    st.lists(st.fractions() | st.integers() | FLOATS, min_size=1),
    STEPS | st.sampled_from(EXTREMES),
)
def test_mixed_kinds_round_exactly(values, step):
    assert put_on_grid(values, step).steps.tolist() == [truth(value, step) for value in values]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u8", "i8"])
def test_integer_arrays_at_their_ends(dtype):
    ends = np.iinfo(dtype)
    values = np.array([ends.min, ends.max], dtype=dtype)
    for step in (Fraction(1), Fraction(1, 10**6), Fraction(7)):
        wanted = [truth(int(value), step) for value in values]
        assert put_on_grid(values, step).steps.tolist() == wanted


def test_decimals_and_numpy_scalars():
    assert put_on_grid(Decimal("0.15"), Fraction(1, 10)).steps.tolist() == [2]
    assert put_on_grid(np.float32(0.5), Fraction(1)).steps.tolist() == [1]
    assert put_on_grid([np.int8(3), 4], Fraction(1)).real is False


@given(st.lists(st.integers(-(2**65), 2**65), min_size=1), STEPS)
def test_handing_back_is_the_nearest_number(values, step):
    grid = put_on_grid(values, Fraction(1))
    back = type(grid)(grid.steps, False, step, grid.shape, "list").add_noise(
        np.zeros(len(values), dtype=np.int64)
    )
    if step.denominator == 1:
        assert back == [value * step for value in values]
    else:
        assert back == [float(value * step) for value in values]


@pytest.mark.parametrize("step", EXTREMES, ids=float_or_so)
def test_zeros_are_served_on_every_grid(step):
    """Whether it works must not depend on the values."""
    for zeros in (0, [0, 0], np.zeros(2, dtype=int), 0.0, np.zeros(2)):
        grid = put_on_grid(zeros, step)
        back = grid.add_noise(np.zeros(grid.steps.size, dtype=np.int64))
        assert grid.steps.tolist() == [0] * grid.steps.size
        assert not np.any(back)


@given(st.integers(-(10**9), 10**9), STEPS)
def test_a_released_number_is_found_again(k, step):
    on_grid = put_on_grid(0, step)
    out = type(on_grid)(np.array([k]), False, step, (), "scalar").add_noise(np.array([0]))
    assert on_grid.steps_of(out) == [k]


def test_private_numbers_do_not_print():
    assert "271828" not in repr(put_on_grid(271828, Fraction(1)))
