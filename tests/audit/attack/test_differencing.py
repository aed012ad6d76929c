"""Differencing: the classic pair of counts, and longer chains."""

import pyarrow as pa
import pytest

import deniable as dp
from deniable.audit.attack import differencing

STAFF = pa.table(
    {
        "name": ["Bob", "Eve", "Joe", "Ann", "Kim", "Lee"],
        "team": ["a", "a", "a", "b", "b", "b"],
        "ill": [False, True, True, False, True, False],
    }
)


def attack(*questions, **options):
    return differencing(STAFF, questions, table="staff", **options)


ALL = "SELECT COUNT(*) AS n FROM staff WHERE ill"
NOT_BOB = "SELECT COUNT(*) AS n FROM staff WHERE ill AND name <> 'Bob'"


def test_two_counts_reveal_one_person_also_if_the_answers_are_equal():
    found = attack(ALL, NOT_BOB, secret="ill", fewer_than=2)
    assert found.exposed == 1
    assert found.describe(found.isolated[0]) == "(question 1, n) - (question 2, n)"
    assert attack(ALL, secret="ill", fewer_than=2).isolated == ()


def test_without_a_secret_it_is_about_who_is_counted():
    assert attack(ALL, NOT_BOB, fewer_than=2).exposed == 0  # Bob is counted in neither
    both = "SELECT COUNT(*) AS n FROM staff", "SELECT COUNT(*) FROM staff WHERE name <> 'Bob'"
    assert attack(*both, fewer_than=2).exposed == 1


def test_small_cells_of_a_group_by_are_seen():
    found = attack("SELECT name, COUNT(*) AS n FROM staff GROUP BY name", fewer_than=2)
    assert found.exposed == 6


def test_groups_of_fewer_than_k_are_seen():
    by_team = "SELECT team, ill, COUNT(*) AS n FROM staff GROUP BY team, ill"
    assert attack(by_team, fewer_than=2).exposed == 2
    assert attack(by_team, fewer_than=3).exposed == 6


def test_what_is_not_linear_is_listed():
    found = attack(ALL, "SELECT MEDIAN(n) FROM nowhere", "nonsense")
    assert [question for question, _ in found.skipped] == [
        "SELECT MEDIAN(n) FROM nowhere",
        "nonsense",
    ]
    assert "2 questions were not attacked" in str(found)


def test_the_rows_of_one_person_count_once():
    visits = pa.table({"who": [1, 1, 1, 2], "ward": ["A", "A", "B", "B"]})
    limits = {"unit": "who", "max_groups_per_unit": 2, "max_rows_per_unit_per_group": 2}
    text = "SELECT ward, COUNT(*) AS n FROM data GROUP BY ward"
    found = differencing(visits, [text], fewer_than=2, **limits)
    assert [one.people for one in found.isolated] == [1]


def test_k_below_two_is_refused():
    with pytest.raises(dp.InvalidParameter, match="fewer_than"):
        attack(ALL, fewer_than=1)
