"""Scores: exact where they can be, rounded and widened where they cannot."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidData
from deniable.mechanisms.choose.scores import Scores, read_scores

F = Fraction
ONE = F(1)


def units(scores, **options):
    reading = read_scores(scores, **{"step": None, "sensitivity": ONE, **options})
    return reading.units.tolist(), reading.unit, reading.real


def test_integers_and_exact_rationals_stay_as_they_are():
    assert units([3, -4]) == ([3, -4], 1, False)
    assert units(np.array([3, 4], dtype=np.int8)) == ([3, 4], 1, False)
    assert units([F(1, 3), 2, Decimal("0.5")]) == ([2, 12, 3], F(1, 6), False)


def test_floats_go_to_a_public_grid():
    assert units([0.5, 0.25]) == ([512, 256], F(1, 1024), True)
    assert units([0.5, 0.26], step=F(1, 10)) == ([5, 3], F(1, 10), True)
    assert units([1.0], sensitivity=F(1, 4))[1] == F(1, 4096)
    assert units([F(1, 3)], public_grid=True) == ([341], F(1, 1024), True)
    assert units([1, 0.5])[2]


@given(st.floats(-100, 100), st.floats(0, 1), st.fractions(F(1, 50), 2), st.floats(-1e-9, 1e-9))
def test_a_rounded_score_moves_by_at_most_its_reach(score, move, step, error):
    """Even if the two floats are each a little off, as sums in another order are."""
    reading = read_scores([score, score + move + error], step=step, sensitivity=ONE)
    first, second = (int(unit) for unit in reading.units)
    assert abs(second - first) <= reading.units_per_change(ONE)


tiny = st.floats(-1e-9, 1e-9)


@given(
    st.lists(st.tuples(st.floats(-9, 9), st.floats(0, 1), tiny), min_size=2, max_size=5),
    st.fractions(F(1, 50), 2),
)
def test_differences_of_monotone_scores_stay_within_their_span(candidates, step):
    scores, moves, errors = zip(*candidates, strict=True)
    moved = [s + m + e for s, m, e in zip(scores, moves, errors, strict=True)]
    first, second = (read_scores(list(s), step=step, sensitivity=ONE) for s in (scores, moved))
    change = second.units - first.units
    assert change.max() - change.min() <= first.span(ONE, monotone=True)
    assert first.span(ONE, monotone=True) <= first.span(ONE, monotone=False)


def test_a_step_against_the_direction_is_covered():
    """Without the widening this would break: one score falls a step, another rises by two."""
    first = read_scores([0.5, 0.499], step=ONE, sensitivity=ONE)
    second = read_scores([0.5 - 1e-12, 1.5], step=ONE, sensitivity=ONE)
    change = second.units - first.units
    assert change.max() - change.min() == first.span(ONE, monotone=True) == 3


def test_reach_is_exact_without_rounding():
    assert read_scores([1, 2], step=None, sensitivity=ONE).units_per_change(F(5, 2)) == F(5, 2)


def test_distances_do_not_overflow():
    far = read_scores(np.array([-(2**63), 2**63 - 1]), step=None, sensitivity=ONE)
    assert far.gaps_to_best().tolist() == [2**64 - 1, 0]


def test_names_and_places():
    reading = read_scores({"a": 1, "b": 2}, step=None, sensitivity=ONE)
    assert (reading.name(1), reading.index("b"), reading.index("z")) == ("b", 1, None)
    plain = read_scores([1, 2], step=None, sensitivity=ONE)
    assert (plain.name(1), plain.index(1), plain.index(2), plain.index("b")) == (
        1,
        1,
        None,
        None,
    )


def test_scores_do_not_print():
    assert "77" not in repr(read_scores([77], step=None, sensitivity=ONE))


@pytest.mark.parametrize("bad", [[Decimal("nan"), F(1)], [Decimal("inf"), 1], iter([1])])
def test_bad_scores_are_refused(bad):
    with pytest.raises(InvalidData):
        read_scores(bad, step=None, sensitivity=ONE)


@given(
    st.fractions(F(1, 4), 4, max_denominator=12),
    st.fractions(F(1, 8), 2, max_denominator=8),
    st.fractions(-5, 5, max_denominator=30),
    st.tuples(*[st.fractions(-1, 1, max_denominator=12)] * 3),
)
def test_reach_covers_half_a_step_of_error_in_each_float(sensitivity, step, score, shares):
    """A score moves by up to the sensitivity, and both floats err by up to half a step."""
    moved = score + shares[0] * sensitivity
    floats = [score + shares[1] * step / 2, moved + shares[2] * step / 2]
    units = [math.floor(number / step + F(1, 2)) for number in floats]
    reach = Scores(np.array([0]), step, real=True).units_per_change(sensitivity)
    assert abs(units[0] - units[1]) <= reach
