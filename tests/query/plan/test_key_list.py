"""Declared numbers in whole steps: as exact as Fractions, whichever way is taken."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deniable.query.plan.grid_steps import common_step
from deniable.query.plan.key_list import (
    MOST_STEPS,
    KeyList,
    is_consecutive,
    key_list_of,
)

WHOLE = st.integers(-(2**70), 2**70) | st.integers(-50, 50)
NUMBERS = st.lists(WHOLE | st.decimals(-100, 100, places=3).map(float), min_size=1)
STEPS = st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**6)


@given(NUMBERS | st.lists(WHOLE, min_size=1))
def test_grid_and_size_are_those_of_fractions(values):
    known, exact = KeyList(tuple(values)), [Fraction(str(value)) for value in values]
    assert (known.common_step or 0) == common_step(exact)
    assert known.largest == max(map(abs, exact))


@given(st.lists(WHOLE, min_size=1), STEPS)
def test_whole_steps_are_exact_or_refused(values, step):
    on_grid = [value * step.numerator for value in values]
    expected = [Fraction(value) / step for value in on_grid]
    steps = KeyList(tuple(on_grid)).steps(step)
    if max(map(abs, expected)) > MOST_STEPS:
        assert steps is None
    else:
        assert steps.dtype == np.int64
        assert steps.tolist() == expected


@given(st.lists(st.decimals(-100, 100, places=3).map(float), min_size=1))
def test_decimals_are_what_they_print_as(values):
    steps = KeyList(tuple(values)).steps(Fraction(1, 1000))
    assert steps.tolist() == [round(Fraction(str(value)) * 1000) for value in values]


def test_only_the_very_same_object_is_remembered():
    first, other = tuple(range(1000)), tuple(range(1000))
    assert key_list_of(first) is key_list_of(first)
    assert key_list_of(first) is not key_list_of(other)
    kept = [tuple(range(i)) for i in range(2, 100)]
    for keys in kept:
        assert key_list_of(keys).values is keys
    assert key_list_of(first).values is first


def test_what_is_remembered_cannot_be_changed():
    steps = key_list_of((1, 2, 3)).steps(Fraction(1))
    assert not steps.flags.writeable


def test_in_a_row():
    assert is_consecutive(np.arange(-5, 5))
    assert not is_consecutive(np.array([1, 3, 2, 4]))
    assert not is_consecutive(np.array([], dtype=np.int64))
