"""Rows that look alike are found again, numbers in nine digits."""

import pyarrow as pa
import pytest

from deniable.release.asking.matched_rows import find_rows, match_rows


def match(answer, others):
    rows = pa.table(answer)
    matches = match_rows(rows, pa.table(others), range(rows.num_columns))
    return None if matches is None else [f.tolist() for f in matches]


def test_alike_rows_have_equal_numbers():
    answer = {"k": ["b", "a", "b"], "n": [2, 1, 2]}
    others = {"k": ["a", "b", "b", "b"], "n": [1.0, 2.0, 2.0000000001, 2.1], "more": [0] * 4}
    own, wanted = match(answer, others)
    assert own[1] == own[2] == wanted[0] == wanted[2]
    assert own[0] == wanted[1]
    assert len({own[0], own[1], own[3]}) == 3


@pytest.mark.parametrize(
    "others",
    [{"k": ["a"], "n": [2.0]}, {"k": ["b"], "n": [2.00001]}, {"k": ["b"], "n": [None]}],
)
def test_a_row_that_is_not_there_is_noticed(others):
    others = {"k": others["k"], "n": pa.array(others["n"], pa.float64())}
    assert match({"k": ["b"], "n": [2]}, others) is None


def test_missing_numbers_signs_of_zero_and_large_numbers():
    numbers = [None, 0.0, 1e300, -1e-300, float("inf")]
    again = [None, -0.0, 1e300, -1e-300, float("inf")]
    own, wanted = match({"n": again}, {"n": numbers})
    assert own == wanted
    assert len(set(own)) == 5


def test_rows_in_the_same_order_are_found_at_their_own_places():
    answer = pa.table({"k": ["a", "a"], "n": [1, None]})
    others = pa.table({"k": ["a", "a"], "n": [1.0, None], "more": [0, 0]})
    places, groups = find_rows(answer, others)
    assert places == [0, 1]
    assert [group.tolist() for group in groups] == [[0, 1], [0, 1]]


def test_a_column_that_is_not_repeated_is_left_out():
    answer = pa.table({"k": ["b", "a"], "v": [5, 6]})
    places, groups = find_rows(answer, pa.table({"k": ["a", "b"], "v": [6, 7]}))
    assert places == [0]
    own, wanted = groups
    assert own.tolist() == wanted.tolist()[::-1]
    assert find_rows(pa.table({"v": [5]}), pa.table({"v": [6]})) == ([], None)
