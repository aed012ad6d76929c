import datetime
import json

import pytest

import deniable as dp
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget, Schedule
from deniable.policy.column import Column
from deniable.policy.written_policy import read_policy, write_policy

GROWS = Schedule(start=datetime.date(2026, 1, 1), every=30, epsilon=0.5, delta=1e-7, times=2)
VISITS = Table(
    "visits",
    "/secret/place/visits.csv",
    unit="patient",
    neighbors="replace",
    max_groups_per_unit=3,
    max_rows_per_unit_per_group=2,
    row_ceiling=10**6,
    expected_rows=1000,
    malformed="skip",
    columns={
        "cost": Column("cost", bounds=(0, 99), step=0.5),
        "age": Column("age", kind="integer", bounds=(0, 120)),
        "ward": Column("ward", keys=["A", "B"]),
        "code": Column("code", keys="private"),
        "old": Column("old", keys=[True, False]),
        "day": Column("day", kind="timestamp"),
        "plain": Column("plain"),
    },
    budget=Budget(1, 1e-7),
    version="2026-03",
)
POLICY = Policy(
    [VISITS, Table("map", public=True)],
    epsilon=3,
    delta=1e-6,
    schedule=GROWS,
    filters=("pure", "zcdp"),
    units={"patient": Budget(2, 1e-6)},
    analysts={"ann": Budget(1, 1e-6), "*": Budget(0.5, 1e-6)},
    ledger="/secret/place/x.ledger.sqlite",
    ledger_key="/secret/place/x.ledger.key",
    ledger_id="secret-id",
    memory="4 GB",
)
SCHEMA = {
    **dict.fromkeys(("cost", "plain"), "DOUBLE"),
    **dict.fromkeys(("age", "patient"), "BIGINT"),
    **dict.fromkeys(("ward", "code"), "VARCHAR"),
    "old": "BOOLEAN",
    "day": "TIMESTAMP",
}
COMPLETED = POLICY.with_schemas({"visits": SCHEMA, "map": {"x": "INTEGER"}})


@pytest.mark.parametrize("policy", [POLICY, COMPLETED], ids=["declared", "completed"])
def test_a_policy_is_read_as_it_was_written(policy):
    written = json.loads(json.dumps(write_policy(policy)))
    read = read_policy(written, sources={"visits": "/secret/place/visits.csv"})
    assert read.tables == policy.tables
    for name in ("budget", "filters", "units", "analysts", "memory"):
        assert getattr(read, name) == getattr(policy, name)


def test_where_things_lie_is_not_told():
    written = json.dumps(write_policy(COMPLETED))
    assert "secret" not in written
    read = read_policy(json.loads(written))
    assert (read.ledger, read.ledger_key, read.ledger_id) == (None, None, None)
    assert read.tables["visits"].source is None


@pytest.mark.parametrize("wrong", [None, 7, [], {}, {"version": 1}, "x"])
def test_anything_else_is_refused(wrong):
    with pytest.raises(dp.InvalidPolicy):
        read_policy(wrong)


def test_another_version_is_refused():
    with pytest.raises(dp.InvalidPolicy, match="version 2"):
        read_policy(write_policy(POLICY) | {"version": 2})


@pytest.mark.parametrize("part", ["bounds", "name", "keys"])
def test_a_part_that_is_missing_is_refused(part):
    written = write_policy(POLICY)
    del written["tables"][0]["columns"][0][part]
    with pytest.raises(dp.InvalidPolicy):
        read_policy(written)
