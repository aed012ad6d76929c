"""Differencing: the classic pair of counts, and longer chains."""

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.audit.attack import differencing
from deniable.audit.attack.differencing import _add_by_person
from deniable.audit.attack.rows.published_numbers import PublishedNumber

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
    finding = attack(ALL, NOT_BOB, secret="ill", fewer_than=2)
    assert finding.exposed == 1
    assert finding.describe(finding.isolated[0]) == "(question 1, n) - (question 2, n)"
    assert attack(ALL, secret="ill", fewer_than=2).isolated == ()


def test_without_a_secret_it_is_about_who_is_counted():
    assert attack(ALL, NOT_BOB, fewer_than=2).exposed == 0  # Bob is counted in neither
    both = "SELECT COUNT(*) AS n FROM staff", "SELECT COUNT(*) FROM staff WHERE name <> 'Bob'"
    assert attack(*both, fewer_than=2).exposed == 1


def test_small_cells_of_a_group_by_are_seen():
    finding = attack("SELECT name, COUNT(*) AS n FROM staff GROUP BY name", fewer_than=2)
    assert finding.exposed == 6


def test_groups_of_fewer_than_k_are_seen():
    by_team = "SELECT team, ill, COUNT(*) AS n FROM staff GROUP BY team, ill"
    assert attack(by_team, fewer_than=2).exposed == 2
    assert attack(by_team, fewer_than=3).exposed == 6


def test_what_is_not_linear_is_listed():
    finding = attack(ALL, "SELECT MEDIAN(n) FROM nowhere", "nonsense")
    assert [question for question, _ in finding.skipped] == [
        "SELECT MEDIAN(n) FROM nowhere",
        "nonsense",
    ]
    assert "Not attacked: 2" in str(finding)


def test_a_release_in_a_folder_of_logs_is_named_and_left_out(tmp_path):
    dp.protect(STAFF, epsilon=1).sql("SELECT COUNT(*) AS n FROM data", epsilon=1).save(
        tmp_path / "answer.json"
    )
    (tmp_path / "log.sql").write_text(f"{ALL};{NOT_BOB}")
    finding = differencing(STAFF, tmp_path, table="staff", secret="ill", fewer_than=2)
    assert finding.exposed == 1
    assert "it is a release" in dict(finding.skipped)["answer.json"]
    assert "answer.json" in str(finding)


def test_the_rows_of_one_person_count_once():
    visits = pa.table({"who": [1, 1, 1, 2], "ward": ["A", "A", "B", "B"]})
    limits = {"unit": "who", "max_groups_per_unit": 2, "max_rows_per_unit_per_group": 2}
    text = "SELECT ward, COUNT(*) AS n FROM data GROUP BY ward"
    finding = differencing(visits, [text], fewer_than=2, **limits)
    sets = {finding.describe(group): group.people for group in finding.isolated}
    assert sets.pop("(question 1, n of A)") == 1
    # Person 1 has two rows in A for one in B: twice B less A is about person 2.
    assert list(sets.values()) == [1]
    assert (finding.exposed, finding.people) == (2, 2)


VISITS = {"who": [1, 1, 1, 2, 3], "cost": [10, 20, 30, 40, 50]}


def attack_visits(*questions, **options):
    visits, limits = pa.table(VISITS), {"unit": "who", "bounds": {"cost": (0, 99)}}
    return differencing(visits, questions, fewer_than=2, **limits, **options)


def test_one_person_whose_rows_differ_is_singled_out():
    finding = attack_visits("SELECT SUM(cost) AS s FROM data WHERE who = 1")
    assert [group.people for group in finding.isolated] == [1]
    assert (finding.exposed, finding.people) == (1, 3)
    few = attack_visits(
        "SELECT SUM(cost) AS s FROM data", "SELECT SUM(cost) AS s FROM data WHERE who > 1"
    )
    assert few.describe(few.isolated[0]) == "(question 1, s) - (question 2, s)"
    assert attack_visits("SELECT SUM(cost) AS s FROM data WHERE cost > 20").isolated == ()


