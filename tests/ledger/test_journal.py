import pytest

from deniable.errors import LedgerBroken
from deniable.ledger.journal import (
    EMPTY,
    MemoryJournal,
    entry_hash,
    recall_key,
)
from deniable.ledger.signing_keys import SigningKey


def appended(journal, *bodies):
    return journal.append(lambda view: (bodies, {"n": view.anchor.number + len(bodies)}))


def test_entries_are_numbered_and_chained():
    journal = MemoryJournal(SigningKey.new())
    rows = appended(journal, {"kind": "reserved"}, {"kind": "amended"})
    rows += appended(journal, {"kind": "settled", "of": 0, "place": 0})
    before = ""
    for number, row in enumerate(rows):
        before = entry_hash(before, number, row.body)
        assert (row.number, row.hash) == (number, before)
    found, anchor = journal.read_all()
    assert list(found) == rows
    assert (anchor.number, anchor.hash, anchor.state) == (2, before, '{"n":2}')
    with journal.view() as view:
        assert view.ending("0.0") == rows[2]
        assert view.row(3) is None
        assert view.row(-1) is None
        assert view.answers(recall_key("a", "b")) == ()


def test_deciding_nothing_appends_nothing():
    journal = MemoryJournal(SigningKey.new())
    assert appended(journal) == []
    assert journal.read_all() == ((), EMPTY)


def test_a_decision_that_raises_appends_nothing():
    journal = MemoryJournal(SigningKey.new())
    appended(journal, {"kind": "reserved"})
    with pytest.raises(ZeroDivisionError):
        journal.append(lambda view: 1 / 0)
    assert len(journal.read_all()[0]) == 1


def test_only_signed_anchors_are_believed():
    journal = MemoryJournal(SigningKey.new())
    appended(journal, {"kind": "reserved"})
    anchor = journal.read_all()[1]
    assert journal.check_signed(anchor) is anchor
    assert journal.check_signed(EMPTY) is EMPTY
    other = MemoryJournal(SigningKey.new())
    with pytest.raises(LedgerBroken, match="not signed by its key"):
        other.check_signed(anchor)
