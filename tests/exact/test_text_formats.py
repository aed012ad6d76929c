"""Numbers for people: an upper bound is never rounded down."""

import re
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from deniable.exact.text_formats import factor_up, people_up, percent_up


def value(text):
    return Fraction(re.sub(r"[ ,%]|in 1,000", "", text))


@given(st.fractions(min_value=0, max_value=1))
def test_shares_are_rounded_up_by_less_than_a_unit(share):
    assert 0 <= value(percent_up(share)) - 100 * share < Fraction(1, 10)
    assert 0 <= value(people_up(share)) - 1000 * share < 1


@given(st.fractions(min_value=1, max_value=10**40))
def test_factors_are_rounded_up_by_at_most_a_hundredth(factor):
    assert factor <= value(factor_up(factor)) <= factor * Fraction(101, 100)


def test_a_factor_next_to_a_power_of_ten():
    assert factor_up(Fraction(10**9) - Fraction(1, 3)) == "1.00e+09"
