"""Which profiles can be isolated, compared with exact linear algebra over the rationals."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.audit.attack.isolating_combinations import isolate, merge_profiles

MATRICES = st.integers(1, 6).flatmap(
    lambda wide: st.lists(
        st.lists(st.integers(-2, 3), min_size=wide, max_size=wide), min_size=1, max_size=6
    )
)


def rank(rows):
    """The rank over the rationals."""
    rows, found = [[Fraction(x) for x in row] for row in rows], 0
    for column in range(len(rows[0])):
        pivot = next((r for r in range(found, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for r in range(len(rows)):
            if r != found and rows[r][column]:
                factor = rows[r][column] / rows[found][column]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[found], strict=True)]
        found += 1
    return found


def spans(rows, vector):
    return rank(rows) == rank([*rows, vector])


@given(MATRICES)
def test_a_profile_is_isolated_exactly_if_its_unit_vector_is_in_the_row_space(rows):
    wide = len(rows[0])
    found = isolate(np.array(rows), [1] * wide, fewer_than=2)
    isolated = {one.profiles[0] for one in found}
    units = [[int(i == j) for j in range(wide)] for i in range(wide)]
    assert isolated == {i for i in range(wide) if spans(rows, units[i])}


@given(MATRICES)
def test_every_recipe_gives_what_it_says(rows):
    matrix = np.array(rows)
    for one in isolate(matrix, [1] * matrix.shape[1], fewer_than=4):
        if one.recipe:
            total = sum(matrix[place].astype(object) * factor for place, factor in one.recipe)
            assert set(np.flatnonzero(np.asarray(total) != 0).tolist()) == set(one.profiles)


@given(MATRICES)
def test_a_pair_is_found_if_some_combination_depends_on_these_two_alone(rows):
    matrix = np.array(rows)
    wide = matrix.shape[1]
    covered = {p for one in isolate(matrix, [1] * wide, fewer_than=3) for p in one.profiles}
    for i in range(wide):
        for j in range(i):
            others = [[row[k] for k in range(wide) if k not in (i, j)] for row in rows]
            free = len(rows) - (rank(others) if wide > 2 else 0)
            if free > len(rows) - rank(rows):  # a combination that is not zero on i and j
                assert {i, j} & covered


def test_a_long_combination_is_found():
    """x1, x1 + x2, ..., and the sum of all but the last: no two or three questions suffice."""
    n = 9
    rows = [[int(j in (i, (i + 1) % n)) for j in range(n)] for i in range(n)]
    found = isolate(np.array(rows), [1] * n, fewer_than=2)
    assert len(found) == n
    assert all(len(one.recipe) == n for one in found)


def test_large_groups_are_not_reported():
    assert isolate(np.array([[1, 0], [1, 1]]), [10, 10], fewer_than=10) == []


def test_profiles_are_merged():
    vectors, place = merge_profiles(np.array([[1, 0, 1, 1], [0, 0, 0, 2]]))
    assert vectors.shape == (2, 3)
    assert np.array_equal(vectors[:, place], [[1, 0, 1, 1], [0, 0, 0, 2]])


@pytest.mark.parametrize("many", [30])
def test_random_subset_sums_isolate_everybody(many):
    vectors = np.random.default_rng(1).integers(0, 2, (4 * many, many))
    found = isolate(vectors, [1] * many, fewer_than=2)
    assert {p for one in found for p in one.profiles} == set(range(many))
