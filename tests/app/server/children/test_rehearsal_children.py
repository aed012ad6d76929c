"""Plans are timed on made-up rows in children, and nobody's plan holds up everybody."""

import pytest

import deniable as dp
from deniable.app.server.children.pooled_engine import PooledEngine
from deniable.app.server.children.rehearsal_children import RehearsalChildren
from deniable.ledger.memory_ledger import MemoryLedger
from deniable.ledger.terms import Terms
from deniable.policy import Policy, Table
from deniable.query.planner.request import make_plan
from deniable.release.public_session import Session


def policy_of(rows=1000):
    table = Table.declare("visits", bounds={"cost": (0, 99)}, expected_rows=rows)
    return Policy([table.with_schema({"cost": "BIGINT", "ward": "VARCHAR"})], epsilon=1)


def plan_of(policy, text="SELECT SUM(cost) AS c FROM visits WHERE ward = 'A'"):
    return make_plan(text, policy, epsilon=0.5)


@pytest.fixture(scope="module")
def children():
    opened = RehearsalChildren(policy_of())
    yield opened
    opened.close()


def test_a_plan_is_timed_without_any_source(children):
    """The column `ward` is not declared: its type, which is public, is enough."""
    assert 0 < children.seconds(plan_of(policy_of())) < 600


def test_a_plan_that_takes_too_long_is_refused_and_its_child_is_replaced():
    policy = policy_of()
    children = RehearsalChildren(policy, longest=0.0)
    try:
        for _ in range(3):  # more often than there are children
            with pytest.raises(dp.Unsupported, match=r"takes more than 0 seconds.*was spent"):
                children.seconds(plan_of(policy))
        children._longest = 600.0
        assert children.seconds(plan_of(policy)) > 0
    finally:
        children.close()


def test_an_answer_about_made_up_rows_ends_in_time(children):
    """An endless question does not keep others from trying theirs."""
    policy = policy_of()

    def ask():
        ledger = MemoryLedger(terms=Terms.from_policy(policy))
        with children.engine() as engine:
            session = Session(policy, engine, ledger, rehearsal=True)
            return session.release(plan_of(policy))

    longest, children._longest = children._longest, 0.0
    try:
        for _ in range(3):  # more often than there are children
            with pytest.raises(dp.Unsupported, match=r"more than 0 seconds, .* was spent"):
                ask()
    finally:
        children._longest = longest
    assert ask().rehearsal


def test_children_with_made_up_rows_are_told_no_source(tmp_path):
    (tmp_path / "visits.csv").write_text("cost\n41\n")
    policy = Policy(
        [Table("visits", str(tmp_path / "visits.csv")).with_schema({"cost": "BIGINT"})],
        epsilon=1,
    )
    pool = PooledEngine(policy, children=0, made_up=True)
    try:
        assert pool._sources.told["sources"] is None
        assert "visits.csv" not in repr(pool._sources.told)
        assert pool.schema("visits") == {"cost": "BIGINT"}
    finally:
        pool.close()
