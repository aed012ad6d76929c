"""Public parameters: the shortest decimal, or a refusal that says what was found."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidParameter
from deniable.exact.rationals import positive, probability, rational, whole

NOT_FINITE = [math.nan, math.inf, -math.inf, *map(Decimal, ("nan", "sNaN", "inf"))]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_means_the_decimal_that_prints_as_it(x):
    assert rational(x) == Fraction(Decimal(repr(x)))
    assert float(rational(x)) == x


def test_numbers_of_every_kind_mean_what_they_say():
    assert rational(np.float64(0.1)) == rational(Decimal("0.1")) == Fraction(1, 10)
    assert rational(np.int64(7)) == rational(7) == 7
    assert rational(np.float32(0.5)) == Fraction(1, 2)
    assert rational(np.float32(0.1)) == Fraction(1, 10)


def test_fixed_width_integers_do_not_hide_in_fractions():
    """They would wrap around in the first shift."""
    exact = rational(Fraction(np.int64(1), np.int64(3)))
    assert exact == Fraction(1, 3)
    assert {type(exact.numerator), type(exact.denominator)} == {int}


@pytest.mark.parametrize("bad", ["1", None, True, 1j, *NOT_FINITE])
def test_what_is_no_number_is_refused_by_name(bad):
    with pytest.raises(InvalidParameter, match="`epsilon` must be"):
        rational(bad, "epsilon")


@pytest.mark.parametrize("bad", [0, -1, 0.0, -1e-300])
def test_positive_refuses_what_is_not(bad):
    with pytest.raises(InvalidParameter, match=f"`scale` must be positive. Found {bad}"):
        positive(bad, "scale")


@pytest.mark.parametrize("bad", [-0.1, 1.0001])
def test_probabilities_lie_between_zero_and_one(bad):
    with pytest.raises(InvalidParameter, match="from 0 to 1"):
        probability(bad)


@pytest.mark.parametrize("bad", [0, 1.0, True, "3"])
def test_counts_are_whole(bad):
    with pytest.raises(InvalidParameter, match="1 or more"):
        whole(bad)


@pytest.mark.parametrize("text", ["1e99999999", "-1e99999999", "1e-99999999", "1e1001"])
def test_a_decimal_that_would_fill_the_memory_is_refused_unwritten(text):
    with pytest.raises(InvalidParameter, match="`epsilon` is out of any useful range"):
        rational(Decimal(text), "epsilon")
    assert rational(Decimal("0e99999999")) == 0
    assert rational(Decimal("1e-1000")) == Fraction(1, 10**1000)
