"""Floats are rounded outward, as the decimals they print as."""

import math
from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from deniable.privacy.arithmetic import floats

reals = st.fractions() | st.floats(-1e300, 1e300).map(Fraction)


def meaning(x):
    return Fraction(repr(x))


@given(reals)
def test_up_is_the_least_float_above(x):
    near = floats.up(x)
    assert meaning(math.nextafter(near, -math.inf)) < x <= meaning(near)


@given(reals)
def test_down_is_the_greatest_float_below(x):
    near = floats.down(x)
    assert meaning(near) <= x < meaning(math.nextafter(near, math.inf))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_printed_decimal_is_itself(x):
    assert floats.up(meaning(x)) == floats.down(meaning(x)) == x


def test_beyond_the_floats():
    assert floats.up(Decimal("1e-999999999")) == 5e-324
    assert floats.up(Decimal("-1e-999999999")) == 0
    assert floats.up(Decimal("1e999999999")) == math.inf
    assert floats.up(Fraction(10) ** 400) == math.inf
    assert floats.down(Decimal("1e-999999999")) == 0
    assert math.copysign(1, floats.down(Decimal(0))) == 1


@given(st.decimals(-1000, 1000, allow_nan=False), st.integers(1, 30))
def test_short_fractions_go_the_right_way(x, digits):
    low, high = floats.floor(x, digits), floats.ceiling(x, digits)
    unit = Fraction(10) ** (x.adjusted() - digits + 1)
    assert low <= Fraction(x) <= high
    assert high - low <= unit


@given(st.fractions(0, 100))
def test_show_is_python_that_means_it(x):
    shown = eval(floats.show(x), {"Fraction": Fraction})
    assert (meaning(shown) if isinstance(shown, float) else shown) == x
