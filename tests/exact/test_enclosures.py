"""Enclosures hold the true number and are narrow, judged by mpmath at high precision."""

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.exact import enclosures

BITS = st.sampled_from([1, 8, 16, 64, 128, 400])
POINTS = st.builds(
    Fraction, st.integers(0, 10**6), st.integers(1, 10**6) | st.sampled_from([1, 2**40])
)


def real(x: Fraction):
    return mpmath.mpf(x.numerator) / x.denominator


def holds(enclosure, number, bits, widest=2):
    lo, hi = enclosure
    return lo <= number * mpmath.mpf(2) ** bits <= hi and hi - lo <= widest


@given(POINTS, BITS)
def test_exp_neg(x, bits):
    with mpmath.workprec(1200):
        assert holds(enclosures.exp_neg(x, bits), mpmath.exp(-real(x)), bits)


@given(POINTS.filter(bool), BITS)
def test_log(x, bits):
    with mpmath.workprec(1200):
        assert holds(enclosures.log(x, bits), mpmath.log(real(x)), bits)


@given(POINTS, BITS)
def test_sqrt(x, bits):
    with mpmath.workprec(1200):
        assert holds(enclosures.sqrt(x, bits), mpmath.sqrt(real(x)), bits)


@given(st.builds(Fraction, st.integers(0, 4000), st.integers(1, 10**4)), BITS)
def test_erf(x_squared, bits):
    # 1 - erf(x) is about exp(-x^2), which is 1.44 x^2 bits below 1.
    with mpmath.workprec(int(3 * x_squared) + bits + 1_000):
        truth = mpmath.erf(mpmath.sqrt(real(x_squared)))
        assert holds(enclosures.erf(x_squared, bits), truth, bits)


@given(BITS)
def test_pi(bits):
    with mpmath.workprec(1200):
        assert holds(enclosures.pi(bits), +mpmath.pi, bits)


def test_exact_values_have_no_width():
    assert enclosures.exp_neg(Fraction(0), 10) == (1024, 1024)
    assert enclosures.log(Fraction(1), 10) == (0, 0)
    assert enclosures.erf(Fraction(0), 10) == (0, 0)


@pytest.mark.parametrize("shift", [-1, 1])
def test_below_decides_between_near_neighbours(shift):
    near = Fraction(3678794411714423215955, 10**22) + Fraction(shift, 10**20)
    assert enclosures.is_below(lambda bits: enclosures.exp_neg(Fraction(1), bits), near) == (
        shift > 0
    )


@given(POINTS)
def test_floats_are_rounded_outward_and_no_further(x):
    up, down = enclosures.float_up(x), enclosures.float_down(x)
    assert Fraction(down) <= x <= Fraction(up)
    assert up == down or up == math.nextafter(down, math.inf)


def test_floats_saturate():
    assert enclosures.float_up(Fraction(10) ** 400) == math.inf
    assert enclosures.float_down(Fraction(-(10**400))) == -math.inf


def test_floats_beyond_the_largest_are_rounded_outward_too():
    huge = Fraction(10) ** 400
    largest = math.nextafter(math.inf, 0)
    up, down = enclosures.float_up, enclosures.float_down
    assert (up(huge), down(huge)) == (math.inf, largest)
    assert (up(-huge), down(-huge)) == (-largest, -math.inf)
