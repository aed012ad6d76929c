"""Declared keys hold the rows that have them, and no others."""

import datetime

import duckdb
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidQuery
from deniable.policy import Column, Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from tests.query.statements.test_aggregate_statement import exact

BY_A = "SELECT a, COUNT(*) AS n FROM data GROUP BY a"


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.string()])
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_numbers_between_declared_keys_count_as_none_of_them(kind, neighbors):
    rows = pa.table({"a": pa.array([10, 12, 14, 20, 24], pa.int64()).cast(kind)})
    declared = {"keys": {"a": [10, 20]}, "kind": {"a": "number"}}
    session = dp.protect(rows, **declared, neighbors=neighbors, epsilon=1000)
    assert sorted(exact(session, session.plan(BY_A, epsilon=1)).values()) == [(1,), (1,)]
    answer = session.sql(BY_A, epsilon=500, other=True).to_arrow().to_pydict()
    assert answer["a"] == [10, 20, None]
    assert answer["n"] == [1, 1, 3]


def test_integers_without_one_between_their_bounds_make_no_groups():
    column = Column("a", bounds=(0.2, 0.8), integer=True)
    policy = Policy([Table("data", columns={"a": column})], epsilon=1)
    with pytest.raises(InvalidQuery, match="GROUP BY a has no groups: no multiple of its step"):
        plan(parse(BY_A), policy, epsilon=1)


def test_fractions_declared_are_shown_as_declared():
    session = dp.protect(
        pa.table({"a": [0.1, 0.3, 0.15]}), keys={"a": [0.1, 0.3]}, epsilon=1000
    )
    answer = session.sql(BY_A, epsilon=500).to_arrow().to_pydict()
    assert (answer["a"], answer["n"]) == ([0.1, 0.3], [1, 1])


def test_groups_too_far_from_zero_are_refused_before_anything_is_spent():
    session = dp.protect(pa.table({"x": [1]}), bounds={"x": (0, 9)}, epsilon=1)
    with pytest.raises(InvalidQuery, match="too far from zero"):
        session.plan("SELECT x + 1e30 AS k, COUNT(*) AS n FROM data GROUP BY 1", epsilon=1)


def test_private_keys_beyond_64_bits_are_shown_as_floats():
    rows = pa.table({"a": [1, 2] * 1000})
    session = dp.protect(rows, keys={"a": "private"}, epsilon=10, delta=1e-3)
    sql = "SELECT a * 1e30 AS k, COUNT(*) AS n FROM data GROUP BY 1"
    assert session.sql(sql, epsilon=10).to_arrow()["k"].to_pylist() == [1e30, 2e30]


def test_declared_keys_alone_are_no_question():
    session = dp.protect(pa.table({"a": [1]}), keys={"a": [1, 2]}, epsilon=1)
    with pytest.raises(InvalidQuery, match="Add an aggregate"):
        session.plan("SELECT a FROM data GROUP BY a", epsilon=1)


def test_without_groups_there_is_no_rest():
    session = dp.protect(pa.table({"a": [1]}), epsilon=2)
    sql = "SELECT COUNT(*) AS n FROM data"
    assert session.plan(sql, epsilon=1, other=True) == session.plan(sql, epsilon=1)
    assert session.sql(sql, epsilon=1, other=True).to_arrow().num_rows == 1


MOMENTS = [
    *[datetime.datetime(2026, 1, 1, hour, 5 * (hour % 3)) for hour in range(24)] * 30,
    *[datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999)] * 30,
    *[None] * 30,
]


def by_moment(key, **options):
    rows = pa.table({"ts": pa.array(MOMENTS, pa.timestamp("us"))})
    session = dp.protect(rows, epsilon=10**6, delta=1e-3, **options)
    sql = f"SELECT {key} AS k, COUNT(*) AS n FROM data GROUP BY 1"
    return session.sql(sql, epsilon=1000).to_arrow()


@pytest.mark.parametrize(
    ("key", "groups"),
    [
        ("ts", 26),
        ("DATE_TRUNC('hour', ts)", 26),
        ("DATE_TRUNC('minute', ts)", 26),
        ("DATE_TRUNC('day', ts)", 3),
        ("CAST(ts AS DATE)", 3),
        ("COALESCE(ts, ts)", 26),
    ],
)
def test_moments_are_not_cut_to_days(key, groups):
    answer = by_moment(key)
    database = duckdb.connect()
    database.register("data", pa.table({"ts": pa.array(MOMENTS, pa.timestamp("us"))}))
    sql = f"SELECT DATE_TRUNC('second', {key}) AS k, COUNT(*) FROM data GROUP BY 1 ORDER BY 1"
    expected = database.execute(sql).fetchall()
    assert len(expected) == groups
    shown = [pa.scalar(k).cast(pa.timestamp("s")).as_py() if k else k for k, _ in expected]
    assert answer["k"].cast(pa.timestamp("s")).to_pylist() == shown
    assert answer["n"].to_pylist() == [n for _, n in expected]


def test_a_column_that_is_declared_as_a_date_has_days():
    assert by_moment("ts", kind={"ts": "date"})["k"].type == pa.date32()
    assert by_moment("ts", kind={"ts": "timestamp"})["k"].type == pa.timestamp("s")


def test_moments_of_sub_queries_and_unions_are_moments():
    rows = pa.table({"who": range(len(MOMENTS)), "ts": pa.array(MOMENTS, pa.timestamp("us"))})
    session = dp.protect(rows, unit="who", epsilon=10**6, delta=1e-3)
    grouped = "(SELECT who, MAX(ts) AS ts FROM data GROUP BY who)"
    united = "(SELECT ts FROM data UNION ALL SELECT ts FROM data WHERE FALSE)"
    for source in (grouped, united):
        plan = session.plan(f"SELECT ts, COUNT(*) FROM {source} GROUP BY ts", epsilon=1)
        assert [key.kind for key in plan.keys] == ["moment"]
