"""The mark next to the key: a ledger never ends before it."""

import json
import os
import shutil
import threading

import pytest

from deniable.errors import LedgerBroken, LedgerUnavailable
from deniable.ledger import DurableLedger
from deniable.ledger.floor_mark import Floor, FloorMark
from deniable.ledger.journal import JournalAnchor
from deniable.ledger.terms import Terms
from deniable.policy.budget import Budget
from tests.ledger.contract import plan

TERMS = Terms.from_budget(Budget(1))


def opened(folder):
    return DurableLedger(folder / "l.sqlite", TERMS, key=folder / "l.key")


@pytest.fixture
def ledger(tmp_path):
    durable = opened(tmp_path)
    durable.reserve(plan(0.25))
    yield durable
    durable.close()


def put_back(file, old):
    """Overwrites a file in place: it stays the same file."""
    with file.open("r+b") as out:
        out.write(old)
        out.truncate()


def test_the_mark_is_the_last_charge(ledger, tmp_path):
    ledger.settle(ledger.reserve(plan(0.25)), "{}")
    read = json.loads((tmp_path / "l.key.mark").read_text())
    assert (read["format"], read["number"]) == (1, 2)  # the end of a charge is not a charge
    assert read["hash"] == list(ledger._journal.read_all()[0])[2].hash


def test_an_older_copy_is_refused_by_every_session(ledger, tmp_path):
    file = tmp_path / "l.sqlite"
    old = file.read_bytes()
    second = opened(tmp_path)
    ledger.reserve(plan(0.5))
    put_back(file, old)
    for session in (ledger, second):
        with pytest.raises(LedgerBroken, match="set back"):
            session.reserve(plan(0.5))
    with pytest.raises(LedgerBroken, match="set back"):
        opened(tmp_path)
    second.close()


def test_a_ledger_ahead_of_its_mark_is_what_a_crash_leaves(ledger, tmp_path):
    mark = tmp_path / "l.key.mark"
    before = mark.read_text()
    ledger.reserve(plan(0.5))
    mark.write_text(before)  # killed after the commit, before the mark was raised
    again = opened(tmp_path)
    assert str(again.remaining) == "epsilon 0.25, delta 0"
    again.close()


def test_another_ledger_under_the_same_key_is_refused(ledger, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(tmp_path / "l.key", other)
    with pytest.raises(LedgerBroken, match="is missing"):  # a key had a ledger
        DurableLedger(other / "l.sqlite", TERMS, key=other / "l.key")
    FloorMark(other / "l.key").write(Floor("7f"))
    DurableLedger(other / "l.sqlite", TERMS, key=other / "l.key").close()
    shutil.copy(other / "l.sqlite", tmp_path / "l.sqlite")
    with pytest.raises(LedgerBroken, match="not the ledger that was used"):
        opened(tmp_path)


def test_a_mark_that_cannot_be_written_refuses_the_question(ledger, tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(FloorMark, "write", refuse)
    with pytest.raises(LedgerUnavailable, match=r"cannot be written \(Permission denied\)"):
        ledger.reserve(plan(0.25))
    assert str(ledger.remaining) == "epsilon 0.5, delta 0"  # the charge stays


ENDLESS = '{"format": 1, "id": "7f", "number": 1e400, "hash": ""}'


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 1}', "\x00", '{"format": 2}', ENDLESS]
)
def test_a_mark_that_cannot_be_read_refuses(ledger, tmp_path, text):
    (tmp_path / "l.key.mark").write_text(text)
    with pytest.raises(LedgerUnavailable, match="mark"):
        ledger.reserve(plan(0.25))


def test_it_is_never_lowered(tmp_path):
    mark = FloorMark(tmp_path / "k")
    mark.write(Floor("id"))
    anchors = [JournalAnchor(n, str(n), "", "") for n in range(40)]
    threads = [
        threading.Thread(target=mark.raise_to, args=("id", anchor))
        for anchor in reversed(anchors)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert mark.read() == Floor("id", 39, "39")
    assert [each.name for each in tmp_path.iterdir()] == ["k.mark", "k.mark.lock"]


def test_a_killed_writer_leaves_the_old_mark(tmp_path, monkeypatch):
    mark = FloorMark(tmp_path / "k")
    mark.write(Floor("id", 1, "a"))
    monkeypatch.setattr(os, "fsync", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        mark.write(Floor("id", 2, "b"))
    assert mark.read() == Floor("id", 1, "a")
