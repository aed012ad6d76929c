"""Sums that follow from entries: from a checkpoint, or from the entries of other sessions."""

import json
import sqlite3
from contextlib import closing
from fractions import Fraction

import pytest

from deniable.errors import BudgetExhausted, LedgerBroken
from deniable.ledger import DurableLedger, MemoryLedger, current_state, verify_ledger
from deniable.ledger.floor_mark import Floor, FloorMark
from deniable.ledger.journal import JournalAnchor
from deniable.ledger.stores.ledger_formats import FORMAT, head_state
from deniable.ledger.stores.signing_keys import SigningKey
from deniable.ledger.terms import Terms
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget
from deniable.privacy import PureLoss
from tests.ledger.contract import plan

POLICY = Policy([Table("data")], epsilon=10**6, analysts={"*": Budget(10**6)})
COLUMNS = "number, hash, state, signature"


@pytest.fixture(autouse=True)
def _often(monkeypatch):
    """A checkpoint with about every fifth entry."""
    monkeypatch.setattr(current_state, "CHECKPOINT_EVERY", 5)


def opened(folder, name="l"):
    return DurableLedger(folder / f"{name}.sqlite", POLICY, key=folder / "l.key")


def filled(ledger, turns):
    for turn in range(turns):
        part = (("ward", "AB"[turn % 2]),) if turn % 3 == 0 else ()
        ledger.reserve(plan(1), analyst=f"analyst {turn % 4}", part=part)
    return ledger


@pytest.fixture
def folder(tmp_path):
    """The folder of a closed ledger with 23 entries."""
    filled(opened(tmp_path), 22).close()
    return tmp_path


def usages(ledger):
    return {usage.account: usage.spent for usage in ledger.filter_usages()}


def sql(folder, statement, values=(), name="l"):
    with closing(sqlite3.connect(folder / f"{name}.sqlite")) as connection, connection:
        return connection.execute(statement, values).fetchall()


def checkpoint(folder):
    return JournalAnchor(*sql(folder, f"SELECT {COLUMNS} FROM deniable_anchor WHERE id = 2")[0])


def replace_checkpoint(folder, *values):
    change = f"UPDATE deniable_anchor SET ({COLUMNS}) = (?, ?, ?, ?) WHERE id = 2"
    sql(folder, change, values)


def test_a_head_holds_no_sums_however_many_accounts_there_are(tmp_path):
    ledger = opened(tmp_path)
    for turn in range(12):
        ledger.reserve(plan(1), analyst=f"analyst {turn}", part=(("ward", str(turn)),))
        with ledger._journal.view() as view:
            assert view.anchor.state == head_state(FORMAT)
    ledger.close()


def test_a_process_that_is_up_to_date_reads_no_entry_again(tmp_path, monkeypatch):
    ledger = filled(opened(tmp_path), 7)
    monkeypatch.setattr(current_state, "check_link", None)  # no entry may be read
    filled(ledger, 7)
    assert usages(ledger)["analyst:analyst 0"] == 4
    ledger.close()


def test_a_long_ledger_is_opened_from_its_checkpoint(folder, monkeypatch):
    read, check_link = [], current_state.check_link
    monkeypatch.setattr(
        current_state,
        "check_link",
        lambda row, number, before: read.append(number) or check_link(row, number, before),
    )
    first = checkpoint(folder).number + 1
    assert 15 <= first <= 22
    ledger = opened(folder)
    assert read == list(range(first, 23))
    assert usages(ledger) == usages(filled(MemoryLedger(terms=Terms.from_policy(POLICY)), 22))
    ledger.verify()
    ledger.close()


