"""Declared keys hold the rows that have them, and no others."""

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
    asked = "SELECT a * 1e30 AS k, COUNT(*) AS n FROM data GROUP BY 1"
    assert session.sql(asked, epsilon=10).to_arrow()["k"].to_pylist() == [1e30, 2e30]


def test_declared_keys_alone_are_no_question():
    session = dp.protect(pa.table({"a": [1]}), keys={"a": [1, 2]}, epsilon=1)
    with pytest.raises(InvalidQuery, match="Add an aggregate"):
        session.plan("SELECT a FROM data GROUP BY a", epsilon=1)


def test_without_groups_there_is_no_rest():
    session = dp.protect(pa.table({"a": [1]}), epsilon=2)
    asked = "SELECT COUNT(*) AS n FROM data"
    assert session.plan(asked, epsilon=1, other=True) == session.plan(asked, epsilon=1)
    assert session.sql(asked, epsilon=1, other=True).to_arrow().num_rows == 1
