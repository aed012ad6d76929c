"""Limits carried through expressions hold for every value within the limits."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.query.relations import value_ranges
from deniable.query.relations.value_ranges import ValueRange

F = Fraction
ENDS = st.fractions(-20, 20, max_denominator=4)


@st.composite
def placed(draw):
    """Facts, and a value that fits them."""
    step = draw(st.sampled_from([F(1), F(1, 2), F(3)]))
    ends = sorted(draw(st.lists(st.integers(-15, 15), min_size=3, max_size=3)))
    return ValueRange("number", ends[0] * step, ends[2] * step, step), ends[1] * step


def holds(known: ValueRange, value: Fraction) -> bool:
    low = known.low is None or known.low <= value
    high = known.high is None or value <= known.high
    return low and high and (known.step is None or (value / known.step).denominator == 1)


@given(placed(), placed())
def test_arithmetic(a, b):
    (first, x), (two, y) = a, b
    assert holds(value_ranges.plus(first, two), x + y)
    assert holds(value_ranges.times(first, two), x * y)
    assert holds(value_ranges.negative(first), -x)
    assert holds(value_ranges.absolute(first), abs(x))
    assert holds(value_ranges.rounded(first), F(round(x)))
    assert holds(value_ranges.hull([first, two]), x)
    assert holds(value_ranges.hull([first, two]), y)
    assert holds(value_ranges.least([first, two]), min(x, y))
    if y:
        assert holds(value_ranges.quotient(first, two), x / y)


def test_least_is_not_limited_by_what_may_be_null():
    free, capped = ValueRange("number"), ValueRange("number", F(0), F(5))
    assert value_ranges.least([free, capped]).high is None
    assert value_ranges.least([capped, capped]).high == 5


def test_what_is_unlimited_stays_so():
    free, five = ValueRange("number"), value_ranges.constant(F(5))
    assert not value_ranges.plus(free, five).bounded
    assert not value_ranges.times(free, five).bounded
    assert not value_ranges.quotient(five, ValueRange("number", F(-1), F(1))).bounded
    assert value_ranges.quotient(five, ValueRange("number", F(1), F(2))).low == F(5, 2)


@pytest.mark.parametrize(
    ("steps", "common"),
    [([F(1), F(1, 2)], F(1, 2)), ([F(6), F(4)], F(2)), ([F(1), None], None), ([], F(0))],
)
def test_common_steps(steps, common):
    assert value_ranges.common_step(steps) == common
