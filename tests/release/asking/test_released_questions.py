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


def test_other_sql_and_other_releases_have_draws_of_their_own():
    first, second = released(0.001), released(0.001)
    other = margin_of_sum(first, "SELECT SUM(n + 1) AS n FROM answer")
    assert len({margin_of_sum(first), margin_of_sum(second), other}) == 3


def test_two_releases_can_be_joined(release):
    sql = "SELECT a.ward, a.n - b.n AS zero FROM a JOIN b USING (ward)"
    answer, _ = ask_released(sql, {"a": release, "b": release})
    assert answer.table["zero"].to_pylist() == [0, 0]


def test_what_cannot_run_is_refused_in_words(release):
    with pytest.raises(dp.InvalidQuery, match="cannot run over what was released"):
        ask_released("SELECT nothing FROM answer", {"answer": release})
