import pytest

from deniable.app.server.accounts.server_database import ServerDatabase
from deniable.app.server.questions.slots import SlotLengths, Timetable, slot_length
from deniable.policy import Policy, Table
from deniable.query.plan import canonical
from deniable.query.planner.request import make_plan


def policy_of(**declared):
    table = Table.declare("visits", bounds={"cost": (0, 99)}, **declared)
    return Policy([table.with_schema({"cost": "BIGINT"})], epsilon=1)


def lengths(folder, policy, seconds, shortest=0.25):
    """Slot lengths if every rehearsal takes that many seconds."""
    database = ServerDatabase(folder / "server.sqlite")
    rehearse = lambda plan: seconds  # noqa: E731
    return SlotLengths("hospital", policy, database, rehearse, shortest=shortest)


def of(slots, policy, text="SELECT COUNT(*) AS n FROM visits"):
    plan = make_plan(text, policy, epsilon=0.5)
    return slots.of(plan, canonical.plan_form(plan)[1])


@pytest.mark.parametrize(
    ("expected", "length"), [(0, 1), (0.25, 1), (0.2501, 2), (1, 4), (1.01, 8), (1e9, 4096)]
)
def test_a_rehearsal_takes_at_most_a_quarter(expected, length):
    assert slot_length(1.0, expected) == length


def test_a_slot_is_fixed_once_and_for_all(tmp_path):
    policy = policy_of()
    assert of(lengths(tmp_path, policy, 0.01), policy) == 0.25
    slow = lengths(tmp_path, policy, 100)  # another worker, on a busy machine
    assert of(slow, policy) == 0.25
    assert of(slow, policy, "SELECT SUM(cost) AS c FROM visits") == 512


def test_the_declared_rows_count_and_no_others(tmp_path):
    few, many = policy_of(expected_rows=1000), policy_of(row_ceiling=10**6)
    assert of(lengths(tmp_path, few, 0.01), few) == 0.25
    (tmp_path / "other").mkdir()
    assert of(lengths(tmp_path / "other", many, 0.01), many) == 64  # 10 s * 4, as 2**k


def test_steps_have_slots_one_after_the_other(monkeypatch):
    waited = []
    monkeypatch.setattr("deniable.app.server.questions.slots.wait_until", waited.append)
    table = Timetable(100.0, [1.0, 4.0, 2.0])
    assert table.end == 107.0
    assert not table.reserved.done()
    assert [table.begin_step() for _ in range(4)] == [101.0, 105.0, 107.0, 107.0]
    assert waited == [100.0, 101.0, 105.0, 105.0]
    assert table.reserved.done()
