"""Declared numbers in whole steps: as exact as Fractions, whichever way is taken."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deniable.query.plan.grid_steps import common_step
from deniable.query.plan.key_list import (
    FARTHEST,
    Listing,
    listing,
    unbroken,
)

WHOLE = st.integers(-(2**70), 2**70) | st.integers(-50, 50)
NUMBERS = st.lists(WHOLE | st.decimals(-100, 100, places=3).map(float), min_size=1)
STEPS = st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**6)


@given(NUMBERS | st.lists(WHOLE, min_size=1))
def test_grid_and_size_are_those_of_fractions(values):
    known, exact = Listing(tuple(values)), [Fraction(str(one)) for one in values]
    assert (known.common or 0) == common_step(exact)
    assert known.largest == max(map(abs, exact))


@given(st.lists(WHOLE, min_size=1), STEPS)
def test_whole_steps_are_exact_or_refused(values, step):
    on_grid = [one * step.numerator for one in values]
    expected = [Fraction(one) / step for one in on_grid]
    found = Listing(tuple(on_grid)).steps(step)
    if max(map(abs, expected)) > FARTHEST:
        assert found is None
    else:
        assert found.dtype == np.int64
        assert found.tolist() == expected


@given(st.lists(st.decimals(-100, 100, places=3).map(float), min_size=1))
def test_decimals_are_what_they_print_as(values):
    found = Listing(tuple(values)).steps(Fraction(1, 1000))
    assert found.tolist() == [round(Fraction(str(one)) * 1000) for one in values]


def test_only_the_very_same_object_is_remembered():
    one, other = tuple(range(1000)), tuple(range(1000))
    assert listing(one) is listing(one)
    assert listing(one) is not listing(other)
    kept = [tuple(range(i)) for i in range(2, 100)]
    for keys in kept:
        assert listing(keys).values is keys
    assert listing(one).values is one


def test_what_is_remembered_cannot_be_changed():
    steps = listing((1, 2, 3)).steps(Fraction(1))
    assert not steps.flags.writeable


def test_in_a_row():
    assert unbroken(np.arange(-5, 5))
    assert not unbroken(np.array([1, 3, 2, 4]))
    assert not unbroken(np.array([], dtype=np.int64))
