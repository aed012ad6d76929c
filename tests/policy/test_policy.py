"""The whole policy: tables that can be told apart and a budget that can be spent."""

from fractions import Fraction

import pytest

from deniable.errors import InvalidPolicy
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget


def test_tables_by_name_and_an_exact_budget():
    policy = Policy([Table("a"), Table("b")], epsilon=0.1, delta=1e-6)
    assert list(policy.tables) == ["a", "b"]
    assert (policy.epsilon, policy.delta) == (Fraction(1, 10), Fraction(1, 10**6))
    assert Policy({"a": Table("a")}, epsilon=1).delta == 0


@pytest.mark.parametrize(
    ("tables", "budget", "told"),
    [
        ([], {"epsilon": 1}, "at least one table"),
        ([Table("a"), Table("A")], {"epsilon": 1}, "are the same"),
        ([Table("a")], {"epsilon": 0}, "positive"),
        ([Table("a")], {"epsilon": float("nan")}, "finite"),
        ([Table("a")], {"epsilon": True}, "number"),
        ([Table("a")], {"epsilon": 1, "delta": 1}, "below 1"),
        ([Table("a")], {"epsilon": 1, "delta": -1e-9}, "at least 0"),
        ([Table("a")], {"epsilon": 1, "delta": "1e-6"}, "number"),
    ],
)
def test_what_cannot_hold_is_refused(tables, budget, told):
    with pytest.raises(InvalidPolicy, match=told):
        Policy(tables, **budget)


def test_schemas_complete_the_tables_that_they_name():
    policy = Policy([Table("a"), Table("b")], epsilon=1).with_schemas({"a": {"x": "BIGINT"}})
    assert policy.tables["a"].columns["x"].integer
    assert not policy.tables["b"].columns


def test_a_unit_has_one_budget_in_whatever_spelling():
    units = {"patient": Budget(1), "Patient": Budget(100)}
    with pytest.raises(InvalidPolicy, match="in upper and lower case"):
        Policy([Table("visits", unit="patient")], epsilon=1, units=units)
