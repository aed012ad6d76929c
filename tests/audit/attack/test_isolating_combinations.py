"""Which profiles can be isolated, compared with exact linear algebra over the rationals."""

from fractions import Fraction
from itertools import combinations

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
    rows, top = [[Fraction(x) for x in row] for row in rows], 0
    for column in range(len(rows[0])):
        pivot = next((r for r in range(top, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[top], rows[pivot] = rows[pivot], rows[top]
        for r in range(len(rows)):
            if r != top and rows[r][column]:
                factor = rows[r][column] / rows[top][column]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[top], strict=True)]
        top += 1
    return top


def spans(rows, vector):
    return rank(rows) == rank([*rows, vector])


@given(MATRICES)
def test_a_profile_is_isolated_exactly_if_its_unit_vector_is_in_the_row_space(rows):
    wide = len(rows[0])
    groups = isolate(np.array(rows), [1] * wide, fewer_than=2).sets
    isolated = {group.profiles[0] for group in groups}
    units = [[int(i == j) for j in range(wide)] for i in range(wide)]
    assert isolated == {i for i in range(wide) if spans(rows, units[i])}


@given(MATRICES)
def test_every_recipe_gives_what_it_says(rows):
    matrix = np.array(rows)
    for group in isolate(matrix, [1] * matrix.shape[1], fewer_than=4).sets:
        if group.recipe:
            total = sum(matrix[place].astype(object) * factor for place, factor in group.recipe)
            assert set(np.flatnonzero(np.asarray(total) != 0).tolist()) == set(group.profiles)


@given(MATRICES)
def test_a_pair_is_found_if_some_combination_depends_on_these_two_alone(rows):
    matrix = np.array(rows)
    wide = matrix.shape[1]
    covered = {p for group in isolate(matrix, [1] * wide, 3).sets for p in group.profiles}
    for i in range(wide):
        for j in range(i):
            others = [[row[k] for k in range(wide) if k not in (i, j)] for row in rows]
            free = len(rows) - (rank(others) if wide > 2 else 0)
            if free > len(rows) - rank(rows):  # a combination that is not zero on i and j
                assert {i, j} & covered


@given(MATRICES, st.lists(st.integers(1, 3), min_size=6, max_size=6), st.integers(2, 7))
def test_everybody_is_reported_in_the_smallest_set_that_there_is(rows, people, limit):
    """Compared with all sets: a combination depends on a set alone if the rank falls without
    its columns, and on each of the set if no part of the set has that, too."""
    wide = len(rows[0])
    isolation = isolate(np.array(rows), people[:wide], limit)
    assert isolation.complete is None

    def seen(profiles):
        rest = [[0, *(row[k] for k in range(wide) if k not in profiles)] for row in rows]
        return rank(rest) < rank(rows)

    smallest, circuits = {}, []
    for many in range(1, wide + 1):
        for profiles in combinations(range(wide), many):
            if any(set(entry) <= set(profiles) for entry in circuits) or not seen(profiles):
                continue
            circuits.append(profiles)
            size = sum(people[profile] for profile in profiles)
            for profile in profiles if size < limit else ():
                smallest[profile] = min(size, smallest.get(profile, size))
    reported = {}
    for entry in isolation.sets:
        assert entry.people == sum(people[profile] for profile in entry.profiles) < limit
        assert seen(entry.profiles)
        for profile in entry.profiles:
            reported[profile] = min(entry.people, reported.get(profile, entry.people))
    assert reported == smallest


def test_a_set_of_four_that_no_short_recipe_shows_is_found():
    """Four random combinations of 1, 2, ..., over many profiles, and one that leaves four."""
    rng = np.random.default_rng(5)
    vectors = rng.integers(0, 2, (6, 40))
    hidden = np.zeros(40, dtype=np.int64)
    hidden[[3, 8, 20, 31]] = 1, 2, 1, 1
    vectors = np.concatenate([vectors, [hidden + vectors.sum(axis=0)]])
    isolation = isolate(vectors, [1] * 40, fewer_than=5)
    assert (3, 8, 20, 31) in [group.profiles for group in isolation.sets]
    assert isolation.complete is None
    assert isolation.sets[0].recipe[-1][0] == 6


def test_a_search_that_is_too_long_says_how_far_it_came():
    vectors = np.random.default_rng(5).integers(0, 2, (6, 40))
    assert isolate(vectors, [1] * 40, 5, most_work=1_000).complete == 2
    assert isolate(vectors, [1] * 40, 5, most_work=30_000).complete == 3


def test_a_long_combination_is_found():
    """x1, x1 + x2, ..., and the sum of all but the last: no two or three questions suffice."""
    n = 9
    rows = [[int(j in (i, (i + 1) % n)) for j in range(n)] for i in range(n)]
    groups = isolate(np.array(rows), [1] * n, fewer_than=2).sets
    assert len(groups) == n
    assert all(len(group.recipe) == n for group in groups)


def test_large_groups_are_not_reported():
    assert isolate(np.array([[1, 0], [1, 1]]), [10, 10], fewer_than=10).sets == ()


def test_profiles_are_merged():
    vectors, place = merge_profiles(np.array([[1, 0, 1, 1], [0, 0, 0, 2]]))
    assert vectors.shape == (2, 3)
    assert np.array_equal(vectors[:, place], [[1, 0, 1, 1], [0, 0, 0, 2]])


@pytest.mark.parametrize("many", [30])
def test_random_subset_sums_isolate_everybody(many):
    vectors = np.random.default_rng(1).integers(0, 2, (4 * many, many))
    groups = isolate(vectors, [1] * many, fewer_than=2).sets
    assert {p for group in groups for p in group.profiles} == set(range(many))
