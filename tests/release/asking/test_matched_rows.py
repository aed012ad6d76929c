"""Rows that look alike are found again, numbers in nine digits."""

import pyarrow as pa
import pytest

from deniable.release.asking.matched_rows import match_rows


def match(answer, others):
    rows = pa.table(answer)
    found = match_rows(rows, pa.table(others), range(rows.num_columns))
    return None if found is None else [f.tolist() for f in found]


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
