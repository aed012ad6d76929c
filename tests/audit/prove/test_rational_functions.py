"""Rational functions behave as numbers do, and never guess."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.audit.prove.rational_functions import RationalFunction
from deniable.errors import Unsupported

P = RationalFunction.variable("p")
POINTS = st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=40)
SMALL = st.integers(-4, 4)


@given(SMALL, SMALL, SMALL, POINTS)
def test_arithmetic_is_that_of_the_values(a, b, c, x):
    f, g = a + b * P - P * P, (c + P) / (1 + P)
    assert (f + g)(x) == f(x) + g(x)
    assert (f - g)(x) == f(x) - g(x)
    assert (f * g)(x) == f(x) * g(x)
    assert (3 - f)(x) == 3 - f(x)
    if g:
        if g(x):
            assert (f / g)(x) == f(x) / g(x)
        assert f / g * g == f
    assert f**3 == f * f * f
    assert hash(f + g) == hash(g + f)


def test_lowest_terms_and_how_they_are_written():
    assert str((1 - P * P) / (1 - P)) == "1 + p"
    assert str(P / 2) == "p/2"
    assert str((1 - P + P * P) / (1 - P) ** 2) == "(1 - p + p^2)/(1 - 2*p + p^2)"
    assert str(P - P) == "0"
    assert P * 0.1 == P / 10


def test_a_comparison_is_refused():
    with pytest.raises(Unsupported, match="is open"):
        assert Fraction(1, 2) > P


def test_signs_over_a_range():
    low, high = Fraction(0), Fraction(1)
    assert (P * (1 - P)).nonnegative(low, high)
    assert ((P - Fraction(1, 3)) ** 2).nonnegative(low, high)
    assert not (P - Fraction(1, 1000)).nonnegative(low, high)
    assert not (1 / (P - Fraction(1, 2)) ** 2).nonnegative(low, high)  # infinite at 1/2