@pytest.mark.parametrize(
    ("ill", "exposed"), [([1, 1, 1, 0, 1], 1), ([1, 0, 1, 0, 1], 0)], ids=["person", "row"]
)
def test_a_secret_of_a_person_is_one_unknown_and_secrets_of_rows_are_several(ill, exposed):
    visits = pa.table(VISITS | {"ill": [value == 1 for value in ill]})
    texts = ["SELECT SUM(cost) AS s FROM data WHERE ill AND who = 1"]
    limits = {"unit": "who", "bounds": {"cost": (0, 99)}, "secret": "ill"}
    finding = differencing(visits, texts, fewer_than=2, **limits)
    assert finding.exposed == exposed
    assert ("count as several people" in str(finding)) == (not exposed)


def test_totals_that_may_not_fit_are_named():
    vectors = np.array([[2**59, 2**59, 1], [1, 2, 3]])
    numbers = [PublishedNumber(0, name, ()) for name in "ab"]
    kept, totals, large = _add_by_person(numbers, vectors, np.array([0, 0, 1]))
    assert (kept, totals.tolist(), large) == ((numbers[1],), [[3, 3]], [numbers[0]])


def test_k_below_two_is_refused():
    with pytest.raises(dp.InvalidParameter, match="fewer_than"):
        attack(ALL, fewer_than=1)


PAID = STAFF.append_column("pay", pa.array([10, 20, 30, 40, 50, 60]))


def attack_paid(*questions, **options):
    options = {"fewer_than": 2, "bounds": {"pay": (0, 99)}} | options
    return differencing(PAID, questions, table="staff", **options)


def test_averages_without_a_count_are_differenced():
    texts = "SELECT AVG(pay) AS a FROM staff", "SELECT AVG(pay) AS a FROM staff WHERE pay > 10"
    finding = attack_paid(*texts)
    assert finding.exposed == 1
    assert "a × its count" in finding.describe(finding.isolated[0])
    assert attack_paid(texts[0]).isolated == ()


def test_averages_over_the_secret_are_equations():
    every = "SELECT AVG(pay) AS a FROM staff WHERE ill"
    but_bob = f"{every} AND name <> 'Bob'"
    finding = attack_paid(every, but_bob, secret="ill")
    assert finding.exposed == 1
    assert "sum of values less a" in finding.describe(finding.isolated[0])
    assert attack_paid(every, secret="ill").isolated == ()


def test_a_median_of_few_people_is_a_finding():
    text = "SELECT team, MEDIAN(pay) AS m FROM staff WHERE {} GROUP BY team"
    finding = attack_paid(text.format("pay < 45"))
    assert [(str(number), many) for number, many in finding.small] == [
        ("question 1, m of b", 1)
    ]
    assert finding.exposed == 1
    assert "about fewer than 2 people" in str(finding)
    assert attack_paid(text.format("pay < 55")).small == ()
    assert attack_paid(text.format("pay < 45"), secret="ill").small == ()  # it reads no secret
    assert attack_paid(text.format("pay < 45 AND ill"), secret="ill").exposed == 1


def test_an_average_of_one_person_is_a_finding_whatever_her_value():
    finding = attack_paid(
        "SELECT AVG(pay) AS a FROM staff WHERE ill AND pay < 15", secret="ill"
    )
    assert finding.exposed == 1


def test_the_questions_of_a_combination_are_listed_by_number_and_text():
    finding = attack(
        "SELECT COUNT(*) AS n FROM staff", ALL, NOT_BOB, secret="ill", fewer_than=2
    )
    text = str(finding)
    assert "(question 2, n) - (question 3, n)" in text
    lines = text.split("These questions")[1].splitlines()
    assert [line.split()[0] for line in lines[2:4]] == ["2", "3"]
    assert lines[3].endswith(NOT_BOB)
    assert "SELECT COUNT(*) AS n FROM staff\n" not in text  # it is in no combination


def test_sets_beyond_the_list_are_counted():
    names = pa.table({"name": [f"person {i}" for i in range(14)]})
    by_name = "SELECT name, COUNT(*) AS n FROM data GROUP BY name"
    text = str(differencing(names, [by_name], fewer_than=2))
    assert "4 more are not listed here; `isolated` has them." in text


def test_numbers_are_counted_once_whatever_the_secret():
    finding = attack("SELECT team, COUNT(*) AS n FROM staff GROUP BY team", secret="name")
    assert "1 questions publish 2 counts" in str(finding)
