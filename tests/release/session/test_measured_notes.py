"""What limits leave out, quoted by later sessions of the same ledger."""

import json

import pyarrow.csv as csv
import pytest

import deniable as dp
from deniable.ledger.memory_ledger import MemoryLedger
from deniable.release.session.measured_notes import (
    can_have_note,
    note_key,
    read_note,
    write_note,
)
from tests.release.limits.worlds import frame, session

BY_DIAGNOSIS = "SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis"
ROWS = [(who, "ABC"[(who + i // 2) % 3]) for who in range(600) for i in range(who % 5 + 1)]
POLICY = """
[budget]
epsilon = 50

[tables.visits]
source = "visits.csv"
unit = "patient"
max_groups_per_unit = {groups}
max_rows_per_unit_per_group = 1

[tables.visits.columns.diagnosis]
keys = ["A", "B", "C"]
"""


@pytest.fixture
def policy(tmp_path):
    csv.write_csv(frame(ROWS), tmp_path / "visits.csv")
    path = tmp_path / "deniable.toml"
    path.write_text(POLICY.format(groups=2))
    return path


def test_a_later_session_quotes_the_measurement_where_it_covers_the_answer(policy):
    with dp.open(policy) as first:
        limits = first.limits("visits", by="diagnosis", epsilon=5)
        assert first.sql(BY_DIAGNOSIS, epsilon=1).left_out == limits.quote
    with dp.open(policy) as later:
        assert later.sql(BY_DIAGNOSIS, epsilon=2).left_out == limits.quote
        assert later.sql(BY_DIAGNOSIS, epsilon=1).left_out == limits.quote  # it was kept before
        everyone = later.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
        assert everyone.left_out == ""
        assert later.ledger.verify().entries > 0
        assert later.limits("visits", by="diagnosis", epsilon=5).repeated


def test_other_limits_leave_out_other_rows(policy):
    with dp.open(policy) as first:
        first.limits("visits", by="diagnosis", epsilon=5)
    policy.write_text(
        policy.read_text().replace("max_groups_per_unit = 2", "max_groups_per_unit = 1")
    )
    with dp.open(policy) as later:
        assert later.sql(BY_DIAGNOSIS, epsilon=1).left_out == ""
        again = later.limits("visits", by="diagnosis", epsilon=5)
        assert again.repeated
        assert "limit of 1 group" in later.sql(BY_DIAGNOSIS, epsilon=2).left_out


def test_a_note_that_nobody_signed_is_refused():
    with session(ROWS) as data:
        plan = data.plan(BY_DIAGNOSIS, epsilon=1)
    ledger = MemoryLedger(epsilon=1)
    note = write_note(ledger, plan, "v", "leaves out 9 %")

    class Kept:
        record = note

    ledger.recall = lambda **options: Kept if options["plan_hash"] == note_key(plan) else None
    assert read_note(ledger, plan, "v", None) == "leaves out 9 %"
    with pytest.raises(dp.LedgerBroken, match="differs from the one"):
        read_note(ledger, plan, "other data", None)
    Kept.record = json.dumps({**json.loads(note), "note": "leaves out nothing"})
    with pytest.raises(dp.LedgerBroken, match="differs from the one"):
        read_note(ledger, plan, "v", None)
    Kept.record = "[]"
    with pytest.raises(dp.LedgerBroken, match="differs from the one"):
        read_note(ledger, plan, "v", None)


def test_only_one_count_over_declared_groups_can_have_a_note():
    with session(ROWS) as data:
        assert can_have_note(data.plan(BY_DIAGNOSIS, epsilon=1))
        two = BY_DIAGNOSIS.replace(" FROM", ", COUNT(DISTINCT patient) AS people FROM")
        assert not can_have_note(data.plan(two, epsilon=1))
        private = BY_DIAGNOSIS.replace("diagnosis", "LOWER(diagnosis)")
        assert not can_have_note(data.plan(private, epsilon=1, delta=1e-6))
