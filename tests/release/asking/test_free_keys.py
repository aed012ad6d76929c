"""Declared keys are public: they cost nothing, and no engine is asked for them."""

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter, InvalidQuery

ROWS = {"ward": ["A", "B", "C"] * 30, "age": [1, 2, 3] * 30, "name": ["x", "y", "z"] * 30}
FREE = {
    "SELECT ward FROM data GROUP BY ward": [("A",), ("B",), ("D",)],
    "SELECT DISTINCT ward FROM data": [("A",), ("B",), ("D",)],
    "SELECT DISTINCT ward, age FROM data ORDER BY age DESC, ward LIMIT 2": [("A", 3), ("B", 3)],
    "SELECT LOWER(ward) AS w, age + 1 AS a FROM data GROUP BY ward, age "
    "HAVING ward <> 'A' AND age < 3 ORDER BY a, w": [("b", 2), ("d", 2), ("b", 3), ("d", 3)],
    "SELECT ward AS w FROM data AS d GROUP BY d.ward": [("A",), ("B",), ("D",)],
}
NOT_FREE = {
    "SELECT name FROM data GROUP BY name": "not declared",
    "SELECT ward, name FROM data GROUP BY ward, name": "not declared",
    "SELECT ward FROM data WHERE age > 1 GROUP BY ward": "without WHERE",
    "SELECT ward FROM (SELECT ward FROM data WHERE age > 1) GROUP BY ward": "without WHERE",
    "SELECT ward FROM data": "no aggregate",
    "SELECT nobody FROM data GROUP BY nobody": "nobody",
}


@pytest.fixture
def session():
    keys = {"ward": ["A", "B", "D"], "age": [1, 2, 3]}
    return dp.protect(pa.table(ROWS), keys=keys, epsilon=1)


def rows(release):
    return list(zip(*(release[name] for name in release.columns), strict=True))


def refuse(*_, **__):
    raise AssertionError("The engine was asked.")


@pytest.mark.parametrize("sql", FREE)
def test_declared_keys_cost_nothing_and_no_engine_is_asked(session, monkeypatch, sql):
    monkeypatch.setattr(type(session._engine), "run", refuse)
    release = session.sql(sql)
    assert rows(release) == FREE[sql]
    assert session.remaining.epsilon == 1
    assert session.ledger.entries == ()
    assert release.loss.epsilon(0) == 0
    assert "this costs nothing, and no row was read" in str(release)
    assert "at no cost" in str(session.explain(sql))
    assert release.to_dict()["cost"] == {"epsilon": "0", "delta": "0"}
    assert release.to_dict()["certificate"] is None


def test_a_price_changes_nothing_and_nulls_are_one_more_group(session):
    sql = "SELECT DISTINCT ward FROM data"
    assert session.sql(sql, epsilon=0.5)["ward"] == ["A", "B", "D"]
    assert session.sql(sql, nulls=True)["ward"] == ["A", "B", "D", None]
    with pytest.raises(InvalidParameter, match="positive"):
        session.sql(sql, epsilon=-1)
    with pytest.raises((InvalidParameter, TypeError)):
        session.sql(sql, epsilom=1)
    assert session.remaining.epsilon == 1


def test_a_confidence_changes_nothing_unless_it_is_wrong(session):
    sql = "SELECT DISTINCT ward FROM data"
    assert session.sql(sql, confidence=0.9)["ward"] == ["A", "B", "D"]
    with pytest.raises(InvalidParameter, match="one of `epsilon"):
        session.sql(sql, confidence=95)


def test_a_group_of_others_is_not_declared(session):
    with pytest.raises(InvalidQuery, match="declares these groups"):
        session.sql("SELECT DISTINCT ward FROM data", other=True, epsilon=0.5)
    assert session.remaining.epsilon == 1


@pytest.mark.parametrize("sql", NOT_FREE)
def test_what_rows_decide_is_not_free(session, sql):
    with pytest.raises(InvalidQuery, match=NOT_FREE[sql]):
        session.sql(sql, epsilon=0.5)
    assert session.remaining.epsilon == 1
