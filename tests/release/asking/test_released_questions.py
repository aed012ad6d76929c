from dataclasses import replace

import pyarrow as pa
import pytest

import deniable as dp
from deniable.release.asking.released_questions import ask_released


@pytest.fixture(scope="module")
def release():
    table = pa.table({"ward": ["A", "B", "B", "B"] * 500})
    data = dp.protect(table, keys={"ward": ["A", "B"]}, epsilon=1)
    return data.sql("SELECT ward, COUNT(*) AS n FROM data GROUP BY ward", epsilon=1)


def test_sql_over_a_release_has_its_numbers_and_margins(release):
    sql = "SELECT SUM(n) AS n, MAX(ward) AS last FROM answer"
    answer, _ = ask_released(sql, {"answer": release})
    assert answer.table["n"].to_pylist() == [sum(release["n"])]
    assert answer.table["last"].to_pylist() == ["B"]
    half = answer.table[answer.margins["n"]][0].as_py()
    assert max(release["n_margin"]) <= half <= sum(release["n_margin"])


def released(epsilon):
    table = pa.table({"ward": ["A", "B", "B", "B"] * 500})
    data = dp.protect(table, keys={"ward": ["A", "B"]}, epsilon=1)
    return data.sql("SELECT ward, COUNT(*) AS n FROM data GROUP BY ward", epsilon=epsilon)


def margin_of_sum(release, sql="SELECT SUM(n) AS n FROM answer"):
    answer, _ = ask_released(sql, {"answer": release})
    return answer.table[answer.margins["n"]][0].as_py()


def test_the_same_sql_over_a_release_has_the_same_margin_again():
    release = released(0.001)
    half = margin_of_sum(release)
    assert half > 1000  # so that other draws would hardly give the same
    assert margin_of_sum(release) == half
    assert margin_of_sum(release, "select sum(n)  as n from answer") == half


def test_a_number_has_one_margin_in_any_sql_and_under_any_name():
    """Otherwise somebody would ask in other words until the margin is small."""
    release = released(0.001)
    half = margin_of_sum(release)
    told = {
        margin_of_sum(release, f"SELECT SUM(n) + {i} - {i} AS n FROM answer") for i in range(5)
    }
    told.add(margin_of_sum(release, "SELECT -SUM(b.n) + 7 AS n FROM answer AS b"))
    for names in (("other",), ("other", "more"), ("more", "other")):
        sql = "SELECT SUM(w.n) AS n FROM (SELECT n FROM other) AS w"
        answer, _ = ask_released(sql, dict.fromkeys(names, release))
        told.add(answer.table[answer.margins["n"]][0].as_py())
    assert told == {half}


def test_other_releases_have_draws_of_their_own():
    first, second = released(0.001), released(0.001)
    assert margin_of_sum(first) != margin_of_sum(second)


def test_noise_of_two_releases_does_not_cancel_and_that_of_one_does():
    sql = "SELECT SUM(a.n - b.n) AS n FROM a JOIN b USING (ward)"
    first = released(0.001)
    chance = replace(first, certificate=None)  # equal, but with noise of its own
    halves = []
    for second in (released(0.001), chance, first):
        answer, _ = ask_released(sql, {"a": first, "b": second})
        halves.append(answer.table[answer.margins["n"]][0].as_py())
    assert min(halves[:2]) > margin_of_sum(first) / 2 > 0 == halves[2]


def test_two_releases_can_be_joined(release):
    sql = "SELECT a.ward, a.n - b.n AS zero FROM a JOIN b USING (ward)"
    answer, _ = ask_released(sql, {"a": release, "b": release})
    assert answer.table["zero"].to_pylist() == [0, 0]


def test_what_cannot_run_is_refused_in_words(release):
    with pytest.raises(dp.InvalidQuery, match="cannot run over what was released"):
        ask_released("SELECT nothing FROM answer", {"answer": release})
