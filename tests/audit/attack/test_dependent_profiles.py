"""Small dependent sets of rows modulo a prime, and how far a search comes."""

import numpy as np

from deniable.audit.attack.dependent_profiles import find_dependent, solve_relation

PRIME = 2147483647


def sets(rows, sizes, limit, **options):
    return find_dependent(np.array(rows) % PRIME, np.array(sizes), limit, PRIME, **options)


def test_rows_of_nothing_are_sets_of_their_own():
    assert sets([[0, 0], [1, 0], [0, 1]], [1, 1, 1], 4).sets == ((0,),)


def test_sizes_limit_the_sets():
    rows = [[1, 0], [0, 1], [1, 1], [2, 2]]
    assert sets(rows, [1, 1, 1, 1], 3).sets == ((2, 3),)
    assert sets(rows, [1, 1, 2, 2], 4).sets == ()
    assert sets(rows, [1, 1, 2, 2], 5).sets == ((2, 3), (0, 1, 2), (0, 1, 3))


def test_a_dependence_of_four_among_many_dimensions():
    rows = np.random.default_rng(2).integers(0, 1000, (30, 20))
    rows[7] = rows[1] - 3 * rows[12] + 2 * rows[29]
    isolation = sets(rows, [1] * 30, 5)
    assert (isolation.sets, isolation.complete) == (((1, 7, 12, 29),), 4)


def test_a_set_with_a_smaller_one_inside_is_not_reported():
    assert sets([[0, 1, 0], [1, 0, 0], [2, 0, 0]], [1, 1, 1], 4).sets == ((1, 2),)


def test_relations():
    assert solve_relation(np.array([[1, 0], [0, 1]]), 7) == [0, 0]
    assert solve_relation(np.array([[1], [2], [3]]), 7) == [0, 0, 0]  # not unique
    relation = solve_relation(np.array([[1, 0], [0, 1], [1, 1]]), 7)
    assert [factor * 6 * pow(relation[0], -1, 7) % 7 for factor in relation] == [6, 6, 1]