def test_sessions_take_turns_and_each_sees_what_the_other_spent(folder):
    first, second = opened(folder), opened(folder)
    for turn in range(30):
        (first, second)[turn // 3 % 2].reserve(plan(1), analyst="ann")
        assert usages(first) == usages(second)
    assert usages(second)["analyst:ann"] == 30
    assert second.verify().entries == 53
    first.close()
    second.close()


def test_an_older_checkpoint_or_none_costs_time_only(folder):
    before = checkpoint(folder)
    ledger = filled(opened(folder), 20)
    spent = usages(ledger)
    ledger.close()
    assert checkpoint(folder).number >= before.number + 15
    older = before.number, before.hash, before.state, before.signature
    for values in (older, (-1, "", "", ""), None):
        if values is None:
            sql(folder, "DELETE FROM deniable_anchor WHERE id = 2")
        else:
            replace_checkpoint(folder, *values)
        ledger = opened(folder)
        assert usages(ledger) == spent
        ledger.verify()
        ledger.close()
    filled(opened(folder), 1).close()
    assert checkpoint(folder).number == 43  # it is made again


def forged(entry, key):
    """Checkpoints that would forget what was spent."""
    state = json.loads(entry.state)
    state["accounts"] = {}
    less = json.dumps(state, sort_keys=True, separators=(",", ":"))
    yield entry.number, entry.hash, less, entry.signature
    unsigned = JournalAnchor(entry.number, entry.hash, less, "")
    yield entry.number, entry.hash, less, SigningKey.new().sign(unsigned.head.message)
    yield entry.number + 1, entry.hash, entry.state, entry.signature
    yield entry.number, "0" * 64, entry.state, entry.signature
    yield entry.number, entry.hash, entry.state, ""
    for number in (entry.number + 1, entry.number - 1):  # signed, but of no entry of this chain
        anchor = JournalAnchor(number, "0" * 64, less, "")
        yield number, anchor.hash, less, key.sign(anchor.head.message)


def test_a_forged_checkpoint_is_refused(folder):
    entry, key = checkpoint(folder), SigningKey.read(folder / "l.key")
    count = 0
    for values in forged(entry, key):
        replace_checkpoint(folder, *values)
        with pytest.raises(LedgerBroken):
            opened(folder)
        with pytest.raises(LedgerBroken):
            verify_ledger(folder / "l.sqlite", public_key=key.public)
        count += 1
    assert count == 7


def test_a_checkpoint_of_another_ledger_of_the_same_key_is_refused(folder):
    mark = (folder / "l.key.mark").read_text()
    FloorMark(folder / "l.key").write(Floor("7f"))
    filled(opened(folder, "other"), 22).close()
    ((number, *rest),) = sql(
        folder, f"SELECT {COLUMNS} FROM deniable_anchor WHERE id = 2", name="other"
    )
    replace_checkpoint(folder, number, *rest)
    (folder / "l.key.mark").write_text(mark)
    with pytest.raises(LedgerBroken, match=f"Entry {number + 1} was changed"):
        opened(folder)


def test_a_checkpoint_ahead_of_the_head_shows_that_the_ledger_was_set_back(folder):
    head = sql(folder, f"SELECT {COLUMNS} FROM deniable_anchor WHERE id = 1")[0]
    mark = (folder / "l.key.mark").read_text()
    filled(opened(folder), 20).close()
    sql(folder, f"UPDATE deniable_anchor SET ({COLUMNS}) = (?, ?, ?, ?) WHERE id = 1", head)
    sql(folder, "DELETE FROM deniable_entries WHERE number > ?", head[:1])
    (folder / "l.key.mark").write_text(mark)  # set back, too
    with pytest.raises(LedgerBroken, match="set back: it has a checkpoint at entry"):
        opened(folder)
    public = (folder / "l.key.pub").read_text().strip()
    with pytest.raises(LedgerBroken, match="set back"):
        verify_ledger(folder / "l.sqlite", public_key=public)


def test_a_checkpoint_is_made_after_long_answers_too(tmp_path, monkeypatch):
    monkeypatch.setattr(current_state, "CHECKPOINT_EVERY", 10**6)
    monkeypatch.setattr(current_state, "CHECKPOINT_SIZE", 10_000)
    ledger = opened(tmp_path)
    entry = ledger.reserve(plan(1), analyst="ann", plan_hash="f00d")
    assert checkpoint(tmp_path).number == -1
    ledger.settle(entry, "x" * 10_000)
    ledger.reserve(plan(1), analyst="ann")
    assert checkpoint(tmp_path).number == 3
    ledger.reserve(plan(1), analyst="ann")
    assert checkpoint(tmp_path).number == 3
    ledger.close()


def test_an_entry_that_was_added_by_another_session_and_changed_is_found(folder):
    ledger, other = opened(folder), opened(folder)
    other.reserve(plan(1), analyst="ann")
    sql(
        folder,
        "UPDATE deniable_entries SET body = replace(body, 'ann', 'bob') WHERE number = 23",
    )
    for act in (lambda: ledger.reserve(plan(1), analyst="ann"), lambda: ledger.remaining):
        with pytest.raises(LedgerBroken, match="Entry 23 was changed"):
            act()
    ledger.close()
    other.close()


def test_a_request_that_is_refused_leaves_the_sums_as_they_were():
    ledger = MemoryLedger(epsilon=1)
    ledger.reserve(plan(0.5))
    for _ in range(3):
        with pytest.raises(BudgetExhausted):
            ledger.reserve(plan(0.75))
        with pytest.raises(BudgetExhausted):
            ledger.reserve_run(PureLoss(Fraction(3, 4)))
    ledger.reserve(plan(0.5))
    ledger.verify()


def test_an_entry_that_was_added_by_another_session_and_removed_is_found(folder):
    ledger, other = opened(folder), opened(folder)
    other.reserve(plan(1), analyst="ann")
    sql(folder, "DELETE FROM deniable_entries WHERE number = 23")
    with pytest.raises(LedgerBroken, match="ends at entry 22, but its signed head is entry 23"):
        assert ledger.remaining
    ledger.close()
    other.close()
